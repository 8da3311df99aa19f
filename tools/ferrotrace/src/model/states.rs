// SPDX-License-Identifier: MIT OR Apache-2.0

//! The states of a task: a sequence of intervals without gaps.

use crate::recording::{
    Blocked,
    Since,
    TaskName, //
};

use super::split::Split;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs on a CPU.
    Run { cpu: usize },
    /// It is runnable, but has no CPU.
    Wait { since: Since },
    /// It is not runnable; the state is a bit mask of the kernel.
    Block { state: u32 },
    /// It has ended.
    Dead,
    /// Its events were lost or not recorded.
    Unknown,
}

impl State {
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The part of an interval that is known at its end only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing: the interval did not end before the recording, or its events were lost.
    None,
    /// How the task was blocked.
    Blocked(Blocked),
    /// The task that had the CPU before, and its priority.
    Behind(TaskName, i32),
    /// The state in which the task left its CPU.
    Left(u32),
}

/// A state that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The state.
    pub state: State,
    /// Its beginning in ns.
    pub start: u64,
    /// Its end in ns, which is the beginning of the next one.
    pub end: u64,
    /// More about it.
    pub detail: Detail,
}

impl Interval {
    /// Returns the duration in ns.
    pub fn ns(&self) -> u64 {
        self.end - self.start
    }
}

/// The sequence of a task's states.
#[derive(Clone, Copy, Debug)]
pub(super) struct States {
    /// The current state and its beginning, if any event of the task was seen.
    open: Option<(State, u64)>,
    /// The earliest time at which a state can begin.
    first: u64,
    /// Whether events of the task may be missing since the latest one.
    doubtful: bool,
    /// The times of all intervals so far.
    pub(super) sum: Split,
}

/// The difference between the time of an event and the end of its interval up to which both are
/// taken for the same.
pub(super) const TOLERANCE_NS: u64 = 10_000_000;

/// How long after the end of its interval an event can be written, if none is missing: a virtual
/// CPU can be stopped in between.
const LATE_NS: u64 = 1_000_000_000;

impl States {
    pub(super) fn new(first: u64) -> Self {
        Self {
            open: None,
            first,
            doubtful: false,
            sum: Split::default(),
        }
    }

    /// Returns whether any state of the task is known.
    pub(super) fn are_known(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn is_dead(&self) -> bool {
        matches!(self.open, Some((State::Dead, _)))
    }

    /// Returns the current state.
    pub(super) fn current(&self) -> Option<State> {
        self.open.map(|(state, _)| state)
    }

    /// Events may be missing after the latest one.
    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Returns whether the interval that ends at `joined` is that of an event at `time`.
    fn agree(&self, joined: u64, time: u64) -> bool {
        joined.abs_diff(time) <= TOLERANCE_NS
            || (!self.doubtful && joined <= time && time - joined <= LATE_NS)
    }

    /// Nothing is known from `time` on, or from the beginning of the current state if it is later.
    pub(super) fn lose(&mut self, time: u64, mut emit: impl FnMut(Interval)) -> Option<u64> {
        let (state, since) = self.open?;
        if matches!(state, State::Dead | State::Unknown) {
            return None;
        }
        let at = time.max(since);
        self.close(state, since, at, Detail::None, &mut emit);
        self.open = Some((State::Unknown, at));
        Some(at)
    }

    /// The state `was` ended: an event at `time` says that it lasted `ns`. The next state is
    /// `next`. Passes the intervals that ended to `emit`, and returns the end.
    ///
    /// The durations are exact, while an event is written some time after the end of its interval.
    /// Intervals are therefore joined by their durations, as long as this agrees with the times of
    /// the events.
    pub(super) fn advance(
        &mut self,
        was: State,
        ns: u64,
        time: u64,
        detail: Detail,
        next: State,
        mut emit: impl FnMut(Interval),
    ) -> u64 {
        self.forget_dead();
        let begin = time.saturating_sub(ns);
        let (start, end) = match self.open {
            None => (begin.max(self.first), time.max(self.first)),
            Some((state, since)) => {
                let joined = since.saturating_add(ns);
                if state.is_like(&was) && self.agree(joined, time) {
                    (since, joined)
                } else {
                    let begin = begin.max(since);
                    self.close(State::Unknown, since, begin, Detail::None, &mut emit);
                    (begin, time.max(begin))
                }
            }
        };
        let was = match (was, self.open) {
            // The state knows more than the event.
            (State::Wait { .. } | State::Run { .. }, _) => was,
            (was, Some((state, _))) if state.is_like(&was) => state,
            (was, _) => was,
        };
        self.close(was, start, end, detail, &mut emit);
        self.open = Some((next, end));
        self.doubtful = false;
        end
    }

    /// The task changed to the state `next` at `time`, by an event that knows no duration.
    pub(super) fn change(&mut self, time: u64, next: State, mut emit: impl FnMut(Interval)) -> u64 {
        self.forget_dead();
        let mut at = time.max(self.first);
        if let Some((state, since)) = self.open {
            at = time.max(since);
            self.close(state, since, at, Detail::None, &mut emit);
        }
        self.open = Some((next, at));
        self.doubtful = false;
        at
    }

    /// Ends the current state at `time`.
    pub(super) fn finish(&mut self, time: u64, mut emit: impl FnMut(Interval)) {
        if let Some((state, since)) = self.open.take() {
            if state != State::Dead {
                self.close(state, since, time.max(since), Detail::None, &mut emit);
            }
        }
    }

    /// If the task has ended, another one has its id now.
    fn forget_dead(&mut self) {
        if let Some((State::Dead, since)) = self.open {
            self.open = None;
            self.first = self.first.max(since);
        }
    }

    fn close(
        &mut self,
        state: State,
        start: u64,
        end: u64,
        detail: Detail,
        emit: &mut impl FnMut(Interval),
    ) {
        if start >= end {
            return;
        }
        match state {
            State::Run { .. } => self.sum.run += end - start,
            State::Wait { .. } => self.sum.wait += end - start,
            State::Block { .. } => self.sum.block += end - start,
            State::Dead | State::Unknown => {}
        }
        emit(Interval {
            state,
            start,
            end,
            detail,
        });
    }
}
