// SPDX-License-Identifier: GPL-2.0

//! A table from task ids to small values, that is read without locks from any context.
//!
//! A radix tree of three levels over the 22 bits that a task id can have (`PID_MAX_LIMIT`). Parts
//! of the tree are added as they are needed and stay until the table goes, so a reader never meets
//! memory that is being freed, and what a reader is given lives as long as the table.
//!
//! A lookup is three dependent loads. The smallest part holds [`LEAF`] neighbours; ids are handed
//! out in sequence, so tasks that start together share it.

use kernel::{
    alloc::Flags,
    prelude::*,
    sync::atomic::{
        Acquire,
        Full,
        Relaxed, //
    },
};

use super::{
    atomic::AtomicPtr,
    once::Once, //
};

const ROOT_BITS: u32 = 10;
const MID_BITS: u32 = 9;
const LEAF_BITS: u32 = 3;

/// Values in the smallest part.
pub const LEAF: usize = 1 << LEAF_BITS;
const MID: usize = 1 << MID_BITS;
const ROOT: usize = 1 << ROOT_BITS;

/// One more than the largest id (`PID_MAX_LIMIT` on 64-bit kernels, include/linux/threads.h).
pub const IDS: u32 = 1 << (ROOT_BITS + MID_BITS + LEAF_BITS);

type Leaf<T> = [T; LEAF];
type Mid<T> = [AtomicPtr<Leaf<T>>; MID];

/// The table.
///
/// # Invariants
///
/// Each pointer in `root`, and in what it points to, is null or came from [`KBox::into_raw`], and
/// changes only once, from null, until the table is dropped.
pub struct PidMap<T> {
    root: KBox<[AtomicPtr<Mid<T>>; ROOT]>,
}

// SAFETY: The table owns its values and gives out shared references to them.
unsafe impl<T: Send + Sync> Send for PidMap<T> {}
// SAFETY: As above; all changes are atomic.
unsafe impl<T: Send + Sync> Sync for PidMap<T> {}

fn root_index(id: u32) -> usize {
    (id >> (MID_BITS + LEAF_BITS)) as usize
}

fn mid_index(id: u32) -> usize {
    (id >> LEAF_BITS) as usize & (MID - 1)
}

fn leaf_index(id: u32) -> usize {
    id as usize & (LEAF - 1)
}

/// Puts `value` where there is null, or drops it if somebody else was faster. What is there then.
fn set_once<U>(place: &AtomicPtr<U>, value: KBox<U>) -> *mut U {
    let raw = KBox::into_raw(value);
    match place.cmpxchg(core::ptr::null_mut(), raw, Full) {
        Ok(_) => raw,
        Err(winner) => {
            // SAFETY: From `into_raw()` just above, and published nowhere.
            drop(unsafe { KBox::from_raw(raw) });
            winner
        }
    }
}

impl<T: Default> PidMap<T> {
    /// An empty table. May sleep.
    pub fn new() -> Result<Self> {
        let root = KBox::new([const { AtomicPtr::null() }; ROOT], GFP_KERNEL)?;
        // INVARIANT: All null.
        Ok(Self { root })
    }

    /// The value of `id`, if there was ever one. Any context, NMI too.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&T> {
        let mid = self.root.get(root_index(id))?.read_once();
        // SAFETY: Null or a live box, by the invariant; published by `set_once()` before, and followed.
        let leaf = unsafe { mid.as_ref() }?.get(mid_index(id))?.read_once();
        // SAFETY: As above.
        unsafe { leaf.as_ref() }?.get(leaf_index(id))
    }

    /// The value of `id`, made if there is none yet. Allocates with `flags`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if `id` is not below [`IDS`].
    pub fn get_or_insert(&self, id: u32, flags: Flags) -> Result<&T> {
        let place = self.root.get(root_index(id)).ok_or(EINVAL)?;
        let mut mid = place.load(Acquire);
        if mid.is_null() {
            let fresh = KBox::new([const { AtomicPtr::null() }; MID], flags)?;
            mid = set_once(place, fresh);
        }
        // SAFETY: Not null any more, so a live box by the invariant.
        let place = unsafe { mid.as_ref() }
            .and_then(|mid| mid.get(mid_index(id)))
            .ok_or(EINVAL)?;
        let mut leaf = place.load(Acquire);
        if leaf.is_null() {
            let fresh = KBox::new(core::array::from_fn::<T, LEAF, _>(|_| T::default()), flags)?;
            leaf = set_once(place, fresh);
        }
        // SAFETY: As above.
        unsafe { leaf.as_ref() }
            .and_then(|leaf| leaf.get(leaf_index(id)))
            .ok_or(EINVAL)
    }

    /// Calls `visit` with every value that exists, those that were made along with a neighbour's
    /// too.
    pub fn for_each(&self, mut visit: impl FnMut(&T)) {
        for mid in self.root.iter() {
            // SAFETY: Null or a live box, by the invariant.
            let Some(mid) = (unsafe { mid.load(Acquire).as_ref() }) else {
                continue;
            };
            for leaf in mid {
                // SAFETY: As above.
                if let Some(leaf) = unsafe { leaf.load(Acquire).as_ref() } {
                    leaf.iter().for_each(&mut visit);
                }
            }
        }
    }
}

impl<T> Drop for PidMap<T> {
    fn drop(&mut self) {
        for mid in self.root.iter() {
            let mid = mid.load(Relaxed);
            if mid.is_null() {
                continue;
            }
            // SAFETY: From `into_raw()`, by the invariant, and nobody else has the table any more.
            let mid = unsafe { KBox::from_raw(mid) };
            for leaf in mid.iter() {
                let leaf = leaf.load(Relaxed);
                if !leaf.is_null() {
                    // SAFETY: As above.
                    drop(unsafe { KBox::from_raw(leaf) });
                }
            }
        }
    }
}
