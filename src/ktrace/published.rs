// SPDX-License-Identifier: GPL-2.0

//! A reference-counted value that is read under RCU and replaced as a whole.
//!
//! C header: `include/linux/rcupdate.h`.

use core::ptr::null_mut;

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
    once::Once, //
};

/// A place for a value that readers use without taking a reference.
///
/// # Invariants
///
/// The pointer is null or came from [`Arc::into_raw`], and the place owns that reference.
pub struct Published<T>(AtomicPtr<T>);

// SAFETY: The place owns a reference to a value that may be shared with and dropped by any thread.
unsafe impl<T: Send + Sync> Send for Published<T> {}
// SAFETY: Readers get shared references to a `Sync` value, and the pointer is replaced atomically.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T> Published<T> {
    /// Creates an empty place.
    pub const fn none() -> Self {
        // INVARIANT: Null.
        Self(AtomicPtr::null())
    }

    /// Returns the value, which stays valid until the end of the RCU read-side section.
    pub fn get<'a>(&'a self, _: &'a rcu::Guard) -> Option<&'a T> {
        // SAFETY: Null, or a value with at least one reference by the invariant, whose contents are
        // ordered by the dependency on the pointer, as with `rcu_dereference()`. `Retired` drops
        // the reference only after a grace period that began when the pointer was already replaced,
        // so not before the section of the guard ends.
        unsafe { self.0.read_once().as_ref() }
    }

    /// Replaces the value. Callers must be serialized, for example by a lock. Does not sleep.
    pub fn replace(&self, value: Option<Arc<T>>) -> Retired<T> {
        let new = value.map_or(null_mut(), |value| Arc::into_raw(value).cast_mut());
        let old = self.0.read_once();
        // INVARIANT: `new` is null or came from `into_raw()` just above.
        self.0.store(new, Release);
        // INVARIANT: The place no longer has this pointer, so its reference moves.
        Retired(old)
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        let value = self.0.load(Relaxed);
        if !value.is_null() {
            // SAFETY: From `into_raw()` by the invariant, and no reader has a borrow of `self` any
            // more.
            drop(unsafe { Arc::from_raw(value) });
        }
    }
}

/// A value that was replaced and that readers may still use. Dropping it waits for them, so it must
/// be dropped where sleeping is allowed.
///
/// # Invariants
///
/// The pointer is null or came from [`Arc::into_raw`], and is in no [`Published`] any more.
#[must_use]
pub struct Retired<T>(*mut T);

impl<T> Drop for Retired<T> {
    fn drop(&mut self) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: May sleep, as the documentation of the type demands.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()` by the invariant. Readers that saw the pointer have left their
        // read-side sections.
        drop(unsafe { Arc::from_raw(self.0) });
    }
}
