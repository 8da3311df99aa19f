// SPDX-License-Identifier: MIT OR Apache-2.0

//! The data of the live view, derived from events. Nothing here reads files or draws.
//!
//! Time is divided into intervals. The times of a thread are those of the last interval that has
//! ended; a state that lasts longer counts in each interval with the part that belongs to it. The
//! places where threads were blocked are added up since the beginning, each time in full length.

mod places;
pub mod profile;
mod scope;
mod thread;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::{
    model::{
        Detail,
        Interval,
        Split,
        State,
        Task,
        TaskId,
        Visitor, //
    },
    recording::TaskName,
};

pub use places::Places;
pub use scope::{
    Part,
    Scope,
    Trigger, //
};
pub use thread::{
    Thread,
    Times, //
};

/// How many intervals of the past are kept.
pub const COLUMNS: usize = 60;

/// The data of the live view. All times are in ns of the trace clock.
#[derive(Clone, Default)]
pub struct Data {
    threads: FxHashMap<TaskId, Thread>,
    /// The times of all threads in the latest intervals, the oldest first.
    pub columns: VecDeque<Split>,
    /// Where threads were blocked, since the beginning.
    pub places: Places,
    /// The states of one thread.
    pub scope: Scope,
    /// The beginning of the view, or the time at which the sums were cleared.
    pub start: u64,
    /// The time up to which all events are known.
    pub now: u64,
    /// The beginning of the interval that has not ended.
    interval_start: u64,
    /// The duration of the interval that ended last.
    pub interval_ns: u64,
    /// The thread whose state was set last, and the beginning of the state.
    begun: Option<(TaskId, u64)>,
}

impl Data {
    /// Begins the view at `time`.
    pub fn begin(&mut self, time: u64) {
        (self.start, self.now, self.interval_start) = (time, time, time);
    }

    /// Adds a thread that is in a state since the beginning, and may have no event for long.
    pub fn add(&mut self, name: TaskName, state: State) {
        let id = TaskId::new(name.pid, 0);
        let thread = Thread::new(name, self.now);
        let thread = self.threads.entry(id).or_insert(thread);
        thread.begin(state, self.now);
    }

    /// All events up to `time` are known.
    pub fn advance(&mut self, time: u64) {
        self.now = self.now.max(time);
        if self
            .scope
            .thread
            .is_none_or(|id| !self.threads.contains_key(&id))
        {
            self.scope.thread = self.rows().first().map(|(id, _)| *id);
        }
        if let Some(thread) = self.scope.thread.and_then(|id| self.threads.get(&id)) {
            self.scope.advance(self.now, thread);
        }
    }

    /// Ends the interval now.
    pub fn end_interval(&mut self) {
        self.interval_ns = self.now - self.interval_start;
        self.interval_start = self.now;
        let now = self.now;
        let mut all = Split::default();
        self.threads.retain(|_, thread| {
            let is_over = !thread.end_interval(now);
            all += thread.last.split;
            !is_over
        });
        push(&mut self.columns, all, COLUMNS);
        self.advance(now);
    }

    /// Clears the sums since the beginning.
    pub fn clear(&mut self) {
        self.places = Places::default();
        self.start = self.now;
    }

    /// Returns all threads: those first that used or needed a CPU most in the last interval.
    pub fn rows(&self) -> Vec<(TaskId, &Thread)> {
        let mut rows: Vec<_> = self
            .threads
            .iter()
            .map(|(id, thread)| (*id, thread))
            .collect();
        rows.sort_unstable_by_key(|(id, thread)| {
            let Split { run, wait, .. } = thread.last.split;
            (std::cmp::Reverse(run + wait), *id)
        });
        rows
    }

    /// Returns a thread.
    pub fn thread(&self, id: TaskId) -> Option<&Thread> {
        self.threads.get(&id)
    }

    /// Returns the times of all threads in the last interval.
    pub fn all(&self) -> Times {
        let mut all = Times::default();
        for thread in self.threads.values() {
            all.split += thread.last.split;
            all.switches += thread.last.switches;
        }
        all
    }

    /// Observes another thread with the scope.
    pub fn choose(&mut self, id: TaskId) {
        if self.scope.thread != Some(id) {
            self.scope.choose(id);
        }
    }

    fn thread_mut(&mut self, task: &Task) -> &mut Thread {
        let since = self.interval_start;
        let thread = self.threads.entry(task.id());
        let thread = thread.or_insert_with(|| Thread::new(task.name(), since));
        thread.name = task.name();
        thread
    }
}

impl Visitor for Data {
    fn state_begin(&mut self, task: &Task, at: u64, state: State) {
        // It is known since the end of the state before.
        if self.begun != Some((task.id(), at)) {
            self.thread_mut(task).begin(state, at);
        }
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        if let Detail::Blocked(blocked) = &interval.detail {
            self.places.add(blocked, interval.ns());
        }
        let is_observed = self.scope.thread == Some(task.id());
        let thread = self.thread_mut(task);
        thread.end(interval, is_observed);
        if let Some(state) = task.state() {
            thread.begin(state, interval.end);
        }
        self.begun = Some((task.id(), interval.end));
        if is_observed {
            self.scope.end(interval);
        }
    }
}

/// Appends an element. If there are more than `limit`, the oldest one is removed.
fn push<T>(queue: &mut VecDeque<T>, element: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(element);
}
