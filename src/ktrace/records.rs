// SPDX-License-Identifier: GPL-2.0

//! Records in the form that the kernel's own tracers write, so that whatever reads those reads
//! these.
//!
//! C headers: `include/linux/ring_buffer.h`, `kernel/trace/trace_entries.h`.

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
    abi,
    ago::Ago,
    event::sink::Sink,
    ftrace_ops::{
        Call,
        MAX_ARGS, //
    },
    symbols::Data,
    trace_array::TraceArray, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ring_buffer_lock_reserve(
        buffer: *mut abi::trace_buffer,
        length: c_ulong,
    ) -> *mut abi::ring_buffer_event;
    fn ring_buffer_event_data(event: *mut abi::ring_buffer_event) -> *mut c_void;
    fn ktrace_call_ring_buffer_record_is_on_cpu(buffer: *mut abi::trace_buffer, cpu: c_int)
        -> bool;
    fn ktrace_commit(buffer: *mut abi::trace_buffer, taskinfo_flag: c_ulong);
    fn stack_trace_save(store: *mut c_ulong, size: c_uint, skip: c_uint) -> c_uint;
}

/// Who writes a record, and where: what the kernel puts at the beginning of each.
#[derive(Clone, Copy)]
pub struct Context {
    /// Flags, preemption and migration counts, as the kernel packs them for a record.
    pub(super) packed: u32,
    /// The current task's id.
    pub(super) pid: i32,
}

impl Context {
    #[doc(hidden)]
    #[inline]
    pub fn new(packed: u32, pid: i32) -> Self {
        Self { packed, pid }
    }
}

/// Writes a value to its place in a record. Not byte by byte, as Rust would for arm64, where it takes
/// unaligned accesses for forbidden.
///
/// # Safety
///
/// `place` must be valid for that, and aligned for `T` or to four bytes, as records are.
#[inline(always)]
pub(super) unsafe fn put<T: Copy>(place: *mut T, value: T) {
    if align_of::<T>() <= align_of::<u32>() {
        // SAFETY: By the precondition.
        unsafe { place.write(value) }
    } else if cfg!(CONFIG_X86) {
        // SAFETY: By the precondition.
        unsafe { place.write_unaligned(value) }
    } else {
        let words = (&raw const value).cast::<u32>();
        // SAFETY: The size of a type is a multiple of its alignment, here of more than four bytes,
        // and both places are aligned to four.
        unsafe {
            place
                .cast::<u32>()
                .copy_from_nonoverlapping(words, size_of::<T>() / size_of::<u32>());
        }
    }
}

/// A record was not written: the buffer had no room for it, or was not recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotWritten;

/// Space in a ring buffer, with the common header filled in.
///
/// # Invariants
///
/// `entry` points to `len` bytes of a reservation that this CPU holds in `buffer` and that is
/// committed on drop. Preemption stays off meanwhile.
pub(super) struct Reservation {
    buffer: *mut abi::trace_buffer,
    pub(super) entry: *mut c_void,
}

impl Reservation {
    /// Reserves `len` bytes, which must be at least the common header. Preemption must be off; any
    /// context.
    #[inline(always)]
    pub(super) fn new(
        tr: &TraceArray,
        kind: u32,
        len: usize,
        context: Context,
    ) -> Result<Self, NotWritten> {
        let buffer = tr.buffer();
        // SAFETY: The buffer of a live trace array. It may be resized or reset at any time, which
        // the function allows for, and swapped for a snapshot, which is as well: each is a buffer
        // of this trace array.
        let event = unsafe { ring_buffer_lock_reserve(buffer, len as c_ulong) };
        if event.is_null() {
            return Err(NotWritten);
        }
        // SAFETY: A reservation, just made.
        let entry = unsafe { ring_buffer_event_data(event) };
        let header: *mut abi::trace_entry = entry.cast();
        // SAFETY: The reservation has room for the header, which every record begins with
        // (`tracing_generic_entry_update()`), and is aligned to four bytes as the header needs.
        unsafe {
            addr_of_mut!((*header).type_).write(kind as u16);
            addr_of_mut!((*header).flags).write((context.packed >> 16) as u8);
            addr_of_mut!((*header).preempt_count).write((context.packed & 0xff) as u8);
            addr_of_mut!((*header).pid).write(context.pid);
        }
        // INVARIANT: As just made.
        Ok(Self { buffer, entry })
    }
}

impl Drop for Reservation {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: Commits the reservation that this CPU holds, by the invariant. The flag is a
        // per-CPU `bool` of the kernel, found by its name.
        unsafe { ktrace_commit(self.buffer, Data::TaskinfoSave.address() as c_ulong) };
    }
}

