// SPDX-License-Identifier: GPL-2.0

//! Reading and writing single words, in one instruction.
//!
//! What `READ_ONCE()` and `WRITE_ONCE()` are in C (`include/asm-generic/rwonce.h`). The kernel's own
//! [`Atomic`] does the same, but unless the kernel was built with `CONFIG_RUST_INLINE_HELPERS` by way
//! of a call to a helper in C, ten instructions for one: too much where a traced function waits.
//!
//! Nothing is ordered by these but what depends on the value: who reads a pointer and follows it
//! sees what was written before the pointer was published, as with `rcu_dereference()`.

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
