// SPDX-License-Identifier: GPL-2.0

//! Contains the callbacks of `struct tracer`, with which the kernel calls a [`Tracer`].
//!
//! C header: `kernel/trace/trace.h`.
//!
//! # Lifetimes
//!
//! `struct tracer` has no owner, so this module counts references to itself: one for each trace
//! array whose current tracer this is, and one for each iterator (an open `trace` or `trace_pipe`)
//! that may call it. All callbacks that put a reference are called under `trace_types_lock`, and
//! unregistering takes that lock. So the code after the last `module_put()` still exists when it
//! runs.

use kernel::{
    bindings,
    error::from_result,
    prelude::*, //
};

use super::print_compact::ktrace_irqs_disabled;
use super::{
    readings::{
        give_readings,
        is_file,
        take_readings, //
    },
    tracer::{
        TraceHeader,
        Tracer, //
    },
};
use crate::ktrace::{
    array::{
        instances,
        module_state,
        trace_array::TraceArray, //
    },
    private::{
        abi,
        symbols::{
            this_module,
            Data, //
        },
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_trace_default_header(file: *mut abi::seq_file);
    fn ktrace_call_print_graph_headers_flags(file: *mut abi::seq_file, flags: u32);
    fn ktrace_open_by(
        fops: *const bindings::file_operations,
        inode: *mut bindings::inode,
        file: *mut bindings::file,
    ) -> c_int;
}

/// Opens an option file. Fails with `ENODEV` before the module's initialization has succeeded.
///
/// # Safety
///
/// Only for the VFS: `inode` must be that of an option file, and `file` one that is being opened.
pub(super) unsafe extern "C" fn open_option(
    inode: *mut bindings::inode,
    file: *mut bindings::file,
) -> c_int {
    from_result(|| {
        module_state::check()?;
        // SAFETY: The kernel's constant table of operations for option files, found by its name,
        // which has `open`. The arguments are what the VFS has passed.
        Ok(unsafe { ktrace_open_by(Data::OptionFops.as_ptr(), inode, file) })
    })
}

/// Returns the trace array of a callback.
///
/// # Safety
///
/// Only for callbacks of `struct tracer`: the kernel calls them under `trace_types_lock`, with a
/// trace array on its list, or with one that it has just taken off the list and frees after that
/// (`reset()` when it is removed). The result must not be used after the callback.
unsafe fn given<'a>(tr: *mut abi::trace_array) -> &'a TraceArray {
    // SAFETY: `tr` is alive until the callback returns, as the caller guarantees.
    unsafe { TraceArray::from_raw(tr) }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `tr` must be on its list of trace arrays,
/// and `trace_types_lock` must be held.
pub(super) unsafe extern "C" fn init<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    from_result(|| {
        // SAFETY: Called by `tracing_set_tracer()`, with a trace array on its list.
        let tr = unsafe { given(tr) };
        module_state::check()?;
        // SAFETY: The module is the one whose code this is. Fails if it is being removed.
        if !unsafe { bindings::try_module_get(this_module()) } {
            return Err(ENODEV);
        }
        instances::look_again();
        // Without flags, `attach_instance()` was not called for this instance yet, or failed. Calls
        // would be recorded with other options than those that the instance gets later.
        let flags = tr.current_flags().ok_or(EAGAIN);
        if let Err(error) = flags.and_then(|flags| T::init(tr, flags)) {
            release_current();
            return Err(error);
        }
        Ok(0)
    })
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `init()` must have succeeded for `tr`,
/// which may be freed after this, and `trace_types_lock` must be held.
pub(super) unsafe extern "C" fn reset<T: Tracer>(tr: *mut abi::trace_array) {
    // SAFETY: Called when the tracer stops being the current one of `tr`, which is alive until this
    // returns.
    T::reset(unsafe { given(tr) });
    release_current();
}

/// Puts the module reference of `init()`.
fn release_current() {
    // SAFETY: `init()` took the reference. The code after `module_put()` exists until
    // `trace_types_lock` is released: see the module documentation.
    unsafe { bindings::module_put(this_module()) };
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `tr` must be on its list of trace arrays,
/// and `trace_types_lock` must be held.
pub(super) unsafe extern "C" fn set_flag<T: Tracer>(
    tr: *mut abi::trace_array,
    old: u32,
    bit: u32,
    set: c_int,
) -> c_int {
    from_result(|| {
        let flags = if set != 0 { old | bit } else { old & !bit };
        // SAFETY: Called for a write to an option file or to `trace_options` of `tr`, which is on
        // the list.
        T::set_options(unsafe { given(tr) }, flags)?;
        Ok(0)
    })
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `init()` must have succeeded for `tr`,
/// and `trace_types_lock` must be held.
pub(super) unsafe extern "C" fn update_thresh<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    // SAFETY: Called for a write to `tracing_thresh`, which is a file of the top trace array.
    T::thresh_changed(unsafe { given(tr) });
    0
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must be valid, and its tracer must
/// be this one.
pub(super) unsafe extern "C" fn open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // The iterator of kdb (`kdb_ftdump()`) is never closed either, but has per-CPU iterators, which
    // it keeps for the next time. The machine is stopped then, with interrupts off: no memory may
    // be allocated. A file is opened with a mutex held, so with interrupts on.
    // SAFETY: `ktrace_irqs_disabled()` has no preconditions.
    let irqs_disabled = unsafe { ktrace_irqs_disabled() };
    // SAFETY: `iter` is valid, and `private` belongs to the tracer. A file is opened under
    // `trace_types_lock`, and this tracer is current in its trace array, so the module has a
    // reference already.
    unsafe {
        if is_file(iter) && !irqs_disabled {
            bindings::__module_get(this_module());
            give_readings::<T>(iter);
        } else {
            (*iter).private = core::ptr::null_mut();
        }
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must have been passed to `open()`.
pub(super) unsafe extern "C" fn close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` was passed to `open()`, which took the reference and stored the state.
    unsafe {
        if is_file(iter) {
            take_readings::<T>(iter);
            bindings::module_put(this_module());
        }
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must be valid, and its tracer must
/// be this one.
pub(super) unsafe extern "C" fn pipe_open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` is valid and has no state yet. The tracer is current in its trace array, under
    // `trace_types_lock`, so the module has a reference already.
    unsafe {
        bindings::__module_get(this_module());
        give_readings::<T>(iter);
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must have been passed to
/// `pipe_open()`.
pub(super) unsafe extern "C" fn pipe_close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` was passed to `pipe_open()`, which took the reference and stored the state.
    unsafe {
        take_readings::<T>(iter);
        bindings::module_put(this_module());
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `file` must be that of an iterator whose
/// tracer is this one.
pub(super) unsafe extern "C" fn print_header<T: Tracer>(file: *mut abi::seq_file) {
    // SAFETY: The private data of the file is the iterator (`s_show()`), which is valid.
    unsafe {
        let iter: *mut abi::trace_iterator = (*file.cast::<bindings::seq_file>()).private.cast();
        let tr = given((*iter).tr);
        match T::head(tr.current_flags().unwrap_or(0)) {
            TraceHeader::Default => ktrace_call_trace_default_header(file),
            TraceHeader::Graph(columns) => {
                ktrace_call_print_graph_headers_flags(file, columns.flags())
            }
        }
    }
}
