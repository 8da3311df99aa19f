// SPDX-License-Identifier: GPL-2.0

//! How often and when a rule has fired, and how late its actions were.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::{
    ktrace::time::delay::timer_ns,
    relaxed_u64::RelaxedU64, //
};

/// The history of a rule since it was written. Copies of the rule share it.
pub(super) struct Firings {
    /// When it was written, in ns of the clock of timers.
    pub(super) written_ns: u64,
    pub(super) count: Atomic<u64>,
    /// When it fired last, in ns of the trace clock `local`.
    pub(super) last_ns: RelaxedU64,
    /// How late its actions have taken effect at most, in ns.
    pub(super) late_ns: RelaxedU64,
}

impl Firings {
    /// Creates the history of a rule that is written now.
    pub(super) fn new() -> Self {
        Self {
            written_ns: timer_ns(),
            count: Atomic::new(0),
            last_ns: RelaxedU64::new(0),
            late_ns: RelaxedU64::new(0),
        }
    }

    /// Records that an action took effect `ns` after it was due. Any context.
    pub(super) fn note_late(&self, ns: u64) {
        loop {
            let most = self.late_ns.get();
            let atomic = self.late_ns.as_atomic();
            if ns <= most || atomic.cmpxchg(most, ns, Relaxed).is_ok() {
                return;
            }
        }
    }
}
