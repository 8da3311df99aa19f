// SPDX-License-Identifier: MIT OR Apache-2.0

//! The times of a thread.

use std::collections::VecDeque;

use super::{
    push,
    COLUMNS, //
};
use crate::{
    model::{
        Detail,
        Interval,
        Split,
        State, //
    },
    recording::{
        Blocked,
        TaskName, //
    },
};

/// How many states are kept of a thread that the scope observes, and of another one.
const LOG: (usize, usize) = (10_000, 64);

/// The times of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// The part of the interval in each state.
    pub split: Split,
    /// How often threads left their CPU.
    pub switches: u64,
    /// The longest time without a CPU that ended in the interval.
    pub longest_wait: u64,
    /// The longest time blocked that ended in the interval.
    longest_block: u64,
}

impl Times {
    fn add(&mut self, state: State, ns: u64) {
        match state {
            State::Run { .. } => self.split.run += ns,
            State::Wait { .. } => self.split.wait += ns,
            State::Block { .. } => self.split.block += ns,
            State::Dead | State::Unknown => {}
        }
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its id and its latest name.
    pub name: TaskName,
    /// Its times in the last interval.
    pub last: Times,
    /// Its times in the latest intervals, the oldest first.
    pub columns: VecDeque<Split>,
    /// The longest time blocked of the last interval in which one ended.
    pub blocked: Option<Blocked>,
    /// Its latest states that have ended.
    pub log: VecDeque<Interval>,
    /// Its current state, and since when.
    pub open: Option<(State, u64)>,
    /// The times of the interval that has not ended.
    current: Times,
    /// The time up to which its states have been added up.
    added: u64,
    is_over: bool,
}

impl Thread {
    /// Creates a thread whose states before `since` do not count.
    pub fn new(name: TaskName, since: u64) -> Self {
        Self {
            name,
            last: Times::default(),
            columns: VecDeque::new(),
            blocked: None,
            log: VecDeque::new(),
            open: None,
            current: Times::default(),
            added: since,
            is_over: false,
        }
    }

    /// A state begins.
    pub fn begin(&mut self, state: State, at: u64) {
        self.open = Some((state, at));
        self.is_over = false;
    }

    /// A state has ended.
    pub fn end(&mut self, interval: &Interval, is_observed: bool) {
        self.add(interval.state, interval.start, interval.end);
        let ns = interval.ns();
        match (&interval.state, &interval.detail) {
            (State::Run { .. }, Detail::Left(_)) => self.current.switches += 1,
            (State::Wait { .. }, _) => {
                self.current.longest_wait = self.current.longest_wait.max(ns);
            }
            (_, Detail::Blocked(blocked)) if ns > self.current.longest_block => {
                self.current.longest_block = ns;
                self.blocked = Some(*blocked);
            }
            _ => {}
        }
        let limit = if is_observed { LOG.0 } else { LOG.1 };
        push(&mut self.log, *interval, limit);
        self.open = None;
    }

    /// Ends the interval. Returns false if the thread had ended before the interval began.
    pub fn end_interval(&mut self, now: u64) -> bool {
        if self.is_over {
            return false;
        }
        if let Some((state, since)) = self.open {
            self.add(state, since, now);
            self.is_over = state == State::Dead;
        }
        self.last = std::mem::take(&mut self.current);
        push(&mut self.columns, self.last.split, COLUMNS);
        true
    }

    /// Adds the part of a state that was not added before.
    fn add(&mut self, state: State, start: u64, end: u64) {
        let start = start.max(self.added);
        if end > start {
            self.current.add(state, end - start);
            self.added = end;
        }
    }
}
