// SPDX-License-Identifier: GPL-2.0

//! A task's times as its events tell them: by the trace clock in use.
//!
//! Accounts are kept by the scheduler's clock, as is the call graph. While the user has chosen another
//! trace clock, each stamp is taken by that one as well, so that what an event tells and the times
//! in front of the events are of one clock. A time that began by one clock and ended by another is told
//! by the scheduler's, which ran all along; so is every time if the trace clock counts something else.

use crate::{
    ktrace::clock::Reading,
    word::Word, //
};

use super::accounts::Totals;

/// What part of a task's time it is.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Run,
    Wait,
    Block,
}

/// The latest stamp of a task by the trace clock, and what that has made of its totals. Written by those
/// who turn the task's [`Current`](super::stamp::Current), after that.
#[derive(Default)]
pub(super) struct Told {
    /// The clock, 0 if the stamp is by none.
    clock: Word,
    since_ns: Word,
    /// By how much what was told is more than what the scheduler's clock has, modulo 2^64.
    run_more: Word,
    wait_more: Word,
    block_more: Word,
}

impl Told {
    /// For a task that was not seen before.
    pub(super) fn open(&self) {
        self.clock.set(0);
        for more in [&self.run_more, &self.wait_more, &self.block_more] {
            more.set(0);
        }
    }

    /// Takes over what another task's says.
    pub(super) fn inherit(&self, from: &Self) {
        self.since_ns.set(from.since_ns.get());
        self.clock.set(from.clock.get());
        self.run_more.set(from.run_more.get());
        self.wait_more.set(from.wait_more.get());
        self.block_more.set(from.block_more.get());
    }

    /// How long it is since the latest stamp, which by the scheduler's clock is `elapsed_ns`.
    pub(super) fn elapsed_ns(&self, now: Option<Reading>, elapsed_ns: u64) -> u64 {
        match now {
            Some(now) if self.clock.get() == u64::from(now.clock) => {
                now.ns.saturating_sub(self.since_ns.get())
            }
            _ => elapsed_ns,
        }
    }

    /// The task does something else from now on. Nothing is told of what it did so far.
    #[inline]
    pub(super) fn turn(&self, now: Option<Reading>) {
        match now {
            None if self.clock.get() == 0 => {}
            None => self.clock.set(0),
            Some(now) => self.stamp(now),
        }
    }

    #[cold]
    fn stamp(&self, now: Reading) {
        let clock = u64::from(now.clock);
        // As with the scheduler's clock: where that of this CPU is behind, what is added up stays whole.
        let least = match self.clock.get() == clock {
            true => self.since_ns.get(),
            false => 0,
        };
        self.since_ns.set(now.ns.max(least));
        self.clock.set(clock);
    }

    /// The same of a part that took `elapsed_ns` by the scheduler's clock. Returns what to tell.
    #[inline]
    pub(super) fn end(&self, part: Part, now: Option<Reading>, elapsed_ns: u64) -> u64 {
        let told_ns = self.elapsed_ns(now, elapsed_ns);
        self.turn(now);
        if told_ns != elapsed_ns {
            let more = match part {
                Part::Run => &self.run_more,
                Part::Wait => &self.wait_more,
                Part::Block => &self.block_more,
            };
            more.add_alone(told_ns.wrapping_sub(elapsed_ns));
        }
        told_ns
    }

    /// The sums of what was told, where the scheduler's clock has these.
    pub(super) fn totals(&self, totals: &Totals) -> Totals {
        Totals {
            run_ns: totals.run_ns.wrapping_add(self.run_more.get()),
            wait_ns: totals.wait_ns.wrapping_add(self.wait_more.get()),
            block_ns: totals.block_ns.wrapping_add(self.block_more.get()),
        }
    }
}
