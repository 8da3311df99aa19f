// SPDX-License-Identifier: GPL-2.0

//! Flags in the list of tracers that each trace array has (`tr->tracers`).

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

use crate::ktrace::{
    abi, list,
    trace_array::{
        TraceArray,
        TypesLock, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_zalloc(size: usize) -> *mut c_void;
    fn ktrace_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
}

/// The flags of the options of the current tracer of `tr`, which is ours or about to be; `None` if it has no options
/// there. Any context.
///
/// Who prints may come when the current tracer is another one already (`s_start()` lets go of the lock): these are its
/// flags then, and the head of that one trace has the wrong columns.
pub(in crate::ktrace) fn current(tr: &TraceArray) -> Option<u32> {
    // SAFETY: Alive, by the type's invariant. The pointer is null or to flags that live as long
    // as the tracer is registered, and its table ends with an option without a name.
    unsafe {
        let flags = addr_of!((*tr.as_ptr()).current_trace_flags).read_volatile();
        let flags = flags.as_ref()?;
        let first = flags.opts.as_ref()?;
        (!first.name.is_null()).then_some(flags.val)
    }
}

/// The flags of `tracer` in `tr`, if it has some there, and files that belong to them.
pub(in crate::ktrace) fn find(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    lock: &TypesLock,
) -> Option<*mut abi::tracer_flags> {
    let entry = entry(tr, tracer, lock)?;
    // SAFETY: An element of the trace array's list, which the lock guards.
    let flags = unsafe { (*entry).flags };
    (!flags.is_null() && is_published(tr, tracer, lock)).then_some(flags)
}

/// Whether the table of option files of `tr` has a place for `tracer`.
fn is_published(tr: &TraceArray, tracer: *mut abi::tracer, _: &TypesLock) -> bool {
    let raw = tr.as_ptr();
    // SAFETY: The trace array is alive, and the lock guards its table, which has so many places.
    unsafe {
        let len = (*raw).nr_topts.max(0) as usize;
        (0..len).any(|at| (*(*raw).topts.add(at)).tracer == tracer)
    }
}

/// Gives `tracer` such flags in `tr`, unless it has some, and makes it available there. The kernel frees them with the
/// trace array. May sleep.
///
/// # Errors
///
/// `ENOMEM`
///
/// # Safety
///
/// There must be `room` for flags, which belongs to nobody else: where the flags lie with the files ([`super`]), they
/// are written there. Here they are not.
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
    // What was not published for want of memory. Somebody may have made this the current tracer since, with them.
    // SAFETY: An element of the trace array's list, which the lock guards.
    let before = unsafe { (*entry).flags };
    if !before.is_null() {
        return Ok(before);
    }
    // SAFETY: No preconditions; may sleep. The kernel frees it by `kfree()` with the entry.
    let flags = unsafe { ktrace_zalloc(size_of::<abi::tracer_flags>()) };
    let flags: *mut abi::tracer_flags = flags.cast();
    if flags.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: Fresh memory of the right size; an element of the trace array's list, which the lock guards. The tracer
    // is not current there: nobody can make it so before it has options.
    unsafe {
        flags.write(value);
        (*entry).flags = flags;
    }
    Ok(flags)
}

/// Puts `files`, `n` of them, into the table of option files of `tr`. May sleep.
///
/// # Errors
///
/// `ENOMEM`
///
/// # Safety
///
/// `files` must come from the kernel's `kmalloc()` and belong to nobody else: the kernel frees it with the trace array.
pub(in crate::ktrace) unsafe fn publish(
    tr: &TraceArray,
    tracer: *mut abi::tracer,
    files: *mut abi::trace_option_dentry,
    // Some kernels want to know.
    #[cfg_attr(not(has_trace_options_nr_topts), allow(unused_variables))] n: usize,
    _: &TypesLock,
) -> Result {
    let raw = tr.as_ptr();
    // SAFETY: The trace array is alive, the lock guards its table of options, and both are
    // grown and freed by the kernel with the same functions.
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

/// Takes `tracer` and its flags from `tr`, where it must be current no longer.
pub(in crate::ktrace) fn remove(tr: &TraceArray, tracer: *mut abi::tracer, lock: &TypesLock) {
    if let Some(entry) = entry(tr, tracer, lock) {
        // SAFETY: An element of the list that the lock guards. The tracer is current nowhere
        // (that would hold the module), so nobody uses its flags.
        unsafe {
            list::del(addr_of_mut!((*entry).list));
            bindings::kfree((*entry).flags.cast());
            bindings::kfree(entry.cast());
        }
    }
}

/// The element of this tracer on the list of `tr`.
fn entry(tr: &TraceArray, tracer: *mut abi::tracer, _: &TypesLock) -> Option<*mut abi::tracers> {
    let mut found = None;
    // SAFETY: The trace array is alive, and the lock guards its list.
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
    // SAFETY: No preconditions; may sleep. The kernel frees it by `kfree()` when the trace
    // array goes.
    let entry: *mut abi::tracers = unsafe { ktrace_zalloc(size_of::<abi::tracers>()) }.cast();
    if entry.is_null() {
        return Err(ENOMEM);
    }
    // SAFETY: Fresh memory of the right size; the lock guards the list.
    unsafe {
        (*entry).tracer = tracer;
        list::add(
            addr_of_mut!((*tr.as_ptr()).tracers),
            addr_of_mut!((*entry).list),
        );
    }
    Ok(entry)
}
