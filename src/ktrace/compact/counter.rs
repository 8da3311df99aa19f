// SPDX-License-Identifier: GPL-2.0

//! The clock of packs, and the one barrier that they need.
//!
//! The kernel's helpers for the latter are functions in C, unless it was built with
//! `CONFIG_RUST_INLINE_HELPERS`: too much where a traced function waits.

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

/// The counter that times are of, and how many ns a count is, times 2^22.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) mult: u32,
    pub(super) is_counter: bool,
}

impl Clock {
    pub(super) fn new() -> Self {
        // SAFETY: Looks at what the kernel found out at boot.
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

    /// How many ns that is; of a long time, some hours at least.
    #[inline]
    pub(super) fn ns(self, counts: u64) -> u64 {
        counts.saturating_mul(u64::from(self.mult)) >> MULT_SHIFT
    }

    /// What it said when the clock of that trace array said `ns`, which is not long ago: hardly less, and more by no more than reading
    /// both takes. The interrupt that comes between the two readings makes it more: so it is tried again, and the
    /// shortest one counts. Any context, with preemption off.
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
                // More than an hour is not said.
                let since = clock.saturating_sub(ns).min(1 << 41) << MULT_SHIFT;
                at = after.wrapping_sub(since.checked_div(u64::from(self.mult)).unwrap_or(0));
            }
        }
        at
    }
}

/// The counter, inlined: one that every CPU has, and that costs little to read.
#[inline(always)]
pub(in crate::ktrace) fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: Every CPU that the kernel runs on has this instruction.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Reads a register that may be read at every level.
    unsafe {
        let count: u64;
        asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags));
        count
    }
}

/// `smp_mb()`.
#[inline(always)]
pub(super) fn full_barrier() {
    // SAFETY: A barrier, made as the kernel makes it: on x86, by adding nothing to what lies below
    // the stack, where nobody keeps anything.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("lock add dword ptr [rsp - 4], 0");
        #[cfg(target_arch = "aarch64")]
        asm!("dmb ish", options(nostack));
    }
}
