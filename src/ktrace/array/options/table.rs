// SPDX-License-Identifier: GPL-2.0

//! The flags of a tracer's options next to its option files, which are in the table of each trace
//! array (`tr->topts`).
//!
//! # Lifetimes
//!
//! Files and flags are in one allocation, which the kernel frees together with the trace array.
//!
//! Output functions look up the flags without a lock. They may do so while our tracer is current in
//! the trace array, or while an iterator that calls our tracer is open. Neither is the case before
//! the tracer has flags there or after it was removed. In between, the table is not replaced and
//! its entries do not move: the kernel replaces it only when it creates an instance and at boot,
//! and [`publish`] when it gives the tracer its flags.

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

use crate::ktrace::private::zalloc::ktrace_zalloc;
use crate::ktrace::{
    array::trace_array::{
        TraceArray,
        TypesLock, //
    },
    private::abi,
    sync::atomic::AtomicPtr, //
};

/// The tracer of this module. [`find`] sets it, with the lock held.
static TRACER: AtomicPtr<abi::tracer> = AtomicPtr::null();

/// Returns the table of a trace array and its length, both as atomics.
fn table(tr: &TraceArray) -> (&AtomicPtr<abi::trace_options>, &Atomic<i32>) {
    let raw = tr.as_ptr();
    // SAFETY: By the invariant of `TraceArray`, it is alive; both members have the size and
    // alignment of the atomic types.
    unsafe {
        (
            &*addr_of_mut!((*raw).topts).cast(),
            &*addr_of_mut!((*raw).nr_topts).cast(),
        )
    }
}

/// Returns the flags of the options of our tracer in `tr`, or `None` if it has none there. Any
/// context, if the tracer is current there or an open iterator calls it; otherwise the caller must
/// hold `trace_types_lock`.
pub(in crate::ktrace) fn current(tr: &TraceArray) -> Option<u32> {
    // SAFETY: The flags exist as long as the tracer is available in the trace array, which is
    // alive.
    look(tr, TRACER.load(Relaxed)).map(|flags| unsafe { (*flags).val })
}

fn look(tr: &TraceArray, tracer: *mut abi::tracer) -> Option<*mut abi::tracer_flags> {
    let (table, len) = table(tr);
    let len = len.load(Acquire).max(0) as usize;
    let table = table.load(Acquire);
    for at in 0..len {
        // SAFETY: `at` is less than the length of the table; the module documentation says how long
        // the table stays valid. The kernel's entry for a tracer without options has one file,
        // whose `flags` is null.
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

/// Returns the flags of `tracer` in `tr`, if it has flags there.
pub(in crate::ktrace) fn find(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    _: &TypesLock,
) -> Option<*mut abi::tracer_flags> {
    TRACER.store(tracer, Relaxed);
    look(tr, tracer)
}

/// Stores flags with `value` for `tracer` in the `room` next to its option files.
///
/// # Errors
///
/// Never fails.
///
/// # Safety
///
/// `room` must be valid memory for flags that nothing else uses.
pub(in crate::ktrace) unsafe fn provide(
    _: &TraceArray,
    _: *mut abi::tracer,
    value: abi::tracer_flags,
    room: *mut abi::tracer_flags,
    _: &TypesLock,
) -> Result<*mut abi::tracer_flags> {
    // SAFETY: The caller guarantees that `room` is valid for the flags and otherwise unused.
    unsafe { room.write(value) };
    Ok(room)
}

/// Adds `files` to the table of option files of `tr`. Our tracer must have no files there yet, so
/// that it is not current. May sleep.
///
/// # Errors
///
/// `ENOMEM` if memory is short.
///
/// # Safety
///
/// `files` must come from the kernel's `kmalloc()`, and nothing else may own it: the kernel frees
/// it together with the trace array. Its first element must point to the flags.
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
    // SAFETY: No preconditions; sleeping is allowed here. The kernel frees it with `kfree()`, like
    // the tables that it allocates itself.
    let new: *mut abi::trace_options = unsafe { ktrace_zalloc(size) }.cast();
    if new.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: `new` has room for one more entry than the old table, which the lock protects.
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
    // SAFETY: The old table is from the same allocator. Code that reads it holds the lock, as this
    // code does: the tracer was not current there, so no output function reads it.
    unsafe { bindings::kfree(old.cast()) };
    Ok(())
}

/// Removes `tracer` from `tr`. Does nothing: its flags were removed together with its option files.
pub(in crate::ktrace) fn remove(_: &TraceArray, _: *mut abi::tracer, _: &TypesLock) {}
