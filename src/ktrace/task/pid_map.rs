// SPDX-License-Identifier: GPL-2.0

//! A map from task IDs to small values that is read without locks in any context.
//!
//! This is a radix tree of three levels over the 22 bits that a task ID can have (`PID_MAX_LIMIT`).
//! Inner nodes are added when they are needed and stay until the map is dropped: 4 MiB at most. The
//! smallest node, a leaf, holds the values of [`LEAF`] consecutive IDs. IDs are assigned in
//! sequence, so tasks that start together share a leaf. A lookup needs three dependent loads.
//!
//! # Reclaiming
//!
//! [`PidMap::reclaim`] frees leaves whose IDs no task has any more. A worker calls it when the map
//! has many leaves ([`PidMap::is_large`]). The lowest bit of the pointer to a leaf marks the leaf
//! as in use. The worker clears it in all leaves, sets it for the IDs of all tasks, waits until
//! every task has left the kernel or slept (RCU-tasks), sets it for the IDs of all tasks again, and
//! then removes the leaves whose bit is still clear. They are freed when all readers are done.
//!
//! No leaf that is still needed is removed:
//!
//! - A task that is on the kernel's task list during both walks is marked.
//! - A task that is created in between marks its leaf itself, with [`PidMap::get_or_insert`]. If
//!   the leaf has just been removed, that function inserts a new one.
//! - A task that leaves the task list before the first walk reaches it still runs the rest of its
//!   exit. RCU-tasks waits for that, too. A task that leaves the list later was marked by the first
//!   walk.
//!
//! # Readers
//!
//! A reference from [`PidMap::get`] may be used while the caller is a probe on a tracepoint, has
//! preemption or interrupts disabled, is in an NMI, or is in an RCU read-side section: the worker
//! waits for all of these. [`PidMap::for_each`] enters an RCU read-side section itself; its
//! callback must not sleep.

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

use crate::ktrace::sync::{
    atomic::AtomicPtr,
    read_once::ReadOnce, //
};

const ROOT_BITS: u32 = 10;
const MID_BITS: u32 = 9;
const LEAF_BITS: u32 = 3;

/// The number of values in a leaf.
pub const LEAF: usize = 1 << LEAF_BITS;
const MID: usize = 1 << MID_BITS;
const ROOT: usize = 1 << ROOT_BITS;

/// The limit of task IDs: all are smaller (`PID_MAX_LIMIT` on 64-bit kernels,
/// include/linux/threads.h).
pub const IDS: u32 = 1 << (ROOT_BITS + MID_BITS + LEAF_BITS);

/// The number of leaves up to which [`PidMap::is_large`] is always false.
const FEW_LEAVES: usize = 512;

type Leaf<T> = [T; LEAF];
type Middle<T> = [LeafPtr<T>; MID];

extern "C" {
    fn ktrace_synchronize_probes();
}

/// A pointer to a leaf, whose lowest bit marks the leaf as in use.
///
/// # Invariants
///
/// Without that bit, the pointer is null or came from [`KBox::into_raw`]. The caller that changes
/// it to null owns the box, and must free it only when no reader can have a reference to it any
/// more.
struct LeafPtr<T>(AtomicPtr<Leaf<T>>);

/// The bit that marks a leaf as in use. It is free because no allocated leaf has an odd address.
const IN_USE: usize = 1;

impl<T> LeafPtr<T> {
    /// Creates an entry without a leaf.
    const fn empty() -> Self {
        Self(AtomicPtr::null())
    }

    /// Returns the pointer to the leaf, without the mark, from a word that was read from an entry.
    #[inline]
    fn leaf_of(word: *mut Leaf<T>) -> *mut Leaf<T> {
        word.map_addr(|address| address & !IN_USE)
    }

    /// Returns the leaf, if there is one. Any context.
    #[inline]
    fn get(&self) -> Option<&Leaf<T>> {
        // SAFETY: By the type invariant, the pointer is null or from a box; the box was initialised
        // before the pointer was published. It is not freed while the caller uses it: the module
        // documentation lists the contexts in which callers may be, and `reclaim()` waits for all
        // of them.
        unsafe { Self::leaf_of(self.0.read_once()).as_ref() }
    }

