// SPDX-License-Identifier: GPL-2.0

//! Writes and reads records in the formats of the kernel's own tracers, so that programs that read
//! those records can read these.
//!
//! C headers: `include/linux/ring_buffer.h`, `kernel/trace/trace_entries.h`.

pub(in crate::ktrace) mod compressed_delta;
pub mod context;
pub mod marker_export;
pub mod stack;

use core::{
    mem::{
        align_of,
        size_of, //
    },
    ptr::addr_of_mut, //
};

use kernel::{
    cpu::CpuId,
    prelude::*, //
};

use super::{
    array::trace_array::TraceArray,
    private::{
        abi,
        symbols::Data, //
    },
};
use crate::ktrace::private::ring_buffer::ring_buffer_event_data;
use compressed_delta::CompressedDelta;
use context::{
    Context,
    MAX_ARGS, //
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ring_buffer_lock_reserve(
        buffer: *mut abi::trace_buffer,
        length: c_ulong,
    ) -> *mut abi::ring_buffer_event;
    fn ktrace_call_ring_buffer_record_is_on_cpu(buffer: *mut abi::trace_buffer, cpu: c_int)
        -> bool;
    fn ktrace_commit(buffer: *mut abi::trace_buffer, taskinfo_flag: c_ulong);
}

/// Writes a value to a record. On arm64, it writes whole words: Rust would write byte by byte,
/// because it assumes that unaligned accesses are forbidden.
///
/// # Safety
///
/// `place` must be valid for writing a `T`, and aligned for `T` or to four bytes, as records are.
#[inline(always)]
pub(super) unsafe fn put<T: Copy>(place: *mut T, value: T) {
    if align_of::<T>() <= align_of::<u32>() {
        // SAFETY: `place` is valid and aligned, since `T` needs no more than four bytes of
        // alignment.
        unsafe { place.write(value) }
    } else if cfg!(CONFIG_X86) {
        // SAFETY: `place` is valid for a `T`, as the caller guarantees.
        unsafe { place.write_unaligned(value) }
    } else {
        let words = (&raw const value).cast::<u32>();
        // SAFETY: `place` is valid for a `T`, as the caller guarantees. The size of a type is a
        // multiple of its alignment, which is more than four bytes here, and both addresses are
        // aligned to four bytes.
        unsafe {
            place
                .cast::<u32>()
                .copy_from_nonoverlapping(words, size_of::<T>() / size_of::<u32>());
        }
    }
}

/// Error: a record was not written, because the buffer had no room for it or was not recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotWritten;

/// Reserved space in a ring buffer, with the common header filled in.
///
/// # Invariants
///
/// `entry` points to a reservation that this CPU holds in `buffer` and that is committed on drop.
/// Preemption stays off until then.
pub(super) struct Reservation {
    buffer: *mut abi::trace_buffer,
    pub(super) entry: *mut c_void,
}

impl Reservation {
    /// Reserves `len` bytes, which must be at least the size of the common header. Preemption must
    /// be off. Any context.
    #[inline(always)]
    pub(super) fn new(
        tr: &TraceArray,
        kind: u32,
        len: usize,
        context: Context,
    ) -> Result<Self, NotWritten> {
        let buffer = tr.buffer();
        // SAFETY: The buffer belongs to a live trace array. It may be resized, reset or swapped for
        // a snapshot at any time: the function allows for that, and each of the two is a buffer of
        // this trace array.
        let event = unsafe { ring_buffer_lock_reserve(buffer, len as c_ulong) };
        if event.is_null() {
            return Err(NotWritten);
        }
        // SAFETY: `event` is a new reservation.
        let entry = unsafe { ring_buffer_event_data(event) };
        let header: *mut abi::trace_entry = entry.cast();
        // SAFETY: The reservation has room for the header with which each record begins
        // (`tracing_generic_entry_update()`), and is aligned to four bytes as the header requires.
        unsafe {
            addr_of_mut!((*header).type_).write(kind as u16);
            addr_of_mut!((*header).flags).write((context.packed >> 16) as u8);
            addr_of_mut!((*header).preempt_count).write((context.packed & 0xff) as u8);
            addr_of_mut!((*header).pid).write(context.pid);
        }
        // INVARIANT: The reservation was just made.
        Ok(Self { buffer, entry })
    }
}

impl Drop for Reservation {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: Commits the reservation that this CPU holds, by the type invariant. The flag is a
        // per-CPU `bool` of the kernel, found by its name.
        unsafe { ktrace_commit(self.buffer, Data::TaskinfoSave.address() as c_ulong) };
    }
}

/// Returns whether recording to the buffer of `tr` is enabled on this CPU (`tracing_on`,
/// `tracing_cpumask`). While it is not, a record that is not written is not lost. Preemption must
/// be off.
pub fn is_recording(tr: &TraceArray) -> bool {
    let cpu = CpuId::current().as_u32() as c_int;
    // SAFETY: Reads counters of a live buffer, for a CPU that exists.
    unsafe { ktrace_call_ring_buffer_record_is_on_cpu(tr.buffer(), cpu) }
}

