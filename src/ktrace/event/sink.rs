// SPDX-License-Identifier: GPL-2.0

//! Destinations of records: the ring buffer of a trace array, or perf and BPF.
//!
//! C headers: `include/trace/trace_events.h` and `include/trace/perf.h`, which define the
//! equivalent listeners in C.

use kernel::{
    bindings,
    prelude::*, //
};

use crate::ktrace::{
    array::trace_array::TraceArray,
    private::abi,
    task::Task, //
};

/// A destination that takes one record.
pub trait Sink {
    /// Reserves `len` bytes for a record. Must be called only once. Returns null if there is no
    /// space; otherwise the caller must write all bytes before the sink is dropped.
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

/// Returns the trace array that a listener with the data `file` writes to.
///
/// # Safety
///
/// `file` must be the data of a listener that the kernel attached for a trace array. The reference
/// must not be used after the listener has returned.
pub unsafe fn trace_array<'a>(file: *mut c_void) -> &'a TraceArray {
    // SAFETY: The caller guarantees that `file` is the data of a running listener. The file and its
    // trace array stay valid until the listener has been detached and has returned.
    unsafe { TraceArray::from_raw((*file.cast::<abi::trace_event_file>()).tr) }
}

/// The ring buffer of a trace array, as the destination of one record.
///
/// # Invariants
///
/// Preemption is off and `file` is valid until drop. If `reserved` is set, `buffer` holds a
/// reservation of this CPU.
pub struct RingBuffer {
    file: *mut abi::trace_event_file,
    buffer: abi::trace_event_buffer,
    reserved: bool,
}

impl RingBuffer {
    /// Runs the triggers of the event, and disables preemption until drop. Returns `None` if no
    /// record is needed.
    ///
    /// # Safety
    ///
    /// `file` must be the data of a listener that the kernel attached for a trace array. The
    /// listener must not return before the returned value is dropped.
    #[inline]
    pub unsafe fn new(file: *mut c_void) -> Option<Self> {
        let file: *mut abi::trace_event_file = file.cast();
        // SAFETY: The caller guarantees that `file` is the data of a listener for a trace array.
        if !unsafe { ktrace_event_enter(file) } {
            return None;
        }
        // INVARIANT: Preemption was disabled above, and the caller keeps the listener running.
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
        // SAFETY: By the type invariant, the file is valid and preemption is off.
        let entry =
            unsafe { trace_event_buffer_reserve(&mut self.buffer, self.file, len as c_ulong) };
        // INVARIANT: A pointer that is not null is a reservation of this CPU.
        self.reserved = !entry.is_null();
        entry.cast()
    }
}

impl Drop for RingBuffer {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: By the type invariant, `buffer` holds a reservation if `reserved` is set, and
        // `new()` has disabled preemption.
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

/// perf and the BPF programs that are attached to the event, as the destination of one record.
///
/// All functions are inlined into the listener: a callchain starts at the listener's return address
/// and is unwound from the listener's frame, which must exist until the record has been submitted.
///
/// # Invariants
///
/// Preemption is off and `call` is valid until drop. If `record` is not null, it is a buffer of
/// `size` bytes that perf has given to this context, and `regs` belongs to it.
#[cfg(CONFIG_PERF_EVENTS)]
pub struct Perf<'a> {
    /// The task that the event is about, if its class is one of such events.
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
    /// Disables preemption until drop. Returns `None` if perf needs no record. `about` is the task
    /// that the event is about, if its class is one of such events.
    ///
    /// # Safety
    ///
    /// `call` must be the data of a listener that the kernel attached for perf. The listener must
    /// not return before the returned value is dropped. `about` must be given if, and only if, the
    /// class was created with `about_task`.
    #[inline(always)]
    pub unsafe fn new(call: *mut c_void, about: Option<Task<'a>>) -> Option<Self> {
        let call: *mut abi::trace_event_call = call.cast();
        let task = about.map_or(core::ptr::null_mut(), |task| task.as_ptr());
        // SAFETY: The caller guarantees that `call` is the data of a listener for perf. A `Task` is
        // alive.
        let head = unsafe { ktrace_perf_enter(call, task) };
        if head.is_null() {
            return None;
        }
        // INVARIANT: Preemption was disabled above, and the caller keeps the listener running.
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
        // The record and the 32-bit size that perf writes before it take a multiple of 64 bits.
        self.size = len.wrapping_add(4).next_multiple_of(8).wrapping_sub(4) as c_int;
        // SAFETY: Preemption is off. The size is less than perf's limit of 8192 bytes, since
        // records have at most `MAX_RECORD` bytes. `regs` belongs to the buffer. This function is
        // inlined into the listener, which has a frame record where `ktrace_perf_caller()` reads
        // it.
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
        // SAFETY: By the type invariant, `record` is null or a buffer from perf, and `new()` has
        // disabled preemption. The first submission leaves the record in the buffer of this
        // context. A `Task` is alive.
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