    /// Marks the leaf as in use and returns it, if there is one.
    fn mark(&self) -> Option<&Leaf<T>> {
        let mut word = self.0.load(Acquire);
        while !word.is_null() && word.addr() & IN_USE == 0 {
            // INVARIANT: The pointer to the leaf does not change.
            match self
                .0
                .cmpxchg(word, word.map_addr(|address| address | IN_USE), Full)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: By the type invariant, the pointer is null or from a box, which was initialised
        // before the pointer was published. As `get()` says, the box is not freed while the caller
        // uses it.
        unsafe { Self::leaf_of(word).as_ref() }
    }

    /// Marks the leaf as not in use.
    fn unmark(&self) {
        let word = self.0.load(Acquire);
        if word.addr() & IN_USE != 0 {
            // This cannot fail: nothing else changes an entry whose leaf is marked.
            // INVARIANT: The pointer to the leaf does not change.
            let _ = self.0.cmpxchg(word, Self::leaf_of(word), Full);
        }
    }

    /// Removes and returns the leaf if it is not in use.
    fn take_unused(&self) -> Option<KBox<Leaf<T>>> {
        let word = self.0.load(Acquire);
        if word.is_null() || word.addr() & IN_USE != 0 {
            return None;
        }
        // INVARIANT: The removed box is owned here.
        self.0.cmpxchg(word, core::ptr::null_mut(), Full).ok()?;
        // SAFETY: The pointer is from `into_raw()` by the type invariant, and removed by this call.
        // The caller waits for readers before it drops the box.
        Some(unsafe { KBox::from_raw(word) })
    }
}

/// A map from task IDs to values; see the module documentation.
///
/// # Invariants
///
/// Each pointer in `root` is null or came from [`KBox::into_raw`]. It changes at most once, from
/// null, until the map is dropped.
pub struct PidMap<T> {
    root: KBox<[AtomicPtr<Middle<T>>; ROOT]>,
    /// The number of leaves, and the number above which they are reclaimed.
    leaves: Atomic<usize>,
    most_leaves: Atomic<usize>,
    middles: Atomic<usize>,
}

// SAFETY: The map owns its values and gives out shared references to them.
unsafe impl<T: Send + Sync> Send for PidMap<T> {}
// SAFETY: The map gives out shared references to its values; all changes are atomic.
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
    /// Creates an empty map. May sleep. Fails with `ENOMEM` if memory is short.
    pub fn new() -> Result<Self> {
        let root = KBox::new([const { AtomicPtr::null() }; ROOT], GFP_KERNEL)?;
        // INVARIANT: All pointers are null.
        Ok(Self {
            root,
            leaves: Atomic::new(0),
            most_leaves: Atomic::new(FEW_LEAVES),
            middles: Atomic::new(0),
        })
    }

    /// Returns the entry for the leaf of `id`, if its inner node exists.
    #[inline]
    fn leaf_ptr(&self, id: u32) -> Option<&LeafPtr<T>> {
        let middle = self.root.get(root_index(id))?.read_once();
        // SAFETY: By the type invariant, the pointer is null or points to a box that lives as long
        // as the map. The box was initialised before `leaf_ptr_or_insert()` published the pointer
        // that is dereferenced here.
        unsafe { middle.as_ref() }?.get(mid_index(id))
    }

    /// Returns the entry for the leaf of `id`, and creates its inner node if it does not exist.
    /// Allocates with `flags`.
    fn leaf_ptr_or_insert(&self, id: u32, flags: Flags) -> Result<&LeafPtr<T>> {
        let root = self.root.get(root_index(id)).ok_or(EINVAL)?;
        if root.load(Acquire).is_null() {
            let fresh = KBox::into_raw(KBox::new([const { LeafPtr::empty() }; MID], flags)?);
            // INVARIANT: The pointer changes from null, so only once.
            match root.cmpxchg(core::ptr::null_mut(), fresh, Full) {
                Ok(_) => {
                    self.middles.add(1, Relaxed);
                }
                // SAFETY: The pointer is from `into_raw()` above, and not published.
                Err(_) => drop(unsafe { KBox::from_raw(fresh) }),
            }
        }
        self.leaf_ptr(id).ok_or(EINVAL)
    }