/// A call in the call graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GraphEntry {
    /// The function.
    pub func: usize,
    /// Its depth.
    pub depth: i32,
}

/// Maximum number of words after the entry of a call: its arguments, and its return address.
pub const MAX_GRAPH_WORDS: usize = MAX_ARGS + 1;

/// Writes the entry of a call as the function graph tracer does (`TRACE_GRAPH_ENT`), followed by up
/// to [`MAX_GRAPH_WORDS`] words and by `late_ns`.
///
/// [`MAX_ARGS`] words are the arguments, in the kernel's format. If there is one word more, or only
/// one, the last word is the return address. `late_ns` is the time in ns between the start of the
/// call and its record, if the call did not just begin. The kernel, and programs that read its
/// records, ignore what they do not know. Preemption must be off. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
#[inline]
pub fn graph_entry(
    tr: &TraceArray,
    context: Context,
    call: GraphEntry,
    words: &[usize],
    late_ns: Option<u64>,
) -> Result<(), NotWritten> {
    let len = graph_entry_len(words, late_ns);
    let record = Reservation::new(tr, abi::trace_type_TRACE_GRAPH_ENT, len, context)?;
    // SAFETY: The reservation has room for all of that. It is aligned to four bytes.
    unsafe { fill_graph_entry(record.entry.cast(), call, words, late_ns) };
    Ok(())
}

/// Returns the length in bytes of the entry record of a call.
#[inline(always)]
pub(super) fn graph_entry_len(words: &[usize], late_ns: Option<u64>) -> usize {
    size_of::<abi::ftrace_graph_ent_entry>()
        + core::mem::size_of_val(words)
        + late_ns.map_or(0, |_| size_of::<CompressedDelta>())
}

/// Fills in the entry record of a call, except its header.
///
/// # Safety
///
/// `record` must have room for [`graph_entry_len`] bytes, and be aligned to four bytes.
#[inline(always)]
pub(super) unsafe fn fill_graph_entry(
    record: *mut u8,
    call: GraphEntry,
    words: &[usize],
    late_ns: Option<u64>,
) {
    let fixed = graph_entry_len(words, None);
    let entry: *mut abi::ftrace_graph_ent_entry = record.cast();
    // SAFETY: `record` has room for all of that and is aligned to four bytes, as the caller
    // guarantees.
    unsafe {
        let call_place = addr_of_mut!((*entry).graph_ent);
        put(addr_of_mut!((*call_place).func), call.func as c_ulong);
        #[expect(
            clippy::as_underscore,
            reason = "`long` in some kernels, `int` in others"
        )]
        put(addr_of_mut!((*call_place).depth), call.depth as _);
        let first: *mut usize = addr_of_mut!((*entry).args).cast();
        for (n, word) in words.iter().enumerate() {
            put(first.add(n), *word);
        }
        if let Some(late_ns) = late_ns {
            let place: *mut CompressedDelta = record.add(fixed).cast();
            put(place, CompressedDelta::new(late_ns));
        }
    }
}

/// The return of a call in the call graph.
#[derive(Clone, Copy)]
pub struct GraphReturn {
    /// The call.
    pub call: GraphEntry,
    /// Total number of calls of the task that found its shadow stack full.
    pub overrun: u32,
    /// The return value, if it is recorded.
    pub value: Option<usize>,
    /// Time of the call, in ns of [`super::time::clock::local_ns`].
    pub calltime_ns: u64,
    /// Time of the return, in ns of the same clock.
    pub rettime_ns: u64,
}

/// A flag after the kernel's return record: the kernel's field for the return value is not valid.
/// Only set in records that are made for printing, never in the ring buffer.
const GRAPH_NO_VALUE: u32 = 2;

/// Whether the kernel's return record has a field for the return value. If so, each record must
/// have a value.
pub const HAS_VALUE: bool = cfg!(CONFIG_FUNCTION_GRAPH_RETVAL);

/// Writes the return of a call as the function graph tracer does (`TRACE_GRAPH_RET`). Preemption
/// must be off. Any context.
///
/// # Errors
///
/// [`NotWritten`] if the buffer had no room or was not recording.
#[inline(always)]
pub fn graph_return(
    tr: &TraceArray,
    context: Context,
    ret: &GraphReturn,
) -> Result<(), NotWritten> {
    let len = graph_return_len(ret);
    let record = Reservation::new(tr, abi::trace_type_TRACE_GRAPH_RET, len, context)?;
    // SAFETY: The reservation has room for all of that. It is aligned to four bytes.
    unsafe { fill_graph_return(record.entry.cast(), ret) };
    Ok(())
}

/// Returns the length in bytes of a return record.
#[inline(always)]
pub(super) fn graph_return_len(ret: &GraphReturn) -> usize {
    let behind = match ret.value {
        Some(_) if !HAS_VALUE => size_of::<u32>() + size_of::<usize>(),
        None if HAS_VALUE => size_of::<u32>(),
        _ => 0,
    };
    size_of::<abi::ftrace_graph_ret_entry>() + behind
}

