// SPDX-License-Identifier: GPL-2.0

//! The CPU's counter, and a full memory barrier: single instructions.
//!
//! Unless the kernel is built with `CONFIG_RUST_INLINE_HELPERS`, its Rust helper for the barrier is
//! a call of a C function, which is too slow for the fast path.

use core::arch::asm;

extern "C" {
    /// Returns the ns of a tick as a fixed-point number, or 0 if the kernel found the counter
    /// unusable. Any context; no other requirements.
    pub(in crate::ktrace) fn ktrace_counter_mult() -> u32;
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
pub(in crate::ktrace) fn full_barrier() {
    // SAFETY: The same instruction as in the kernel's `smp_mb()`. On x86 it adds 0 to the word
    // below the stack pointer, where no data is stored.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("lock add dword ptr [rsp - 4], 0");
        #[cfg(target_arch = "aarch64")]
        asm!("dmb ish", options(nostack));
    }
}
