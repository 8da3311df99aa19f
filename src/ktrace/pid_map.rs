// SPDX-License-Identifier: GPL-2.0

//! A table from task ids to small values, that is read without locks from any context.
//!
//! A radix tree of three levels over the 22 bits that a task id can have (`PID_MAX_LIMIT`). Inner
//! parts are added as they are needed and stay until the table goes: 4 MiB at most. The smallest
//! part, a leaf, holds the values of [`LEAF`] neighbours; ids are handed out in sequence, so tasks
//! that start together share it. A lookup is three dependent loads.
//!
//! # Reclaiming
//!
//! Leaves of ids that no task has any more are freed by [`PidMap::reclaim`], which a worker calls
//! when there are many ([`PidMap::is_large`]). The lowest bit of the pointer to a leaf says that
//! the leaf is in use. The worker clears it in all leaves, sets it for the ids of all tasks, waits
//! until every task has left the kernel or slept (RCU-tasks), sets it once more, and then takes out
//! those leaves whose bit is still clear. They are freed when all readers are done.
//!
//! So no leaf is lost that is needed:
//!
//! - A task that is in the kernel's lists both times is marked.
//! - A task that is made in between marks its leaf itself, by [`PidMap::get_or_insert`]. That fails
//!   to find a leaf which is just taken out, and makes another one.
//! - A task that leaves the lists before the first walk meets it still runs the rest of its exit.
//!   RCU-tasks waits for that, too. One that leaves them later was marked by the first walk.
//!
//! # Readers
//!
//! What [`PidMap::get`] returns may be used as long as the caller is a probe on a tracepoint, has
//! preemption or interrupts off, is in an NMI, or is in an RCU read-side section: the worker waits
//! for all of these. The table itself does so in [`PidMap::for_each`], in which callers may not
//! sleep.

use kernel::{
    alloc::{
        Flags,
        KVVec, //
    },
    bindings,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full,
            Relaxed, //
        },
        rcu, //
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

/// How many leaves there may be without [`PidMap::is_large`].
const FEW_LEAVES: usize = 512;

type Leaf<T> = [T; LEAF];
type Mid<T> = [Place<T>; MID];

extern "C" {
    fn ktrace_synchronize_probes();
}

/// Where a leaf is, and in the lowest bit whether it is in use.
///
/// # Invariants
///
/// Without that bit it is null or came from [`KBox::into_raw`]. The one that changes it to null owns
/// the box, and frees it only when no reader can have it any more.
struct Place<T>(AtomicPtr<Leaf<T>>);

/// The bit that says that a leaf is in use. Nothing that is allocated has an odd address.
const IN_USE: usize = 1;

impl<T> Place<T> {
    /// A place without a leaf.
    const fn empty() -> Self {
        Self(AtomicPtr::null())
    }

    /// The pointer to the leaf in a word that was read from a place.
    #[inline]
    fn leaf_of(word: *mut Leaf<T>) -> *mut Leaf<T> {
        word.map_addr(|address| address & !IN_USE)
    }

    /// Returns the leaf. Any context.
    #[inline]
    fn get(&self) -> Option<&Leaf<T>> {
        // SAFETY: Null or a box by the invariant, which was published with the pointer that is
        // followed here. It is not freed while the caller uses it: the module's documentation says
        // who may be one.
        unsafe { Self::leaf_of(self.0.read_once()).as_ref() }
    }

    /// Marks the leaf as used and returns it.
    fn mark(&self) -> Option<&Leaf<T>> {
        let mut word = self.0.load(Acquire);
        while !word.is_null() && word.addr() & IN_USE == 0 {
            // INVARIANT: The same leaf.
            match self
                .0
                .cmpxchg(word, word.map_addr(|address| address | IN_USE), Full)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: As in `get()`.
        unsafe { Self::leaf_of(word).as_ref() }
    }

    /// Marks the leaf as not used.
    fn unmark(&self) {
        let word = self.0.load(Acquire);
        if word.addr() & IN_USE != 0 {
            // If that fails, the leaf was put there just now.
            // INVARIANT: The same leaf.
            let _ = self.0.cmpxchg(word, Self::leaf_of(word), Full);
        }
    }

    /// Takes the leaf out if it is not used.
    fn take_unused(&self) -> Option<KBox<Leaf<T>>> {
        let word = self.0.load(Acquire);
        if word.is_null() || word.addr() & IN_USE != 0 {
            return None;
        }
        // INVARIANT: What is taken out is owned here.
        self.0.cmpxchg(word, core::ptr::null_mut(), Full).ok()?;
        // SAFETY: From `into_raw()` by the invariant, and taken out by this call. The caller waits
        // for readers before it drops the box.
        Some(unsafe { KBox::from_raw(word) })
    }
}

/// The table.
///
/// # Invariants
///
/// Each pointer in `root` is null or came from [`KBox::into_raw`], and changes only once, from
/// null, until the table is dropped.
pub struct PidMap<T> {
    root: KBox<[AtomicPtr<Mid<T>>; ROOT]>,
    /// How many leaves there are, and how many there may be until they are reclaimed.
    leaves: Atomic<usize>,
    most_leaves: Atomic<usize>,
    mids: Atomic<usize>,
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

impl<T: Default> PidMap<T> {
    /// An empty table. May sleep.
    pub fn new() -> Result<Self> {
        let root = KBox::new([const { AtomicPtr::null() }; ROOT], GFP_KERNEL)?;
        // INVARIANT: All null.
        Ok(Self {
            root,
            leaves: Atomic::new(0),
            most_leaves: Atomic::new(FEW_LEAVES),
            mids: Atomic::new(0),
        })
    }

