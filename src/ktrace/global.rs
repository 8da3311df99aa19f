// SPDX-License-Identifier: GPL-2.0

//! The state of a module, behind a mutex.
//!
//! Callbacks of the kernel's tracing have no pointer to whoever registered them, so what they work
//! on must be found in a static. This is that static: one for each module, since there is one
//! mutex, in `shim.c`, where it can be initialised at compile time.

use core::cell::UnsafeCell;

use kernel::types::NotThreadSafe;

extern "C" {
    fn ktrace_lock();
    fn ktrace_unlock();
}

/// A value that is there while the module is loaded.
pub struct Global<T>(UnsafeCell<Option<T>>);

// SAFETY: The value is reached through the mutex alone, by one task at a time.
unsafe impl<T: Send> Sync for Global<T> {}

impl<T> Global<T> {
    /// Nothing yet. A module may have one static of this type.
    #[expect(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// Takes the mutex. May sleep. `trace_types_lock` may be held, and must not be taken while this
    /// is.
    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: Task context, and not held by this task: guards do not nest.
        unsafe { ktrace_lock() };
        // INVARIANT: Just taken.
        Guard(self, NotThreadSafe)
    }
}

/// The mutex, taken.
///
/// # Invariants
///
/// It is held by this task until drop.
pub struct Guard<'a, T>(&'a Global<T>, NotThreadSafe);

impl<T> core::ops::Deref for Guard<'_, T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        // SAFETY: The mutex is held, by the invariant.
        unsafe { &*self.0 .0.get() }
    }
}

impl<T> core::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        // SAFETY: As above, and this is the one guard.
        unsafe { &mut *self.0 .0.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: Held, by the invariant.
        unsafe { ktrace_unlock() }
    }
}
