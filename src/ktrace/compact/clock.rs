// SPDX-License-Identifier: GPL-2.0

//! The clock of packs.

use super::encoding::MULT_SHIFT;
use crate::ktrace::time::counter::ktrace_counter_mult;
use crate::ktrace::{
    array::trace_array::TraceArray,
    time::{
        clock,
        counter, //
    },
};

/// The clock of a pack: the CPU's counter, or the clock of the call graph if the counter is not
/// usable. `mult` is the length of a tick in ns, times 2^22.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) mult: u32,
    pub(super) is_counter: bool,
}

impl Clock {
    pub(super) fn new() -> Self {
        // SAFETY: `ktrace_counter_mult()` has no preconditions; it reads what the kernel determined
        // at boot.
        match unsafe { ktrace_counter_mult() } {
            0 => Self {
                mult: 1 << MULT_SHIFT,
                is_counter: false,
            },
            mult => Self {
                mult,
                is_counter: true,
            },
        }
    }

    #[inline]
    pub(super) fn now(self) -> u64 {
        match self.is_counter {
            true => counter::read(),
            false => clock::local_ns(),
        }
    }

    /// Converts ticks to ns. Saturates at 2^42 ns (73 minutes).
    #[inline]
    pub(super) fn ns(self, counts: u64) -> u64 {
        counts.saturating_mul(u64::from(self.mult)) >> MULT_SHIFT
    }

    /// Returns the counter value at trace-clock time `ns` of `tr`, which must be recent.
    ///
    /// The error is at most the time needed to read both clocks. Takes the best of three attempts,
    /// because an interrupt between the readings increases the error. Any context, with preemption
    /// off.
    #[cold]
    #[inline(never)]
    pub(super) fn at(self, tr: &TraceArray, ns: u64) -> u64 {
        let mut shortest = u64::MAX;
        let mut at = 0;
        for _ in 0..3 {
            let before = self.now();
            let clock = clock::read_of(tr);
            let after = self.now();
            let took = after.wrapping_sub(before);
            if took < shortest {
                shortest = took;
                // Limit to 2^41 ns (37 minutes), so that the shift does not overflow.
                let since = clock.saturating_sub(ns).min(1 << 41) << MULT_SHIFT;
                at = after.wrapping_sub(since.checked_div(u64::from(self.mult)).unwrap_or(0));
            }
        }
        at
    }
}
