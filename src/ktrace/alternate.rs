// SPDX-License-Identifier: GPL-2.0

//! A value that hooks use all the while, and that is begun anew now and then.
//!
//! There are two, of which one is in use. To begin anew, the other one takes its place; when nobody uses
//! the former any more, that is cleared, and is the next. The second is made when it is first wanted.
//! Neither is given back before both are: whoever has a reference may keep it.

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
    fgraph,
    once::Once, //
};

/// See the module's comment.
///
/// # Invariants
///
/// `now` and `other` are from [`KBox::into_raw`], one each, and stay what they point to until drop; `other` may be
/// null. They are written by whoever has set `busy`.
pub struct Alternate<T> {
    now: AtomicPtr<T>,
    other: AtomicPtr<T>,
    busy: Atomic<u32>,
}

// SAFETY: Owns values of a type that is `Send`.
unsafe impl<T: Send> Send for Alternate<T> {}
// SAFETY: Hands out shared references only.
unsafe impl<T: Send + Sync> Sync for Alternate<T> {}

impl<T> Alternate<T> {
    /// With that value to begin with. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(value: T) -> Result<Self> {
        let now = AtomicPtr::null();
        now.store(KBox::into_raw(KBox::new(value, GFP_KERNEL)?), Relaxed);
        // INVARIANT: Just made.
        Ok(Self {
            now,
            other: AtomicPtr::null(),
            busy: Atomic::new(0),
        })
    }

    /// The value that is in use.
    #[inline(always)]
    pub fn get(&self) -> &T {
        // SAFETY: Not null, and there until drop, by the invariant.
        unsafe { &*self.now.read_once() }
    }

    /// How many there are: 1 or 2.
    pub fn count(&self) -> usize {
        1 + usize::from(!self.other.load(Relaxed).is_null())
    }

    /// Takes a fresh value into use, made by `make` if there is no second one yet. The former is given to `clear` when
    /// no hook uses it any more. May sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` while somebody else does so; `ENOMEM`, and those of `make`. The value is the same then.
    pub fn begin_anew(&self, make: impl FnOnce() -> Result<T>, clear: impl FnOnce(&T)) -> Result {
        if self.busy.cmpxchg(0, 1, Full).is_err() {
            return Err(EBUSY);
        }
        let result = self.exchange(make).map(clear);
        self.busy.store(0, Release);
        result
    }

    /// Exchanges the two, and waits until nobody uses the former, which is returned. To be called by whoever has set
    /// `busy`.
    fn exchange(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let mut fresh = self.other.load(Relaxed);
        if fresh.is_null() {
            fresh = KBox::into_raw(KBox::new(make()?, GFP_KERNEL)?);
        }
        let former = self.now.load(Relaxed);
        // INVARIANT: Still one each.
        self.now.store(fresh, Release);
        self.other.store(former, Relaxed);
        fgraph::synchronize();
        // SAFETY: There until drop, by the invariant.
        Ok(unsafe { &*former })
    }
}

impl<T> Drop for Alternate<T> {
    fn drop(&mut self) {
        for place in [&self.now, &self.other] {
            let value = place.load(Relaxed);
            place.store(null_mut(), Relaxed);
            if !value.is_null() {
                // SAFETY: From `into_raw()` by the invariant, and nobody has a reference to what is dropped.
                drop(unsafe { KBox::from_raw(value) });
            }
        }
    }
}