/// Fills in a return record, except its header.
///
/// # Safety
///
/// `record` must have room for [`graph_return_len`] bytes, and be aligned to four bytes.
#[inline(always)]
pub(super) unsafe fn fill_graph_return(record: *mut u8, ret: &GraphReturn) {
    let fixed = size_of::<abi::ftrace_graph_ret_entry>();
    let behind = graph_return_len(ret) - fixed;
    let value = ret.value.unwrap_or(0);
    let entry: *mut abi::ftrace_graph_ret_entry = record.cast();
    // SAFETY: `record` has room for all of that and is aligned to four bytes, as the caller
    // guarantees.
    unsafe {
        let about = addr_of_mut!((*entry).ret);
        put(addr_of_mut!((*about).func), ret.call.func as c_ulong);
        #[cfg(CONFIG_FUNCTION_GRAPH_RETVAL)]
        put(addr_of_mut!((*about).retval), value as c_ulong);
        put(addr_of_mut!((*about).depth), ret.call.depth);
        put(addr_of_mut!((*about).overrun), ret.overrun);
        put(addr_of_mut!((*entry).calltime), ret.calltime_ns);
        put(addr_of_mut!((*entry).rettime), ret.rettime_ns);
        if behind != 0 {
            let place: *mut u32 = record.add(fixed).cast();
            let no_value = match ret.value {
                None => GRAPH_NO_VALUE,
                Some(_) => 0,
            };
            put(place, no_value);
            if behind > size_of::<u32>() {
                put(place.add(1).cast::<usize>(), value);
            }
        }
    }
}

/// Reads a record of [`graph_entry`], and copies its words to `words`. Returns the call, the number
/// of words, and the time in ns between the start of the call and its record. `None` if the record
/// is too short.
///
/// # Safety
///
/// `record` must have `len` readable bytes.
pub(super) unsafe fn read_graph_entry(
    record: *const u8,
    len: usize,
    words: &mut [usize; MAX_GRAPH_WORDS],
) -> Option<(GraphEntry, usize, u64)> {
    let fixed = size_of::<abi::ftrace_graph_ent_entry>();
    if len < fixed {
        return None;
    }
    // SAFETY: There are at least `fixed` bytes, as the caller guarantees and as was just checked.
    // The value is read unaligned.
    let entry = unsafe {
        record
            .cast::<abi::ftrace_graph_ent_entry>()
            .read_unaligned()
    };
    let n = len.saturating_sub(fixed) / size_of::<usize>();
    let n = n.min(MAX_GRAPH_WORDS);
    for (i, word) in words.iter_mut().take(n).enumerate() {
        // SAFETY: The word is within the `len` bytes of the record.
        *word = unsafe { record.add(fixed).cast::<usize>().add(i).read_unaligned() };
    }
    let end = fixed + n * size_of::<usize>();
    let mut late_ns = 0;
    if len >= end + size_of::<CompressedDelta>() {
        // SAFETY: The value is within the `len` bytes of the record.
        late_ns = unsafe { record.add(end).cast::<CompressedDelta>().read_unaligned() }.ns();
    }
    let call = entry.graph_ent;
    let (func, depth) = (call.func, call.depth);
    let call = GraphEntry {
        func,
        depth: depth as i32,
    };
    Some((call, n, late_ns))
}

/// Reads a record of [`graph_return`]. `None` if it is too short.
///
/// # Safety
///
/// `record` must have `len` readable bytes.
pub(super) unsafe fn read_graph_return(record: *const u8, len: usize) -> Option<GraphReturn> {
    let fixed = size_of::<abi::ftrace_graph_ret_entry>();
    if len < fixed {
        return None;
    }
    // SAFETY: There are at least `fixed` bytes, as the caller guarantees and as was just checked.
    let entry = unsafe {
        record
            .cast::<abi::ftrace_graph_ret_entry>()
            .read_unaligned()
    };
    let behind = len.saturating_sub(fixed);
    let mut flags = 0;
    #[cfg(CONFIG_FUNCTION_GRAPH_RETVAL)]
    let mut value = Some({ entry.ret.retval } as usize);
    #[cfg(not(CONFIG_FUNCTION_GRAPH_RETVAL))]
    let mut value = None;
    if behind >= size_of::<u32>() {
        // SAFETY: The value is within the `len` bytes of the record.
        flags = unsafe { record.add(fixed).cast::<u32>().read_unaligned() };
    }
    if behind >= size_of::<u32>() + size_of::<usize>() {
        // SAFETY: The value is within the `len` bytes of the record.
        value = Some(unsafe { record.add(fixed + 4).cast::<usize>().read_unaligned() });
    }
    if flags & GRAPH_NO_VALUE != 0 {
        value = None;
    }
    let about = entry.ret;
    let (func, depth, overrun) = (about.func, about.depth, about.overrun);
    Some(GraphReturn {
        call: GraphEntry { func, depth },
        overrun,
        value,
        calltime_ns: entry.calltime,
        rettime_ns: entry.rettime,
    })
}
