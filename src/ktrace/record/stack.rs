// SPDX-License-Identifier: GPL-2.0

//! Records of kernel stacks, in the format of the kernel's own stack traces (`TRACE_STACK`).
//!
//! C headers: `include/linux/stacktrace.h`, `kernel/trace/trace_entries.h`.

use core::{
    mem::{
        size_of,
        size_of_val, //
    },
    ptr::addr_of_mut, //
};

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    context::Context,
    put,
    NotWritten,
    Reservation, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::{
        abi,
        modules::is_in_this_module, //
    },
    task::Task, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn stack_trace_save_tsk(
        task: *mut bindings::task_struct,
        store: *mut c_ulong,
        size: c_uint,
        skip: c_uint,
    ) -> c_uint;
}

/// Maximum number of frames in a stack trace.
pub(in crate::ktrace) const MAX_FRAMES: usize = 64;

/// Writes a record with these frames, the innermost one first. Preemption must be off. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
pub(in crate::ktrace) fn write_stack(
    tr: &TraceArray,
    context: Context,
    frames: &[c_ulong],
) -> Result<(), NotWritten> {
    let len = size_of::<abi::stack_entry>() + size_of_val(frames);
    let record = Reservation::new(tr, abi::trace_type_TRACE_STACK, len, context)?;
    let entry: *mut abi::stack_entry = record.entry.cast();
    // SAFETY: The reservation has room for the entry and the frames after it, and is aligned to
    // four bytes.
    unsafe {
        put(addr_of_mut!((*entry).size), frames.len() as c_int);
        let first: *mut c_ulong = addr_of_mut!((*entry).caller).cast();
        for (n, frame) in frames.iter().enumerate() {
            put(first.add(n), *frame);
        }
    }
    Ok(())
}

/// Writes the kernel stack of a task: of the current one without the frames of this module, or of
/// one that is not running. Returns true if the stack was too deep for a record. Preemption must be
/// off. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
pub fn task_stack(tr: &TraceArray, context: Context, task: Task<'_>) -> Result<bool, NotWritten> {
    let mut frames = [0 as c_ulong; MAX_FRAMES];
    // SAFETY: The task is alive. The function holds a reference to its stack while it unwinds it,
    // and writes at most `MAX_FRAMES` words to the array, which has as many.
    let n = unsafe {
        stack_trace_save_tsk(task.as_ptr(), frames.as_mut_ptr(), MAX_FRAMES as c_uint, 0)
    };
    let all = frames.get(..n as usize).unwrap_or(&[]);
    let own = all.iter().take_while(|frame| is_in_this_module(**frame));
    let shown = all.get(own.count()..).unwrap_or(all);
    write_stack(tr, context, shown)?;
    Ok(all.len() == MAX_FRAMES)
}