/// Whether this CPU is meant to write to the buffer of `tr` (`tracing_on`, `tracing_cpumask`). A
/// record that was not written while this is false is not lost. Preemption must be off.
pub fn is_recording(tr: &TraceArray) -> bool {
    let cpu = CpuId::current().as_u32() as c_int;
    // SAFETY: Reads counters of a live buffer, for a CPU that exists.
    unsafe { ktrace_call_ring_buffer_record_is_on_cpu(tr.buffer(), cpu) }
}

/// Writes what the function tracer writes (`TRACE_FN`), with the first `words` arguments of the call.
/// Any context.
#[inline]
pub fn function(call: &Call<'_>, words: usize) -> Result<(), NotWritten> {
    let parent_ip = call.parent_ip();
    let words = words.min(MAX_ARGS);
    let len = size_of::<abi::ftrace_entry>() + words * size_of::<c_ulong>();
    let record = Reservation::new(call.tr(), abi::trace_type_TRACE_FN, len, call.context)?;
    let entry: *mut abi::ftrace_entry = record.entry.cast();
    // SAFETY: The reservation has room for the entry and `words` arguments behind it. It is aligned
    // to four bytes.
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

/// A record of one's own kind, which is filled by what an event generates.
pub struct Direct<'a> {
    tr: &'a TraceArray,
    kind: u32,
    context: Context,
    record: Option<Reservation>,
}

impl<'a> Direct<'a> {
    /// One that begins with `kind`. Preemption must be off until it is done.
    #[inline]
    pub fn new(tr: &'a TraceArray, kind: u32, context: Context) -> Self {
        Self {
            tr,
            kind,
            context,
            record: None,
        }
    }

    /// Commits it.
    #[inline]
    pub fn done(self) -> Result<(), NotWritten> {
        self.record.map(drop).ok_or(NotWritten)
    }
}

impl Sink for Direct<'_> {
    #[inline]
    fn reserve(&mut self, len: usize) -> *mut u8 {
        self.record = Reservation::new(self.tr, self.kind, len, self.context).ok();
        let entry = self.record.as_ref().map(|record| record.entry);
        entry.map_or(core::ptr::null_mut(), |entry| entry.cast())
    }
}

/// A call in the call graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GraphEntry {
    /// The function.
    pub func: usize,
    /// How deep it is.
    pub depth: i32,
}

/// Words that may follow a call: its arguments, and where it returns to.
pub const MAX_GRAPH_WORDS: usize = MAX_ARGS + 1;

/// Writes what the function graph tracer writes for a call (`TRACE_GRAPH_ENT`), and up to
/// [`MAX_GRAPH_WORDS`] words behind it: if there are as many as arguments, they are those, as the
/// kernel has it; one more, or a single one, is where the call returns to. Last comes how many ns
/// before its record the call began, if it did not just begin. What the kernel does not know, it
/// overlooks, and so does whatever reads its records. Preemption must be off; any context.
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

/// How long a record of a call is.
#[inline(always)]
pub(super) fn graph_entry_len(words: &[usize], late_ns: Option<u64>) -> usize {
    size_of::<abi::ftrace_graph_ent_entry>()
        + core::mem::size_of_val(words)
        + late_ns.map_or(0, |_| size_of::<Ago>())
}

/// Fills in a record of a call, behind its header.
///
/// # Safety
///
/// `record` must have room for [`graph_entry_len`] bytes, and be aligned to four.
#[inline(always)]
pub(super) unsafe fn fill_graph_entry(
    record: *mut u8,
    call: GraphEntry,
    words: &[usize],
    late_ns: Option<u64>,
) {
    let fixed = graph_entry_len(words, None);
    let entry: *mut abi::ftrace_graph_ent_entry = record.cast();
    // SAFETY: By the precondition.
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
            let place: *mut Ago = record.add(fixed).cast();
            put(place, Ago::new(late_ns));
        }
    }
}

/// A return in the call graph.
#[derive(Clone, Copy)]
pub struct GraphReturn {
    /// The call.
    pub call: GraphEntry,
    /// Calls of the task that found its shadow stack full, ever.
    pub overrun: u32,
    /// What the function returned, if that is wanted.
    pub value: Option<usize>,
    /// When it was called, in ns of [`super::fgraph::clock_ns`].
    pub calltime_ns: u64,
    /// When it returned.
    pub rettime_ns: u64,
}

/// Follows the kernel's record of a return: the kernel's field for the value does not hold one. Only in
/// records that are made for printing, never in the ring buffer.
const GRAPH_NO_VALUE: u32 = 2;

/// Whether the kernel's own record has room for the value that a function returns. Where it has,
/// there has to be one in every record.
pub const HAS_VALUE: bool = cfg!(CONFIG_FUNCTION_GRAPH_RETVAL);

/// Writes what the function graph tracer writes for a return (`TRACE_GRAPH_RET`). Preemption must be
/// off; any context.
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

