// SPDX-License-Identifier: GPL-2.0

//! The state of a module, protected by a mutex.
//!
//! The kernel's tracing callbacks get no pointer to the data of the module that registered them, so
//! this data must be reachable from a static. A module can have one such static, because there is
//! only one mutex. It is defined in `helpers.c`, where it can be initialised at compile time.

use core::cell::UnsafeCell;

use kernel::types::NotThreadSafe;

extern "C" {
    fn ktrace_lock();
    fn ktrace_unlock();
}

/// A value that exists while the module is loaded.
pub struct ModuleGlobal<T>(UnsafeCell<Option<T>>);

// SAFETY: The value is accessed only with the mutex held, so by one task at a time.
unsafe impl<T: Send> Sync for ModuleGlobal<T> {}

impl<T> ModuleGlobal<T> {
    /// Creates an empty global. A module may have only one static of this type.
    #[expect(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// Takes the mutex. May sleep. Lock order: `trace_types_lock` is taken before this mutex, never
    /// while it is held.
    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: Called in task context. This task does not hold the mutex: guards do not nest.
        unsafe { ktrace_lock() };
        // INVARIANT: The mutex was taken above.
        Guard(self, NotThreadSafe)
    }
}

/// A guard that holds the mutex.
///
/// # Invariants
///
/// This task holds the mutex until drop.
pub struct Guard<'a, T>(&'a ModuleGlobal<T>, NotThreadSafe);

impl<T> core::ops::Deref for Guard<'_, T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        // SAFETY: By the type invariant, this task holds the mutex, which protects the value.
        unsafe { &*self.0 .0.get() }
    }
}

impl<T> core::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        // SAFETY: By the type invariant, this task holds the mutex, and this is the only guard.
        unsafe { &mut *self.0 .0.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, this task holds the mutex.
        unsafe { ktrace_unlock() }
    }
}
