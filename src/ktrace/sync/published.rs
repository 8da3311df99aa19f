// SPDX-License-Identifier: GPL-2.0

//! A reference-counted value that is read under RCU and replaced as a whole.
//!
//! C header: `include/linux/rcupdate.h`.

use core::{
    marker::PhantomData,
    ptr::null_mut, //
};

use kernel::{
    bindings,
    sync::{
        atomic::{
            Relaxed,
            Release, //
        },
        rcu,
        Arc, //
    },
};

use super::{
    atomic::AtomicPtr,
    read_once::ReadOnce, //
};

/// Evidence that preemption is off during `'a`, which makes this an RCU read-side section.
///
/// # Invariants
///
/// Preemption is off on this CPU during `'a`.
#[derive(Clone, Copy)]
pub struct PreemptionOff<'a>(PhantomData<&'a ()>);

impl PreemptionOff<'_> {
    /// Creates the evidence.
    ///
    /// # Safety
    ///
    /// Preemption must be off during the lifetime that the caller chooses.
    #[inline]
    pub(in crate::ktrace) unsafe fn new() -> Self {
        // INVARIANT: Preemption is off, as the caller guarantees.
        Self(PhantomData)
    }
}

/// A pointer to a value that readers use without taking a reference.
///
/// # Invariants
///
/// The pointer is null or came from [`Arc::into_raw`], and this owns that reference.
pub struct Published<T>(AtomicPtr<T>);

// SAFETY: This owns a reference to a value that any thread may use and drop.
unsafe impl<T: Send + Sync> Send for Published<T> {}
// SAFETY: Readers get shared references to a `Sync` value, and the pointer is replaced atomically.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T> Published<T> {
    /// Creates an instance without a value.
    pub const fn none() -> Self {
        // INVARIANT: The pointer is null.
        Self(AtomicPtr::null())
    }

    /// Returns the value, which stays valid until the end of the RCU read-side section.
    pub fn get<'a>(&'a self, _: &'a rcu::Guard) -> Option<&'a T> {
        // SAFETY: By the type invariant, the pointer is null or to a value with at least one
        // reference. The dependency on the pointer orders reads of the value, as with
        // `rcu_dereference()`. `Retired` drops the reference only after a grace period that started
        // after the pointer was replaced, so not before the guard's read-side section ends.
        unsafe { self.0.read_once().as_ref() }
    }

    /// Returns the value, which stays valid as long as preemption is off. For callbacks of traced
    /// functions: an [`rcu::Guard`] calls functions that may be traced. Any context.
    #[inline]
    pub fn get_in_callback<'a>(&'a self, _: PreemptionOff<'a>) -> Option<&'a T> {
        // SAFETY: By the type invariant, the pointer is null or to a value with at least one
        // reference. The dependency on the pointer orders reads of the value, as with
        // `rcu_dereference()`. `Retired` drops the reference only after a grace period that started
        // after the pointer was replaced, and a grace period waits for code with preemption off, as
        // this is during `'a`, by the invariant of the argument.
        unsafe { self.0.read_once().as_ref() }
    }

    /// Replaces the value and returns the old one. Callers must be serialized, for example by a
    /// lock. Does not sleep.
    pub fn replace(&self, value: Option<Arc<T>>) -> Retired<T> {
        let new = value.map_or(null_mut(), |value| Arc::into_raw(value).cast_mut());
        let old = self.0.read_once();
        // INVARIANT: `new` is null or came from `into_raw()` above.
        self.0.store(new, Release);
        // INVARIANT: `self` no longer has this pointer, so its reference moves to the `Retired`.
        Retired(old)
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        let value = self.0.load(Relaxed);
        if !value.is_null() {
            // SAFETY: The pointer is from `into_raw()` by the type invariant, and `&mut self` shows
            // that no reader borrows `self`.
            drop(unsafe { Arc::from_raw(value) });
        }
    }
}

/// A value that was replaced and that readers may still use. Its drop waits for them, so it must be
/// dropped where sleeping is allowed.
///
/// # Invariants
///
/// The pointer is null or came from [`Arc::into_raw`], and no [`Published`] has it any more.
#[must_use]
pub struct Retired<T>(*mut T);

impl<T> Drop for Retired<T> {
    fn drop(&mut self) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: Sleeping is allowed here, as the documentation of the type requires.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: The pointer is from `into_raw()` by the type invariant. Readers that saw the
        // pointer have left their read-side sections.
        drop(unsafe { Arc::from_raw(self.0) });
    }
}