/// How long a record of a return is.
#[inline(always)]
pub(super) fn graph_return_len(ret: &GraphReturn) -> usize {
    let behind = match ret.value {
        Some(_) if !HAS_VALUE => size_of::<u32>() + size_of::<usize>(),
        None if HAS_VALUE => size_of::<u32>(),
        _ => 0,
    };
    size_of::<abi::ftrace_graph_ret_entry>() + behind
}

/// Fills in a record of a return, behind its header.
///
/// # Safety
///
/// `record` must have room for [`graph_return_len`] bytes, and be aligned to four.
#[inline(always)]
pub(super) unsafe fn fill_graph_return(record: *mut u8, ret: &GraphReturn) {
    let fixed = size_of::<abi::ftrace_graph_ret_entry>();
    let behind = graph_return_len(ret) - fixed;
    let value = ret.value.unwrap_or(0);
    let entry: *mut abi::ftrace_graph_ret_entry = record.cast();
    // SAFETY: By the precondition.
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

/// Reads what [`graph_entry`] has written. The words are copied to `words`; how many there are is
/// returned, and how many ns before its record the call began. `None` if it is too short.
///
/// # Safety
///
/// There must be `len` bytes at `record`.
pub(super) unsafe fn read_graph_entry(
    record: *const u8,
    len: usize,
    words: &mut [usize; MAX_GRAPH_WORDS],
) -> Option<(GraphEntry, usize, u64)> {
    let fixed = size_of::<abi::ftrace_graph_ent_entry>();
    if len < fixed {
        return None;
    }
    // SAFETY: By the precondition: there are as many bytes. The type is packed or read as bytes, so alignment is no matter.
    let entry = unsafe {
        record
            .cast::<abi::ftrace_graph_ent_entry>()
            .read_unaligned()
    };
    let n = len.saturating_sub(fixed) / size_of::<usize>();
    let n = n.min(MAX_GRAPH_WORDS);
    for (i, word) in words.iter_mut().take(n).enumerate() {
        // SAFETY: Within the record.
        *word = unsafe { record.add(fixed).cast::<usize>().add(i).read_unaligned() };
    }
    let end = fixed + n * size_of::<usize>();
    let mut late_ns = 0;
    if len >= end + size_of::<Ago>() {
        // SAFETY: Within the record.
        late_ns = unsafe { record.add(end).cast::<Ago>().read_unaligned() }.ns();
    }
    let call = entry.graph_ent;
    let (func, depth) = (call.func, call.depth);
    let call = GraphEntry {
        func,
        depth: depth as i32,
    };
    Some((call, n, late_ns))
}

/// Reads what [`graph_return`] has written. `None` if it is too short.
///
/// # Safety
///
/// There must be `len` bytes at `record`.
pub(super) unsafe fn read_graph_return(record: *const u8, len: usize) -> Option<GraphReturn> {
    let fixed = size_of::<abi::ftrace_graph_ret_entry>();
    if len < fixed {
        return None;
    }
    // SAFETY: By the precondition: there are as many bytes.
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
        // SAFETY: Within the record.
        flags = unsafe { record.add(fixed).cast::<u32>().read_unaligned() };
    }
    if behind >= size_of::<u32>() + size_of::<usize>() {
        // SAFETY: As above.
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

/// Frames that a stack trace has at most.
const MAX_FRAMES: usize = 64;

/// How far behind the start of a function the return address of its call to ftrace can lie: a
/// landing pad and the call itself.
const CALL_SITE: usize = 16;

/// Writes the kernel stack as the kernel's own stack traces are written (`TRACE_STACK`), from the
/// traced function on. True if it was deeper than what a record takes. Any context.
pub fn stack(call: &Call<'_>) -> Result<bool, NotWritten> {
    let mut frames = [0 as c_ulong; MAX_FRAMES];
    // SAFETY: Writes at most the given number of words to the array.
    let n = unsafe { stack_trace_save(frames.as_mut_ptr(), MAX_FRAMES as c_uint, 0) };
    let all = frames.get(..n as usize).unwrap_or(&[]);
    // Above the traced function are ftrace's trampoline and this module, how many frames of them
    // depends on the architecture and the unwinder.
    let is_function = |&frame: &c_ulong| frame.wrapping_sub(call.ip) <= CALL_SITE;
    let first = all.iter().position(is_function).unwrap_or(0);
    let shown = all.get(first..).unwrap_or(all);

    let len = size_of::<abi::stack_entry>() + core::mem::size_of_val(shown);
    let record = Reservation::new(call.tr(), abi::trace_type_TRACE_STACK, len, call.context)?;
    let entry: *mut abi::stack_entry = record.entry.cast();
    // SAFETY: The reservation has room for the entry and the frames behind it, aligned to four
    // bytes.
    unsafe {
        put(addr_of_mut!((*entry).size), shown.len() as c_int);
        let first: *mut c_ulong = addr_of_mut!((*entry).caller).cast();
        for (n, frame) in shown.iter().enumerate() {
            put(first.add(n), *frame);
        }
    }
    Ok(all.len() == MAX_FRAMES)
}