    /// Returns the value of `id`, if it exists. Callers must be in one of the contexts that the
    /// module documentation lists; NMI is one of them.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&T> {
        self.leaf_ptr(id)?.get()?.get(leaf_index(id))
    }

    /// Marks the value of `id` as in use and returns it, if it exists. For a task that is being
    /// created, or that a walk over all tasks reaches.
    pub fn mark(&self, id: u32) -> Option<&T> {
        self.leaf_ptr(id)?.mark()?.get(leaf_index(id))
    }

    /// Returns the value of `id`, creates it if it does not exist, and marks it as in use.
    /// Allocates with `flags`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if `id` is not below [`IDS`].
    pub fn get_or_insert(&self, id: u32, flags: Flags) -> Result<&T> {
        let leaf_ptr = self.leaf_ptr_or_insert(id, flags)?;
        loop {
            if let Some(leaf) = leaf_ptr.mark() {
                return leaf.get(leaf_index(id)).ok_or(EINVAL);
            }
            let fresh = KBox::new(core::array::from_fn::<T, LEAF, _>(|_| T::default()), flags)?;
            let fresh = KBox::into_raw(fresh);
            let word = fresh.map_addr(|address| address | IN_USE);
            // INVARIANT: The word is a pointer from `into_raw()` with the mark.
            match leaf_ptr.0.cmpxchg(core::ptr::null_mut(), word, Full) {
                Ok(_) => {
                    self.leaves.add(1, Relaxed);
                }
                // SAFETY: The pointer is from `into_raw()` above, and not published.
                Err(_) => drop(unsafe { KBox::from_raw(fresh) }),
            }
        }
    }

    /// Returns whether [`PidMap::reclaim`] should be called.
    pub fn is_large(&self) -> bool {
        self.leaves.load(Relaxed) > self.most_leaves.load(Relaxed)
    }

    /// Returns the memory that the map has allocated, in bytes.
    pub fn size(&self) -> usize {
        let leaves = self
            .leaves
            .load(Relaxed)
            .saturating_mul(size_of::<Leaf<T>>());
        let middles = self
            .middles
            .load(Relaxed)
            .saturating_mul(size_of::<Middle<T>>());
        leaves
            .saturating_add(middles)
            .saturating_add(size_of::<[AtomicPtr<Middle<T>>; ROOT]>())
    }

    /// Frees the leaves of IDs that no task has any more. `mark_all` must walk over all tasks and
    /// mark their values with [`PidMap::mark`]; it is called twice. Sleeps for several grace
    /// periods. There must be only one caller at a time.
    pub fn reclaim(&self, mark_all: impl Fn()) {
        self.for_each_leaf_ptr(LeafPtr::unmark);
        mark_all();
        // SAFETY: May sleep, as the documentation of this function says.
        unsafe { bindings::synchronize_rcu_tasks() };
        mark_all();
        let mut unused = KVVec::new();
        self.for_each_leaf_ptr(|leaf_ptr| {
            // If memory for the list is short, the remaining leaves are freed next time.
            if unused.reserve(1, GFP_KERNEL).is_err() {
                return;
            }
            if let Some(leaf) = leaf_ptr.take_unused() {
                // Does not fail, since room was reserved. If it did, the leaf would leak instead of
                // being freed while readers use it.
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
            // SAFETY: May sleep, as the documentation of this function says.
            unsafe { bindings::synchronize_rcu() };
            // SAFETY: Waits until all running probes have returned; may sleep, as the documentation
            // of this function says.
            unsafe { ktrace_synchronize_probes() };
        }
        drop(unused);
    }

    /// Calls `visit` with the entry of each leaf in the existing inner nodes, including empty ones.
    fn for_each_leaf_ptr(&self, mut visit: impl FnMut(&LeafPtr<T>)) {
        for middle in self.root.iter() {
            // SAFETY: By the type invariant, the pointer is null or points to a box that lives as
            // long as the map; `Acquire` makes its contents visible.
            if let Some(middle) = unsafe { middle.load(Acquire).as_ref() } {
                middle.iter().for_each(&mut visit);
            }
        }
    }

    /// Calls `visit` with every value that exists, including those that were created together with
    /// another value of the same leaf. `visit` must not sleep.
    pub fn for_each(&self, mut visit: impl FnMut(&T)) {
        self.for_each_leaf_ptr(|leaf_ptr| {
            let _guard = rcu::read_lock();
            if let Some(leaf) = leaf_ptr.get() {
                leaf.iter().for_each(&mut visit);
            }
        });
    }
}

impl<T> Drop for PidMap<T> {
    fn drop(&mut self) {
        for middle in self.root.iter() {
            let middle = middle.load(Relaxed);
            if middle.is_null() {
                continue;
            }
            // SAFETY: The pointer is from `into_raw()` by the type invariant, and `&mut self` shows
            // that there is no other user.
            let middle = unsafe { KBox::from_raw(middle) };
            for leaf_ptr in middle.iter() {
                let leaf = LeafPtr::leaf_of(leaf_ptr.0.load(Relaxed));
                if !leaf.is_null() {
                    // SAFETY: The pointer is from `into_raw()` by the invariant of `LeafPtr`, and
                    // `&mut self` shows that there is no other user.
                    drop(unsafe { KBox::from_raw(leaf) });
                }
            }
        }
    }
}
