// SPDX-License-Identifier: GPL-2.0

//! Settings of the call graph in the kernel's own files.

use core::ptr::null_mut;

use kernel::{
    alloc::KVVec,
    bindings,
    prelude::*,
    sync::atomic::{
        Acquire,
        Release, //
    },
};

use crate::ktrace::{
    private::{
        abi,
        symbols::{
            Data,
            Resolved, //
        },
    },
    sync::{
        atomic::AtomicPtr,
        quiesce,
        read_once::ReadOnce, //
    },
};

extern "C" {
    fn ktrace_in_hardirq() -> bool;
}

/// The functions in one of the kernel's files: a hash table with open addressing, never more than
/// half full. 0 marks a free element.
struct Functions(KVVec<usize>);

impl Functions {
    /// Creates an empty table with room for `n` functions.
    fn with_room(n: usize) -> Result<Self> {
        let slots = n.saturating_mul(2).max(2).next_power_of_two();
        Ok(Self(KVVec::from_elem(0, slots, GFP_KERNEL)?))
    }

    /// Returns the index at which `func` is, or would be added.
    #[inline]
    fn place(&self, func: usize) -> Option<usize> {
        let mask = self.0.len().wrapping_sub(1);
        // Functions are aligned to 16 bytes, or to 4.
        let first = func >> 4 ^ func >> 12;
        (0..self.0.len())
            .map(|step| first.wrapping_add(step) & mask)
            .find(|at| self.0.get(*at).is_none_or(|is| *is == func || *is == 0))
    }

    fn add(&mut self, func: usize) {
        if let Some(place) = self.place(func).and_then(|at| self.0.get_mut(at)) {
            *place = func;
        }
    }

    #[inline]
    fn has(&self, func: usize) -> bool {
        let at = self.place(func);
        at.and_then(|at| self.0.get(at)) == Some(&func) && func != 0
    }
}

/// Copies of the kernel's files, null if a file is empty. Callbacks only read these copies: when
/// the kernel replaces a hash, it frees the old one without waiting for each callback that may read
/// it (`synchronize_rcu_tasks_rude()` does nothing on architectures that require noinstr).
static COPIES: [AtomicPtr<Functions>; 2] = [const { AtomicPtr::null() }; 2];

/// Index of the copy of `set_graph_function` in [`COPIES`].
const FUNCTION: usize = 0;
/// Index of the copy of `set_graph_notrace` in [`COPIES`].
const NOTRACE: usize = 1;

/// Copies the functions of a hash; `None` if it has none.
///
/// # Safety
///
/// `hash` must be valid, and not change while this runs.
unsafe fn functions_of(hash: *const abi::ftrace_hash) -> Result<Option<Functions>> {
    // SAFETY: `hash` is valid and does not change, as the caller guarantees. It has `1 <<
    // size_bits` buckets, each a list of `ftrace_func_entry`, whose first member is the node. An
    // empty hash may have no buckets.
    unsafe {
        if (*hash).count == 0 {
            return Ok(None);
        }
        let mut functions = Functions::with_room((*hash).count)?;
        for bucket in 0..1usize << (*hash).size_bits {
            let mut node = (*(*hash).buckets.add(bucket)).first;
            while !node.is_null() {
                let entry = node.cast::<abi::ftrace_func_entry>();
                functions.add((*entry).ip);
                node = (*entry).hlist.next;
            }
        }
        Ok(Some(functions))
    }
}

/// Replaces a copy. May sleep. Must not be called concurrently.
fn replace(which: usize, functions: Option<KBox<Functions>>) {
    let Some(place) = COPIES.get(which) else {
        return;
    };
    let new = functions.map_or(null_mut(), KBox::into_raw);
    let old = place.load(Acquire);
    place.store(new, Release);
    if !old.is_null() {
        quiesce::synchronize();
        // SAFETY: The pointer is from `into_raw()`. All callbacks that may have found it have
        // finished, since they run with preemption off.
        drop(unsafe { KBox::from_raw(old) });
    }
}

/// Copies the functions of `set_graph_function` and `set_graph_notrace`. May sleep. Must not be
/// called concurrently.
///
/// # Errors
///
/// `ENOMEM` if memory is short: the copy for which there is no memory, and any after it, stay as
/// they were.
pub fn copy_graph_functions(_: Resolved) -> Result {
    let hashes = [Data::GraphHash, Data::GraphNotraceHash];
    for (which, hash) in hashes.into_iter().enumerate() {
        // SAFETY: `GraphLock` is the kernel's own mutex, which it holds when it replaces one of
        // these hashes (`ftrace_graph_release()`). A hash in use is never changed.
        let functions = unsafe {
            bindings::mutex_lock(Data::GraphLock.as_ptr());
            let functions = functions_of(*hash.as_ptr::<*const abi::ftrace_hash>());
            bindings::mutex_unlock(Data::GraphLock.as_ptr());
            functions?
        };
        replace(
            which,
            match functions {
                Some(functions) => Some(KBox::new(functions, GFP_KERNEL)?),
                None => None,
            },
        );
    }
    Ok(())
}

/// Frees the copies. May sleep. No callback may run any more.
pub fn drop_graph_functions() {
    replace(FUNCTION, None);
    replace(NOTRACE, None);
}

/// Returns whether `func` is in one of the files; `None` if the file is empty.
#[inline]
fn is_in(which: usize, func: usize) -> Option<bool> {
    let place = COPIES.get(which)?;
    // SAFETY: The pointer is null or points to a copy. `replace()` frees a copy only after it has
    // waited for all code with preemption off, such as the callbacks that call this.
    let functions = unsafe { place.read_once().as_ref() }?;
    Some(functions.has(func))
}

/// Returns whether `func` is in `set_graph_function`; `None` if the file is empty. Only for
/// callbacks.
#[inline]
pub fn in_graph_function(func: usize) -> Option<bool> {
    is_in(FUNCTION, func)
}

/// Returns whether `set_graph_function` has any function.
#[inline]
pub fn has_graph_functions() -> bool {
    COPIES
        .get(FUNCTION)
        .is_some_and(|place| !place.read_once().is_null())
}

/// Returns whether `set_graph_function` or `set_graph_notrace` has any function.
pub(super) fn has_any_functions() -> bool {
    COPIES.iter().any(|place| !place.read_once().is_null())
}

/// Returns whether `func` is in `set_graph_notrace`. Only for callbacks.
#[inline]
pub fn in_graph_notrace(func: usize) -> bool {
    is_in(NOTRACE, func).unwrap_or(false)
}

/// Returns `max_graph_depth`; 0 means no limit. Only for callbacks.
#[inline]
pub fn max_graph_depth() -> u32 {
    // SAFETY: Hooks exist only after `find()` has succeeded, so this is the address of the kernel's
    // `fgraph_max_depth`, an `unsigned int` that always exists. One aligned word is read.
    unsafe { Data::GraphMaxDepth.as_ptr::<u32>().read_volatile() }
}

/// Returns `tracing_thresh` in ns; 0 means no threshold.
#[inline]
pub fn tracing_thresh_ns() -> u64 {
    // SAFETY: Trace arrays are used only after `find()` has succeeded, so this is the address of
    // the kernel's `tracing_thresh`, an `unsigned long` that always exists. One aligned word is
    // read.
    unsafe { Data::TracingThresh.as_ptr::<c_ulong>().read_volatile() as u64 }
}

/// Returns whether the current context is a hardware interrupt.
#[inline]
pub fn in_hardirq() -> bool {
    // SAFETY: Reads this CPU's own count.
    unsafe { ktrace_in_hardirq() }
}
