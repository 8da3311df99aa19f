// SPDX-License-Identifier: GPL-2.0

//! Where a record goes: a trace array's ring buffer, or perf and BPF.
//!
//! C headers: `include/trace/trace_events.h` and `include/trace/perf.h`, whose listeners do the
//! same.

use kernel::{
    bindings,
    prelude::*, //
};

use crate::ktrace::{
    abi,
    task::Task,
    trace_array::TraceArray, //
};

/// Something that takes one record.
pub trait Sink {
    /// Reserves `len` bytes, to be called once. Null if there is no room; else all of them have to
    /// be written before the sink is dropped.
    fn reserve(&mut self, len: usize) -> *mut u8;
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_event_enter(file: *mut abi::trace_event_file) -> bool;
    fn ktrace_event_exit();
    fn trace_event_buffer_reserve(
        buffer: *mut abi::trace_event_buffer,
        file: *mut abi::trace_event_file,
        len: c_ulong,
    ) -> *mut c_void;
    fn trace_event_buffer_commit(buffer: *mut abi::trace_event_buffer);
}

/// The trace array that a listener with this data writes to.
///
/// # Safety
///
/// `file` must be the data of a listener that the kernel attached for a trace array; the reference
/// must not be kept beyond the listener.
pub unsafe fn trace_array<'a>(file: *mut c_void) -> &'a TraceArray {
    // SAFETY: By the precondition: the file and its trace array stay until the listener has been
    // detached and has returned.
    unsafe { TraceArray::from_raw((*file.cast::<abi::trace_event_file>()).tr) }
}

/// The ring buffer of a trace array.
///
/// # Invariants
///
/// Preemption is off, and `file` valid, until drop. If `reserved`, `buffer` holds a reservation of
/// this CPU.
pub struct RingBuffer {
    file: *mut abi::trace_event_file,
    buffer: abi::trace_event_buffer,
    reserved: bool,
}

impl RingBuffer {
    /// Runs the triggers of the event. `None` if no record is wanted.
    ///
    /// # Safety
    ///
    /// As for [`trace_array`]; the listener must not return before this is dropped.
    #[inline]
    pub unsafe fn new(file: *mut c_void) -> Option<Self> {
        let file: *mut abi::trace_event_file = file.cast();
        // SAFETY: By the precondition.
        if !unsafe { ktrace_event_enter(file) } {
            return None;
        }
        // INVARIANT: Preemption was turned off just now.
        Some(Self {
            file,
            buffer: pin_init::zeroed(),
            reserved: false,
        })
    }
}

impl Sink for RingBuffer {
    #[inline]
    fn reserve(&mut self, len: usize) -> *mut u8 {
        // SAFETY: The file is valid, by the invariant, and preemption is off.
        let entry =
            unsafe { trace_event_buffer_reserve(&mut self.buffer, self.file, len as c_ulong) };
        // INVARIANT: As the function says.
        self.reserved = !entry.is_null();
        entry.cast()
    }
}

impl Drop for RingBuffer {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: Commits what was reserved, and turns preemption on again, by the invariants.
        unsafe {
            if self.reserved {
                trace_event_buffer_commit(&mut self.buffer);
            }
            ktrace_event_exit();
        }
    }
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
#[cfg(CONFIG_PERF_EVENTS)]
extern "C" {
    fn ktrace_perf_enter(
        call: *mut abi::trace_event_call,
        about: *mut bindings::task_struct,
    ) -> *mut abi::hlist_head;
    fn ktrace_perf_exit();
    fn ktrace_perf_caller(regs: *mut bindings::pt_regs);
    fn perf_trace_buf_alloc(
        size: c_int,
        regs: *mut *mut bindings::pt_regs,
        context: *mut c_int,
    ) -> *mut c_void;
    fn perf_trace_run_bpf_submit(
        record: *mut c_void,
        size: c_int,
        context: c_int,
        call: *mut abi::trace_event_call,
        count: u64,
        regs: *mut bindings::pt_regs,
        head: *mut abi::hlist_head,
        task: *mut bindings::task_struct,
    );
    fn ktrace_perf_deliver_about(
        task: *mut bindings::task_struct,
        record: *mut c_void,
        size: c_int,
        call: *mut abi::trace_event_call,
    );
}

/// perf, and BPF programs that hang on the event.
///
/// All of it is inlined into the listener: a callchain begins where that returns to, and is followed
/// from its frame, which has to be there until the record has been submitted.
///
/// # Invariants
///
/// Preemption is off, and `call` valid, until drop. If not null, `record` is a buffer of `size`
/// bytes that perf has given to this context, and `regs` belongs to it.
#[cfg(CONFIG_PERF_EVENTS)]
pub struct Perf<'a> {
    /// The task that the event is about, which then is in a class of such events.
    about: Option<Task<'a>>,
    call: *mut abi::trace_event_call,
    head: *mut abi::hlist_head,
    record: *mut c_void,
    size: c_int,
    regs: *mut bindings::pt_regs,
    context: c_int,
}

#[cfg(CONFIG_PERF_EVENTS)]
impl<'a> Perf<'a> {
    /// `None` if perf wants no record here. `about` is the task that the event is about, for a class
    /// of such events.
    ///
    /// # Safety
    ///
    /// `call` must be the data of a listener that the kernel attached for perf, and the listener
    /// not return before this is dropped. `about` must be given if, and only if, the class of the
    /// event was made for it.
    #[inline(always)]
    pub unsafe fn new(call: *mut c_void, about: Option<Task<'a>>) -> Option<Self> {
        let call: *mut abi::trace_event_call = call.cast();
        let task = about.map_or(core::ptr::null_mut(), |task| task.as_ptr());
        // SAFETY: `call` is that of the listener, by the precondition, and a `Task` is alive.
        let head = unsafe { ktrace_perf_enter(call, task) };
        if head.is_null() {
            return None;
        }
        // INVARIANT: Preemption was turned off just now.
        Some(Self {
            about,
            call,
            head,
            record: core::ptr::null_mut(),
            size: 0,
            regs: core::ptr::null_mut(),
            context: 0,
        })
    }
}

#[cfg(CONFIG_PERF_EVENTS)]
impl Sink for Perf<'_> {
    #[inline(always)]
    fn reserve(&mut self, len: usize) -> *mut u8 {
        // A record and the 32-bit size that perf puts in front are a multiple of 64 bits.
        self.size = len.wrapping_add(4).next_multiple_of(8).wrapping_sub(4) as c_int;
        // SAFETY: Preemption is off; the size is below perf's limit of 8192 bytes, as that of
        // every record is. The registers belong to the buffer. This is a part of the listener, which
        // keeps a frame record where `ktrace_perf_caller()` reads one.
        unsafe {
            self.record = perf_trace_buf_alloc(self.size, &mut self.regs, &mut self.context);
            if !self.record.is_null() {
                ktrace_perf_caller(self.regs);
            }
        }
        self.record.cast()
    }
}

#[cfg(CONFIG_PERF_EVENTS)]
impl Drop for Perf<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: Submits what perf gave, and turns preemption on again, by the invariants. The
        // record still stands in the buffer of this context after the first submission; a `Task` is
        // alive.
        unsafe {
            if !self.record.is_null() {
                perf_trace_run_bpf_submit(
                    self.record,
                    self.size,
                    self.context,
                    self.call,
                    1,
                    self.regs,
                    self.head,
                    core::ptr::null_mut(),
                );
                if let Some(task) = self.about {
                    ktrace_perf_deliver_about(task.as_ptr(), self.record, self.size, self.call);
                }
            }
            ktrace_perf_exit();
        }
    }
}
