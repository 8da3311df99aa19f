// SPDX-License-Identifier: GPL-2.0

//! The clock of packs, and the one memory barrier that packs need.
//!
//! Unless the kernel is built with `CONFIG_RUST_INLINE_HELPERS`, its Rust helper for the barrier is
//! a call of a C function, which is too slow for the fast path.

use core::arch::asm;

use super::word::MULT_SHIFT;
use crate::ktrace::{
    clock,
    fgraph::clock_ns,
    trace_array::TraceArray, //
};

extern "C" {
    fn ktrace_counter_mult() -> u32;
}

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
            true => read(),
            false => clock_ns(),
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

/// Reads the counter of this CPU, inlined. Each CPU has it, and it is cheap to read.
#[inline(always)]
pub(in crate::ktrace) fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: Each CPU on which the kernel runs has this instruction.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Reads a register that is readable at each exception level.
    unsafe {
        let count: u64;
        asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags));
        count
    }
}

/// Executes a full memory barrier (`smp_mb()`).
#[inline(always)]
pub(super) fn full_barrier() {
    // SAFETY: The same instruction as in the kernel's `smp_mb()`. On x86 it adds 0 to the word
    // below the stack pointer, where no data is stored.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("lock add dword ptr [rsp - 4], 0");
        #[cfg(target_arch = "aarch64")]
        asm!("dmb ish", options(nostack));
    }
}
