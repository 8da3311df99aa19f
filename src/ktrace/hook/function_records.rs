// SPDX-License-Identifier: GPL-2.0

//! Writes the records of the function tracer: function entries and stack traces.
//!
//! C header: `kernel/trace/trace_entries.h`.

use core::{
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::prelude::*;

use super::{
    ftrace_ops::FunctionCall,
    stack_depth::{
        is_in_function,
        stack_trace_save, //
    },
};
use crate::ktrace::{
    private::abi,
    record::{
        context::MAX_ARGS,
        put,
        stack::{
            write_stack,
            MAX_FRAMES, //
        },
        NotWritten,
        Reservation, //
    },
};

/// Writes a record of the function tracer (`TRACE_FN`), with the first `words` arguments of the
/// call. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
#[inline]
pub fn function(call: &FunctionCall<'_>, words: usize) -> Result<(), NotWritten> {
    let parent_ip = call.parent_ip();
    let words = words.min(MAX_ARGS);
    let len = size_of::<abi::ftrace_entry>() + words * size_of::<c_ulong>();
    let record = Reservation::new(call.tr(), abi::trace_type_TRACE_FN, len, call.context)?;
    let entry: *mut abi::ftrace_entry = record.entry.cast();
    // SAFETY: The reservation has room for the entry and for `words` arguments after it. It is
    // aligned to four bytes.
    unsafe {
        put(addr_of_mut!((*entry).ip), call.ip as c_ulong);
        put(addr_of_mut!((*entry).parent_ip), parent_ip as c_ulong);
        let first: *mut c_ulong = addr_of_mut!((*entry).args).cast();
        for n in 0..words {
            put(first.add(n), call.argument(n) as c_ulong);
        }
    }
    Ok(())
}

/// Writes the kernel stack in the format of the kernel's stack traces (`TRACE_STACK`), from the
/// traced function on. Returns true if the stack was too deep for a record. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
pub fn stack(call: &FunctionCall<'_>) -> Result<bool, NotWritten> {
    let mut frames = [0 as c_ulong; MAX_FRAMES];
    // SAFETY: Writes at most `MAX_FRAMES` words to the array, which has as many.
    let n = unsafe { stack_trace_save(frames.as_mut_ptr(), MAX_FRAMES as c_uint, 0) };
    let all = frames.get(..n as usize).unwrap_or(&[]);
    // The trace begins with frames of ftrace's trampoline and of this module; their number depends
    // on the architecture and the unwinder.
    let is_called = |&frame: &c_ulong| is_in_function(frame, call.ip);
    let first = all.iter().position(is_called).unwrap_or(0);
    let shown = all.get(first..).unwrap_or(all);

    write_stack(call.tr(), call.context, shown)?;
    Ok(all.len() == MAX_FRAMES)
}
