// SPDX-License-Identifier: GPL-2.0

//! Converts a task's times from the scheduler's clock to the trace clock, for its events.
//!
//! Task accounting and the call graph use the scheduler's clock. If the user has selected another
//! trace clock, each transition is also stamped with that clock, so that the durations in an event
//! and the event's timestamp are of the same clock. If the trace clock is changed during an
//! interval, or does not count ns, the duration by the scheduler's clock is reported.

use crate::{
    ktrace::time::clock::ClockReading,
    relaxed_u64::RelaxedU64, //
};

use super::types::Totals;

/// A kind of time of a task.
#[derive(Clone, Copy)]
pub(crate) enum StateKind {
    Run,
    Wait,
    Block,
}

/// The time of a task's latest transition by the trace clock, and the resulting differences of its
/// totals.
///
/// The context that writes the task's [`StateTracker`](super::transition::StateTracker) writes this
/// afterwards.
#[derive(Default)]
pub(crate) struct ClockAdjusted {
    /// The trace clock of `since_ns`; 0 if the latest transition has no time by a trace clock.
    clock: RelaxedU64,
    since_ns: RelaxedU64,
    /// The reported total minus the total by the scheduler's clock, modulo 2^64, for each kind.
    run_more: RelaxedU64,
    wait_more: RelaxedU64,
    block_more: RelaxedU64,
}

impl ClockAdjusted {
    /// Resets the state for a new task.
    pub(crate) fn open(&self) {
        self.clock.set(0);
        for more in [&self.run_more, &self.wait_more, &self.block_more] {
            more.set(0);
        }
    }

    /// Copies the state of another task.
    pub(crate) fn inherit(&self, from: &Self) {
        self.since_ns.set(from.since_ns.get());
        self.clock.set(from.clock.get());
        self.run_more.set(from.run_more.get());
        self.wait_more.set(from.wait_more.get());
        self.block_more.set(from.block_more.get());
    }

    /// Returns the time since the latest transition in ns; `elapsed_ns` is this time by the
    /// scheduler's clock.
    pub(crate) fn elapsed_ns(&self, now: Option<ClockReading>, elapsed_ns: u64) -> u64 {
        match now {
            Some(now) if self.clock.get() == u64::from(now.clock) => {
                now.ns.saturating_sub(self.since_ns.get())
            }
            _ => elapsed_ns,
        }
    }

    /// Records a transition without reporting the duration of the state that ends.
    #[inline]
    pub(crate) fn transition(&self, now: Option<ClockReading>) {
        match now {
            None if self.clock.get() == 0 => {}
            None => self.clock.set(0),
            Some(now) => self.set(now),
        }
    }

    #[cold]
    fn set(&self, now: ClockReading) {
        let clock = u64::from(now.clock);
        // If the clock of this CPU is behind that of the previous one, the old time is kept, so
        // that sums stay consistent. The accounting does the same with the scheduler's clock.
        let least = match self.clock.get() == clock {
            true => self.since_ns.get(),
            false => 0,
        };
        self.since_ns.set(now.ns.max(least));
        self.clock.set(clock);
    }

    /// Records a transition that ends an interval of `elapsed_ns` by the scheduler's clock. Returns
    /// the duration to report.
    #[inline]
    pub(crate) fn end(&self, kind: StateKind, now: Option<ClockReading>, elapsed_ns: u64) -> u64 {
        let reported_ns = self.elapsed_ns(now, elapsed_ns);
        self.transition(now);
        if reported_ns != elapsed_ns {
            let more = match kind {
                StateKind::Run => &self.run_more,
                StateKind::Wait => &self.wait_more,
                StateKind::Block => &self.block_more,
            };
            more.add_alone(reported_ns.wrapping_sub(elapsed_ns));
        }
        reported_ns
    }

    /// Returns the reported totals that correspond to `totals` by the scheduler's clock.
    pub(crate) fn totals(&self, totals: &Totals) -> Totals {
        Totals {
            run_ns: totals.run_ns.wrapping_add(self.run_more.get()),
            wait_ns: totals.wait_ns.wrapping_add(self.wait_more.get()),
            block_ns: totals.block_ns.wrapping_add(self.block_more.get()),
        }
    }
}
