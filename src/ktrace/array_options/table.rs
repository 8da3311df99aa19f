// SPDX-License-Identifier: GPL-2.0

//! Flags that lie behind the option files of a tracer, in the table that each trace array has (`tr->topts`).
//!
//! # Lifetimes
//!
//! Files and flags are one piece of memory, which the kernel frees with the trace array.
//!
//! Whoever prints looks for the flags without a lock. While they can, with our tracer current in that trace array or an
//! iterator open that calls it, nobody but [`publish`] puts another table in place of the one they look through (the
//! kernel does when it makes an instance, and at boot), and frees the old one only once nobody looks at it any more.

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
    task::synchronize_tasks,
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

/// The flags of the options of our tracer in `tr`. Any context.
pub(in crate::ktrace) fn current(tr: &TraceArray) -> u32 {
    // SAFETY: What was found is there as long as the tracer is available in the trace array, which is alive.
    look(tr, TRACER.load(Relaxed)).map_or(0, |flags| unsafe { (*flags).val })
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

/// Puts `files` into the table of option files of `tr`. May sleep, for tens of milliseconds if our tracer is current
/// there already.
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
    // SAFETY: The lock guards it.
    if unsafe { (*tr.as_ptr()).current_trace } == tracer {
        synchronize_tasks();
    }
    // SAFETY: The kernel's, from the same allocator; nobody looks at it any more.
    unsafe { bindings::kfree(old.cast()) };
    Ok(())
}

/// Takes `tracer` from `tr`: all that it had there went with its files.
pub(in crate::ktrace) fn remove(_: &TraceArray, _: *mut abi::tracer, _: &TypesLock) {}
