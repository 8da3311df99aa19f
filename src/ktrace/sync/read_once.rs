// SPDX-License-Identifier: GPL-2.0

//! Single-instruction reads and writes of words, and additions to words that only one CPU adds to.
//!
//! This is the equivalent of `READ_ONCE()` and `WRITE_ONCE()` in C
//! (`include/asm-generic/rwonce.h`). The kernel's own [`Atomic`] does the same, but calls a C
//! helper unless the kernel was built with `CONFIG_RUST_INLINE_HELPERS`: ten instructions instead
//! of one, too many for each call of a traced function.
//!
//! These accesses order nothing except what depends on the value: code that reads a pointer and
//! dereferences it sees what was written before the pointer was published, as with
//! `rcu_dereference()`.

use core::arch::asm;

use kernel::sync::atomic::{
    Atomic,
    AtomicType, //
};

/// A word that is read and written as a whole.
pub trait ReadOnce {
    /// The type of the value.
    type Value;

    /// Returns the value. Any context.
    fn read_once(&self) -> Self::Value;

    /// Stores a new value. Any context.
    fn write_once(&self, value: Self::Value);
}

impl<T: AtomicType> ReadOnce for Atomic<T> {
    type Value = T;

    #[inline(always)]
    fn read_once(&self) -> T {
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference is, and the memory
        // always holds a valid `T`. An atomic is no larger than a machine word, so a volatile
        // access to it is one instruction and all writers store it as a whole.
        unsafe { self.as_ptr().read_volatile() }
    }

    #[inline(always)]
    fn write_once(&self, value: T) {
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference is, and the content of
        // an atomic may be written through a shared reference.
        unsafe { self.as_ptr().write_volatile(value) }
    }
}

/// A word that only one CPU at a time adds to, in any context: interrupts and NMIs on that CPU may
/// add in between. Other CPUs may read it at any time; if another CPU also writes to it or adds to
/// it, one of the two updates may be lost, or a value that was overwritten may reappear.
pub trait AddHere {
    /// The type of the value.
    type Value;

    /// Adds `value`, with wraparound. The caller must disable preemption if another CPU could add
    /// at the same time. Any context.
    fn add_here(&self, value: Self::Value);
}

impl AddHere for Atomic<u64> {
    type Value = u64;

    #[inline(always)]
    fn add_here(&self, value: u64) {
        // An interrupt is handled before or after this one instruction. On arm64 an interrupt makes
        // the store fail, and the addition is tried again.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference is, and the content of
        // an atomic may be written through a shared reference.
        unsafe {
            asm!(
                "add qword ptr [{place}], {value}",
                place = in(reg) self.as_ptr(),
                value = in(reg) value,
                options(nostack),
            )
        };
        #[cfg(target_arch = "aarch64")]
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference is, and the content of
        // an atomic may be written through a shared reference.
        unsafe {
            asm!(
                "2:",
                "ldxr {sum}, [{place}]",
                "add {sum}, {sum}, {value}",
                "stxr {failed:w}, {sum}, [{place}]",
                "cbnz {failed:w}, 2b",
                place = in(reg) self.as_ptr(),
                value = in(reg) value,
                sum = out(reg) _,
                failed = out(reg) _,
                options(nostack, preserves_flags),
            )
        };
    }
}
