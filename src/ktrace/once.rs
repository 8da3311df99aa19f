// SPDX-License-Identifier: GPL-2.0

//! Reading and writing single words, in one instruction; and adding to those that one CPU adds to alone.
//!
//! What `READ_ONCE()` and `WRITE_ONCE()` are in C (`include/asm-generic/rwonce.h`). The kernel's own
//! [`Atomic`] does the same, but unless the kernel was built with `CONFIG_RUST_INLINE_HELPERS` by way
//! of a call to a helper in C, ten instructions for one: too much where a traced function waits.
//!
//! Nothing is ordered by these but what depends on the value: who reads a pointer and follows it
//! sees what was written before the pointer was published, as with `rcu_dereference()`.

use core::arch::asm;

use kernel::sync::atomic::{
    Atomic,
    AtomicType, //
};

/// A word that is read and written as a whole.
pub trait Once {
    /// What it holds.
    type Value;

    /// Its value. Any context.
    fn read_once(&self) -> Self::Value;

    /// Sets it. Any context.
    fn write_once(&self, value: Self::Value);
}

impl<T: AtomicType> Once for Atomic<T> {
    type Value = T;

    #[inline(always)]
    fn read_once(&self) -> T {
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference. What lies there was put
        // there as a `T`, and as a whole: an atomic is no larger than a machine word, so that a
        // volatile access to it is one instruction, here as with whoever writes.
        unsafe { self.as_ptr().read_volatile() }
    }

    #[inline(always)]
    fn write_once(&self, value: T) {
        // SAFETY: As above; what is in an atomic may be written through a shared reference.
        unsafe { self.as_ptr().write_volatile(value) }
    }
}

/// A word that one CPU at a time adds to, in any context: an interrupt may come in between, NMIs too. Others
/// read it. What another CPU sets or adds meanwhile may be lost, or come back.
pub trait AddHere {
    /// What it holds.
    type Value;

    /// Adds to it; modulo its size. Preemption must be off for nobody else to add. Any context.
    fn add_here(&self, value: Self::Value);
}

impl AddHere for Atomic<u64> {
    type Value = u64;

    #[inline(always)]
    fn add_here(&self, value: u64) {
        // An interrupt comes before the one instruction or after it; on arm64 it makes the store
        // fail, which is then tried again.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `as_ptr()` is valid and aligned as long as the reference, and what is in an
        // atomic may be written through a shared one.
        unsafe {
            asm!(
                "add qword ptr [{place}], {value}",
                place = in(reg) self.as_ptr(),
                value = in(reg) value,
                options(nostack),
            )
        };
        #[cfg(target_arch = "aarch64")]
        // SAFETY: As above.
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
