// SPDX-License-Identifier: GPL-2.0

//! A double buffer: a value that hooks use continuously and that is sometimes replaced by an empty
//! one.
//!
//! There are up to two values, of which one is active. To start with an empty value, the inactive
//! one becomes active. When no hook uses the previously active value any more, it is cleared and
//! becomes the inactive one. The second value is created when it is first needed. Both are freed
//! together on drop, so a reference to either stays valid until then.

use core::ptr::null_mut;

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Full,
        Relaxed,
        Release, //
    },
};

use super::{
    atomic::AtomicPtr,
    quiesce,
    read_once::ReadOnce, //
};

/// A double buffer of values; see the module documentation.
///
/// # Invariants
///
/// `now` and `other` each hold a different pointer from [`KBox::into_raw`], which stays valid until
/// drop; `other` may be null. Only the task that has set `busy` writes them.
pub struct DoubleBuffer<T> {
    now: AtomicPtr<T>,
    other: AtomicPtr<T>,
    busy: Atomic<u32>,
}

// SAFETY: The only data that moves with it are values of `T`, which is `Send`.
unsafe impl<T: Send> Send for DoubleBuffer<T> {}
// SAFETY: Shared access gives out only `&T`, and `T` is `Sync`; changes are serialized by `busy`.
unsafe impl<T: Send + Sync> Sync for DoubleBuffer<T> {}

impl<T> DoubleBuffer<T> {
    /// Creates a double buffer whose active value is `value`. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short.
    pub fn new(value: T) -> Result<Self> {
        let now = AtomicPtr::null();
        now.store(KBox::into_raw(KBox::new(value, GFP_KERNEL)?), Relaxed);
        // INVARIANT: `now` is from `into_raw()`; `other` is null.
        Ok(Self {
            now,
            other: AtomicPtr::null(),
            busy: Atomic::new(0),
        })
    }

    /// Returns the active value.
    #[inline(always)]
    pub fn get(&self) -> &T {
        // SAFETY: By the type invariant, `now` is not null and stays valid until drop.
        unsafe { &*self.now.read_once() }
    }

    /// Returns the number of allocated values: 1 or 2.
    pub fn count(&self) -> usize {
        1 + usize::from(!self.other.load(Relaxed).is_null())
    }

    /// Replaces the active value by an empty one, which `make` creates if there is no second value
    /// yet. When no hook uses the previous value any more, it is passed to `clear`. May sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` while another task does the same; `ENOMEM`; errors of `make`. In all cases the
    /// active value is unchanged.
    pub fn restart(&self, make: impl FnOnce() -> Result<T>, clear: impl FnOnce(&T)) -> Result {
        if self.busy.cmpxchg(0, 1, Full).is_err() {
            return Err(EBUSY);
        }
        let result = self.exchange(make).map(clear);
        self.busy.store(0, Release);
        result
    }

    /// Exchanges the two values, waits until no hook uses the previously active one, and returns
    /// it. The caller must have set `busy`.
    fn exchange(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let mut fresh = self.other.load(Relaxed);
        if fresh.is_null() {
            fresh = KBox::into_raw(KBox::new(make()?, GFP_KERNEL)?);
        }
        let former = self.now.load(Relaxed);
        // INVARIANT: `now` and `other` still hold different pointers from `into_raw()`.
        self.now.store(fresh, Release);
        self.other.store(former, Relaxed);
        quiesce::synchronize();
        // SAFETY: By the type invariant, the pointer stays valid until drop.
        Ok(unsafe { &*former })
    }
}

impl<T> Drop for DoubleBuffer<T> {
    fn drop(&mut self) {
        for place in [&self.now, &self.other] {
            let value = place.load(Relaxed);
            place.store(null_mut(), Relaxed);
            if !value.is_null() {
                // SAFETY: The pointer is from `into_raw()` by the type invariant, and `&mut self`
                // shows that there are no references to the value.
                drop(unsafe { KBox::from_raw(value) });
            }
        }
    }
}
