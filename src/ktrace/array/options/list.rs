// SPDX-License-Identifier: GPL-2.0

//! The flags of a tracer's options in the list of tracers of a trace array (`tr->tracers`).

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut, //
    },
};

use kernel::{
    bindings,
    prelude::*, //
};

use crate::ktrace::private::zalloc::ktrace_zalloc;
use crate::ktrace::{
    array::trace_array::{
        TraceArray,
        TypesLock, //
    },
    private::{
        abi,
        list, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
}

/// Returns the flags of the options of the current tracer of `tr`, or `None` if it has no options
/// there. The current tracer should be ours, or be about to become current. Any context.
///
/// A reader of `trace` may call this when another tracer has already become current, because
/// `s_start()` releases the lock. Then this returns the flags of that tracer, and the header of
/// this one output has the wrong columns.
pub(in crate::ktrace) fn current(tr: &TraceArray) -> Option<u32> {
    // SAFETY: By the invariant of `TraceArray`, it is alive. The pointer is null or points to flags
    // that exist while the tracer is registered; their table ends with an option without a name.
    unsafe {
        let flags = addr_of!((*tr.as_ptr()).current_trace_flags).read_volatile();
        let flags = flags.as_ref()?;
        let first = flags.opts.as_ref()?;
        (!first.name.is_null()).then_some(flags.val)
    }
}

/// Returns the flags of `tracer` in `tr`, if there are flags and option files for them.
pub(in crate::ktrace) fn find(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    lock: &TypesLock,
) -> Option<*mut abi::tracer_flags> {
    let entry = entry(tr, tracer, lock)?;
    // SAFETY: This is an element of the trace array's list, which the lock protects.
    let flags = unsafe { (*entry).flags };
    (!flags.is_null() && is_published(tr, tracer, lock)).then_some(flags)
}

/// Returns whether the table of option files of `tr` has an entry for `tracer`.
fn is_published(tr: &TraceArray, tracer: *mut abi::tracer, _: &TypesLock) -> bool {
    let raw = tr.as_ptr();
    // SAFETY: The trace array is alive, and the lock protects its table, which has `nr_topts`
    // entries.
    unsafe {
        let len = (*raw).nr_topts.max(0) as usize;
        (0..len).any(|at| (*(*raw).topts.add(at)).tracer == tracer)
    }
}

/// Creates flags with `value` for `tracer` in `tr`, unless there are flags already, and makes the
/// tracer available there. Returns the flags, which the kernel frees together with the trace array.
/// May sleep.
///
/// # Errors
///
/// `ENOMEM` if memory is short.
///
/// # Safety
///
/// `_room` must be valid memory for flags that nothing else uses. This variant does not use it; the
/// other one stores the flags there ([`super`]).
pub(in crate::ktrace) unsafe fn provide(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    value: abi::tracer_flags,
    _room: *mut abi::tracer_flags,
    lock: &TypesLock,
) -> Result<*mut abi::tracer_flags> {
    let entry = match entry(tr, tracer, lock) {
        Some(entry) => entry,
        None => add_entry(tr, tracer, lock)?,
    };
    // Flags remain from an earlier attempt, in which `publish()` ran out of memory. The tracer may
    // have become current with them in the meantime.
    // SAFETY: This is an element of the trace array's list, which the lock protects.
    let before = unsafe { (*entry).flags };
    if !before.is_null() {
        return Ok(before);
    }
    // SAFETY: No preconditions; sleeping is allowed here. The kernel frees it with `kfree()`
    // together with the entry.
    let flags = unsafe { ktrace_zalloc(size_of::<abi::tracer_flags>()) };
    let flags: *mut abi::tracer_flags = flags.cast();
    if flags.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: `flags` is new memory of the right size, and `entry` an element of the trace array's
    // list, which the lock protects. The tracer is not current there: it cannot become current
    // before it has options.
    unsafe {
        flags.write(value);
        (*entry).flags = flags;
    }
    Ok(flags)
}

/// Adds `files`, an array of `n` elements, to the table of option files of `tr`. May sleep.
///
/// # Errors
///
/// `ENOMEM` if memory is short.
///
/// # Safety
///
/// `files` must come from the kernel's `kmalloc()`, and nothing else may own it: the kernel frees
/// it together with the trace array.
pub(in crate::ktrace) unsafe fn publish(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    files: *mut abi::trace_option_dentry,
    // Only some kernels store the number of files.
    #[cfg_attr(not(has_trace_options_nr_topts), allow(unused_variables))] n: usize,
    _: &TypesLock,
) -> Result {
    let raw = tr.as_ptr();
    // SAFETY: The trace array is alive, and the lock protects its table of options. The kernel
    // itself grows and frees the table with the same functions.
    unsafe {
        let len = (*raw).nr_topts.max(0) as usize;
        let size = size_of::<abi::trace_options>().wrapping_mul(len.wrapping_add(1));
        let table: *mut abi::trace_options = ktrace_realloc((*raw).topts.cast(), size).cast();
        if table.is_null() {
            return Err(ENOMEM);
        }
        (*raw).topts = table;
        table.add(len).write(abi::trace_options {
            tracer,
            topts: files,
            #[cfg(has_trace_options_nr_topts)]
            nr_topts: n as c_int,
        });
        (*raw).nr_topts = len.wrapping_add(1) as c_int;
    }
    Ok(())
}

/// Removes `tracer` and its flags from `tr`. It must not be the current tracer there any more.
pub(in crate::ktrace) fn remove(tr: &TraceArray, tracer: *mut abi::tracer, lock: &TypesLock) {
    if let Some(entry) = entry(tr, tracer, lock) {
        // SAFETY: This is an element of the list that the lock protects. The tracer is current in
        // no trace array (that would hold a reference to the module), so its flags are unused.
        unsafe {
            list::del(addr_of_mut!((*entry).list));
            bindings::kfree((*entry).flags.cast());
            bindings::kfree(entry.cast());
        }
    }
}

/// Returns the element of `tracer` in the list of `tr`.
fn entry(tr: &TraceArray, tracer: *mut abi::tracer, _: &TypesLock) -> Option<*mut abi::tracers> {
    let mut found = None;
    // SAFETY: The trace array is alive, and the lock protects its list.
    unsafe {
        list::for_each(addr_of_mut!((*tr.as_ptr()).tracers), |at| {
            let entry: *mut abi::tracers = kernel::container_of!(at, abi::tracers, list);
            if (*entry).tracer == tracer {
                found = Some(entry);
            }
        });
    }
    found
}

fn add_entry(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    _: &TypesLock,
) -> Result<*mut abi::tracers> {
    // SAFETY: No preconditions; sleeping is allowed here. The kernel frees it with `kfree()`
    // together with the trace array.
    let entry: *mut abi::tracers = unsafe { ktrace_zalloc(size_of::<abi::tracers>()) }.cast();
    if entry.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: `entry` is new memory of the right size, and the lock protects the list.
    unsafe {
        (*entry).tracer = tracer;
        list::add(
            addr_of_mut!((*tr.as_ptr()).tracers),
            addr_of_mut!((*entry).list),
        );
    }
    Ok(entry)
}