    /// The place of the leaf of `id`, if its surroundings exist.
    #[inline]
    fn place(&self, id: u32) -> Option<&Place<T>> {
        let mid = self.root.get(root_index(id))?.read_once();
        // SAFETY: Null or a live box, by the invariant; published by `place_or_insert()` before,
        // and followed.
        unsafe { mid.as_ref() }?.get(mid_index(id))
    }

    /// The same, made if it does not exist. Allocates with `flags`.
    fn place_or_insert(&self, id: u32, flags: Flags) -> Result<&Place<T>> {
        let root = self.root.get(root_index(id)).ok_or(EINVAL)?;
        if root.load(Acquire).is_null() {
            let fresh = KBox::into_raw(KBox::new([const { Place::empty() }; MID], flags)?);
            // INVARIANT: From null, once.
            match root.cmpxchg(core::ptr::null_mut(), fresh, Full) {
                Ok(_) => {
                    self.mids.add(1, Relaxed);
                }
                // SAFETY: From `into_raw()` just above, and published nowhere.
                Err(_) => drop(unsafe { KBox::from_raw(fresh) }),
            }
        }
        self.place(id).ok_or(EINVAL)
    }

    /// The value of `id`, if it has one. Any context that the module's documentation names, NMI
    /// too.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&T> {
        self.place(id)?.get()?.get(leaf_index(id))
    }

    /// Marks the value of `id`, if it has one, as used, and returns it. For a task that is being
    /// made, or that a walk over all tasks meets.
    pub fn mark(&self, id: u32) -> Option<&T> {
        self.place(id)?.mark()?.get(leaf_index(id))
    }

    /// The value of `id`, made if there is none yet, and marked as used. Allocates with `flags`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if `id` is not below [`IDS`].
    pub fn get_or_insert(&self, id: u32, flags: Flags) -> Result<&T> {
        let place = self.place_or_insert(id, flags)?;
        loop {
            if let Some(leaf) = place.mark() {
                return leaf.get(leaf_index(id)).ok_or(EINVAL);
            }
            let fresh = KBox::new(core::array::from_fn::<T, LEAF, _>(|_| T::default()), flags)?;
            let fresh = KBox::into_raw(fresh);
            let word = fresh.map_addr(|address| address | IN_USE);
            // INVARIANT: A box, with the bit.
            match place.0.cmpxchg(core::ptr::null_mut(), word, Full) {
                Ok(_) => {
                    self.leaves.add(1, Relaxed);
                }
                // SAFETY: From `into_raw()` just above, and published nowhere.
                Err(_) => drop(unsafe { KBox::from_raw(fresh) }),
            }
        }
    }

    /// Whether [`PidMap::reclaim`] should be called.
    pub fn is_large(&self) -> bool {
        self.leaves.load(Relaxed) > self.most_leaves.load(Relaxed)
    }

    /// How many bytes the table has allocated.
    pub fn size(&self) -> usize {
        let leaves = self
            .leaves
            .load(Relaxed)
            .saturating_mul(size_of::<Leaf<T>>());
        let mids = self.mids.load(Relaxed).saturating_mul(size_of::<Mid<T>>());
        leaves
            .saturating_add(mids)
            .saturating_add(size_of::<[AtomicPtr<Mid<T>>; ROOT]>())
    }

    /// Frees the leaves of ids that no task has any more. `mark_all` walks over all tasks and marks
    /// what belongs to them, by [`PidMap::mark`]. Sleeps for some grace periods. For one caller at
    /// a time.
    pub fn reclaim(&self, mark_all: impl Fn()) {
        self.for_each_place(Place::unmark);
        mark_all();
        // SAFETY: May sleep, as this function may.
        unsafe { bindings::synchronize_rcu_tasks() };
        mark_all();
        let mut unused = KVVec::new();
        self.for_each_place(|place| {
            // Without memory for the list, what is left over is freed the next time.
            if unused.reserve(1, GFP_KERNEL).is_err() {
                return;
            }
            if let Some(leaf) = place.take_unused() {
                // There is room for it, so this does not fail; if it did, the leaf would leak, and
                // not be freed under its readers.
                if let Err(error) = unused.push_within_capacity(leaf) {
                    core::mem::forget(error);
                }
            }
        });
        let left = self.leaves.load(Relaxed).saturating_sub(unused.len());
        self.leaves.add(unused.len().wrapping_neg(), Relaxed);
        self.most_leaves
            .store(left.saturating_mul(2).max(FEW_LEAVES), Relaxed);
        if !unused.is_empty() {
            // SAFETY: May sleep, as this function may.
            unsafe { bindings::synchronize_rcu() };
            // SAFETY: Waits until no probe runs any more; may sleep, as this function may.
            unsafe { ktrace_synchronize_probes() };
        }
        drop(unused);
    }

    /// Calls `visit` with every place where a leaf is or may come to be.
    fn for_each_place(&self, mut visit: impl FnMut(&Place<T>)) {
        for mid in self.root.iter() {
            // SAFETY: Null or a live box, by the invariant.
            if let Some(mid) = unsafe { mid.load(Acquire).as_ref() } {
                mid.iter().for_each(&mut visit);
            }
        }
    }

    /// Calls `visit` with every value that exists, those that were made along with a neighbour's
    /// too. `visit` may not sleep.
    pub fn for_each(&self, mut visit: impl FnMut(&T)) {
        self.for_each_place(|place| {
            let _guard = rcu::read_lock();
            if let Some(leaf) = place.get() {
                leaf.iter().for_each(&mut visit);
            }
        });
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
            for place in mid.iter() {
                let leaf = Place::leaf_of(place.0.load(Relaxed));
                if !leaf.is_null() {
                    // SAFETY: As above.
                    drop(unsafe { KBox::from_raw(leaf) });
                }
            }
        }
    }
}
