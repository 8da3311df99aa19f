// SPDX-License-Identifier: GPL-2.0

//! Flags that lie behind the option files of a tracer, in the table that each trace array has (`tr->topts`).
//!
//! # Lifetimes
//!
//! Files and flags are one piece of memory, which the kernel frees with the trace array.
//!
//! Whoever prints looks for the flags without a lock. They can while our tracer is current in that trace array, or an
//! iterator is open that calls it, which is not before it has flags there and not after it was taken away. In between
//! nobody puts another table in place of the one they look through, or moves what is in it: the kernel does when it makes
//! an instance, and at boot, [`publish`] when it gives the tracer its flags.

use core::{
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::{
    bindings,
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Relaxed,
        Release, //
    },
};

use crate::ktrace::{
    abi,
    atomic::AtomicPtr,
    trace_array::{
        TraceArray,
        TypesLock, //
    },
};

extern "C" {
    fn ktrace_zalloc(size: usize) -> *mut c_void;
}

/// The tracer of this module. Set when options are first asked for, with the lock held.
static TRACER: AtomicPtr<abi::tracer> = AtomicPtr::null();

/// A trace array's table, and how many it has.
fn table(tr: &TraceArray) -> (&AtomicPtr<abi::trace_options>, &Atomic<i32>) {
    let raw = tr.as_ptr();
    // SAFETY: Members of a trace array that is alive, by the type's invariant, of the same size and alignment.
    unsafe {
        (
            &*addr_of_mut!((*raw).topts).cast(),
            &*addr_of_mut!((*raw).nr_topts).cast(),
        )
    }
}

/// The flags of the options of our tracer in `tr`; `None` if it has none there. Any context, if it is current there or
/// an iterator calls it; otherwise under `trace_types_lock`.
pub(in crate::ktrace) fn current(tr: &TraceArray) -> Option<u32> {
    // SAFETY: What was found is there as long as the tracer is available in the trace array, which is alive.
    look(tr, TRACER.load(Relaxed)).map(|flags| unsafe { (*flags).val })
}

fn look(tr: &TraceArray, tracer: *mut abi::tracer) -> Option<*mut abi::tracer_flags> {
    let (table, len) = table(tr);
    let len = len.load(Acquire).max(0) as usize;
    let table = table.load(Acquire);
    for at in 0..len {
        // SAFETY: There are so many in the table; see the module's comment for how long it is there. What the kernel made
        // for a tracer without options has one file that points nowhere.
        let (whose, flags) = unsafe {
            let place = table.add(at);
            ((*place).tracer, (*(*place).topts).flags)
        };
        if whose == tracer && !flags.is_null() {
            return Some(flags);
        }
    }
    None
}

/// The flags of `tracer` in `tr`, if it has some there.
pub(in crate::ktrace) fn find(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    _: &TypesLock,
) -> Option<*mut abi::tracer_flags> {
    TRACER.store(tracer, Relaxed);
    look(tr, tracer)
}

/// Gives `tracer` such flags in `tr`, in the `room` behind its files.
///
/// # Errors
///
/// None.
///
/// # Safety
///
/// There must be room for it, which belongs to nobody else.
pub(in crate::ktrace) unsafe fn provide(
    _: &TraceArray,
    _: *mut abi::tracer,
    value: abi::tracer_flags,
    room: *mut abi::tracer_flags,
    _: &TypesLock,
) -> Result<*mut abi::tracer_flags> {
    // SAFETY: By the precondition.
    unsafe { room.write(value) };
    Ok(room)
}

/// Puts `files` into the table of option files of `tr`, where our tracer has none and so is not current. May sleep.
///
/// # Errors
///
/// `ENOMEM`
///
/// # Safety
///
/// `files` must come from the kernel's `kmalloc()` and belong to nobody else: the kernel frees it with the trace array.
/// The first must point to its flags.
pub(in crate::ktrace) unsafe fn publish(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    files: *mut abi::trace_option_dentry,
    _n: usize,
    _: &TypesLock,
) -> Result {
    let (table, len) = table(tr);
    let old = table.load(Relaxed);
    let old_len = len.load(Relaxed).max(0) as usize;
    let size = size_of::<abi::trace_options>().wrapping_mul(old_len.wrapping_add(1));
    // SAFETY: No preconditions; may sleep. The kernel frees it by `kfree()`, as what it made itself.
    let new: *mut abi::trace_options = unsafe { ktrace_zalloc(size) }.cast();
    if new.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: Fresh memory for one more than there are; the lock guards the old table.
    unsafe {
        if old_len > 0 {
            new.copy_from_nonoverlapping(old, old_len);
        }
        new.add(old_len).write(abi::trace_options {
            tracer,
            topts: files,
        });
    }
    table.store(new, Release);
    len.store(old_len.wrapping_add(1) as i32, Release);
    // SAFETY: The kernel's, from the same allocator. Who looks at it holds the lock, as we do: the tracer was not
    // current there, so nobody prints.
    unsafe { bindings::kfree(old.cast()) };
    Ok(())
}

/// Takes `tracer` from `tr`: all that it had there went with its files.
pub(in crate::ktrace) fn remove(_: &TraceArray, _: *mut abi::tracer, _: &TypesLock) {}
