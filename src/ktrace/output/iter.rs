// SPDX-License-Identifier: GPL-2.0

//! Reads the current record of an iterator, and adds its text.
//!
//! C headers: `include/linux/trace_events.h` (`struct trace_iterator`), `kernel/trace/trace.h`.

use core::{
    marker::PhantomData,
    ptr::addr_of_mut, //
};

use kernel::prelude::*;

use super::{
    cursor::NextItem,
    first_return::FirstReturn,
    printed::Printed,
    reader_state::ReadPos,
    seq::Seq, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::{
        abi,
        symbols::Data,
        trace_options, //
    },
    record::{
        self,
        GraphEntry,
        GraphReturn,
        MAX_GRAPH_WORDS, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_event_text(
        event: *mut abi::trace_event,
        iter: *mut abi::trace_iterator,
        flags: c_int,
    ) -> c_uint;
    fn ktrace_strip_newline(seq: *mut abi::trace_seq);
    fn ktrace_call_ftrace_find_event(kind: c_int) -> *mut abi::trace_event;
    fn ktrace_call_trace_print_bputs_msg_only(iter: *mut abi::trace_iterator) -> c_uint;
    fn ktrace_call_trace_print_bprintk_msg_only(iter: *mut abi::trace_iterator) -> c_uint;
    fn ktrace_call_trace_print_printk_msg_only(iter: *mut abi::trace_iterator) -> c_uint;
}

/// A flag of an iterator: `TRACE_FILE_TIME_IN_NS` (`include/linux/trace_events.h`).
const TIME_IN_NS: c_ulong = 4;

/// The header of a record: its task and its context.
#[derive(Clone, Copy)]
pub struct Header {
    /// A copy of the `struct trace_entry`.
    words: [u32; 2],
    pid: i32,
}

const _: () = assert!(core::mem::size_of::<abi::trace_entry>() == core::mem::size_of::<[u32; 2]>());

impl Header {
    /// Returns the PID of the task that wrote the record.
    pub fn pid(&self) -> i32 {
        self.pid
    }
}

/// The recorded entry of a call.
#[derive(Clone, Copy)]
pub struct RecordedEntry {
    /// The call.
    pub call: GraphEntry,
    /// The words that follow it; see [`record::graph_entry`].
    pub words: [usize; MAX_GRAPH_WORDS],
    /// Number of these words.
    pub nr_words: usize,
    /// Time in ns between the start of the call and its record.
    pub late_ns: u64,
}

/// The contents of a record.
pub enum RecordContent {
    /// The beginning of a call.
    GraphEntry(RecordedEntry),
    /// A return.
    GraphReturn(GraphReturn),
    /// A record that is never shown between calls: the kernel's function entries and stack traces.
    Plain,
    /// Any other record.
    Other,
}

/// A record in a buffer.
///
/// # Invariants
///
/// For `'a`, `len` bytes at `start` are readable. They begin with the header of each record.
pub struct Record<'a> {
    pub(super) start: *const u8,
    pub(super) len: usize,
    pub(super) _line: PhantomData<&'a abi::trace_iterator>,
}

impl Record<'_> {
    fn header(&self) -> *const abi::trace_entry {
        self.start.cast()
    }

    pub(super) fn kind_number(&self) -> u32 {
        // SAFETY: The record begins with a header, by the type invariant.
        u32::from(unsafe { (&raw const (*self.header()).type_).read_unaligned() })
    }

    pub(super) fn pid(&self) -> i32 {
        // SAFETY: The record begins with a header, by the type invariant.
        unsafe { (&raw const (*self.header()).pid).read_unaligned() }
    }

    /// Returns the address of the record if it has this type number and at least `size` bytes.
    #[doc(hidden)]
    pub fn of(&self, kind: u32, size: usize) -> Option<*const u8> {
        (self.kind_number() == kind && self.len >= size).then_some(self.start)
    }
}

/// A record that is being printed.
///
/// # Invariants
///
/// `iter` is an iterator at a record, and no other code uses it for `'a`.
pub struct Line<'a> {
    pub(super) iter: *mut abi::trace_iterator,
    /// The next item of the pack from which the record was made; `None` if there is none.
    pub(super) ahead: Option<&'a mut NextItem>,
    /// The type number of packs, and the state of the packs of this CPU.
    pub(super) pack_kind: u32,
    pub(super) read_pos: Option<&'a mut ReadPos>,
    /// The next record, if it is a pack whose first item was found by [`Line::next`].
    pub(super) next_pack: Option<FirstReturn>,
    _iter: PhantomData<&'a mut abi::trace_iterator>,
}

impl<'a> Line<'a> {
    /// Creates a line for the current record.
    ///
    /// # Safety
    ///
    /// `iter` must be the iterator that the kernel passed to a tracer's `print_line`, and that
    /// callback must not return before the result is dropped.
    pub(in crate::ktrace) unsafe fn new(
        iter: *mut abi::trace_iterator,
        ahead: Option<&'a mut NextItem>,
        pack_kind: u32,
        read_pos: Option<&'a mut ReadPos>,
    ) -> Self {
        // INVARIANT: The caller guarantees that `iter` is at a record and that no other code uses
        // it.
        Self {
            iter,
            ahead,
            pack_kind,
            read_pos,
            next_pack: None,
            _iter: PhantomData,
        }
    }

    fn entry(&self) -> *mut abi::trace_entry {
        // SAFETY: `iter` is valid, by the type invariant.
        unsafe { (*self.iter).ent }
    }

    /// Returns the CPU on which the record was written.
    pub fn cpu(&self) -> usize {
        // SAFETY: `iter` is valid, by the type invariant.
        unsafe { (*self.iter).cpu.max(0) as usize }
    }

    /// Returns the PID of the task that wrote the record.
    pub fn pid(&self) -> i32 {
        self.record().pid()
    }

    /// Returns a copy of the record's header.
    pub fn header(&self) -> Header {
        Header {
            // SAFETY: The record begins with a header of that size, by the type invariant, and each
            // bit pattern is a valid `u32`.
            words: unsafe { self.entry().cast::<[u32; 2]>().read_unaligned() },
            pid: self.pid(),
        }
    }

    /// Returns the time stamp of the record, in units of the trace clock.
    pub fn time(&self) -> u64 {
        // SAFETY: `iter` is valid, by the type invariant.
        unsafe { (*self.iter).ts }
    }

    /// Returns whether the trace clock counts ns.
    pub fn is_time_in_ns(&self) -> bool {
        // SAFETY: `iter` is valid, by the type invariant.
        unsafe { (*self.iter).iter_flags & TIME_IN_NS != 0 }
    }

    /// Returns the time stamp at which the buffer was last reset.
    pub fn start_time(&self) -> u64 {
        // SAFETY: `iter` is valid, by the type invariant; its buffer exists as long as the
        // iterator.
        unsafe { (*(*self.iter).array_buffer).time_start }
    }

    fn kind_number(&self) -> u32 {
        self.record().kind_number()
    }

    fn len(&self) -> usize {
        // SAFETY: `iter` is valid, by the type invariant.
        unsafe { (*self.iter).ent_size.max(0) as usize }
    }

    /// Decodes the record.
    pub fn kind(&self) -> RecordContent {
        let record = self.entry().cast::<u8>();
        match self.kind_number() {
            kind @ (abi::trace_type_TRACE_GRAPH_ENT | abi::trace_type_TRACE_GRAPH_RETADDR_ENT) => {
                let mut words = [0; MAX_GRAPH_WORDS];
                // SAFETY: The record has that length, by the type invariant.
                let read = unsafe { record::read_graph_entry(record, self.len(), &mut words) };
                let Some((call, nr_words, late_ns)) = read else {
                    return RecordContent::Other;
                };
                if kind == abi::trace_type_TRACE_GRAPH_RETADDR_ENT {
                    // function_graph has the return address before the arguments, this module after
                    // them.
                    if let Some(words) = words.get_mut(..nr_words) {
                        words.rotate_left(nr_words.min(1));
                    }
                }
                RecordContent::GraphEntry(RecordedEntry {
                    call,
                    words,
                    nr_words,
                    late_ns,
                })
            }
            abi::trace_type_TRACE_GRAPH_RET => {
                // SAFETY: The record has that length, by the type invariant.
                let read = unsafe { record::read_graph_return(record, self.len()) };
                read.map_or(RecordContent::Other, RecordContent::GraphReturn)
            }
            abi::trace_type_TRACE_FN | abi::trace_type_TRACE_STACK => RecordContent::Plain,
            _ => RecordContent::Other,
        }
    }

    /// Returns the record.
    pub fn record(&self) -> Record<'_> {
        // INVARIANT: `iter` is at a record, by the type invariant, whose address and length these
        // are.
        Record {
            start: self.entry().cast::<u8>().cast_const(),
            len: self.len(),
            _line: PhantomData,
        }
    }

    /// Returns whether an option of the trace array is set.
    fn has_flag(&self, flag: u64) -> bool {
        // SAFETY: `iter` is valid, by the type invariant; its trace array exists as long as the
        // iterator.
        unsafe { trace_options::flags((*self.iter).tr) & flag != 0 }
    }

    /// Returns whether `options/context-info` is set.
    pub fn has_context(&self) -> bool {
        self.has_flag(trace_options::CONTEXT_INFO)
    }

    /// Returns whether `options/latency-format` is set.
    pub fn is_latency_format(&self) -> bool {
        self.has_flag(trace_options::LATENCY_FMT)
    }

    /// Returns the option flags of the tracer in that trace array.
    pub fn options(&self) -> u32 {
        // SAFETY: `iter` is valid, by the type invariant; its trace array exists as long as the
        // iterator.
        unsafe { TraceArray::from_raw((*self.iter).tr) }
            .current_flags()
            .unwrap_or(0)
    }

    /// Returns the buffer for the text.
    pub fn seq(&mut self) -> Seq<'_> {
        // SAFETY: `iter` is valid, and no other code uses it, by the type invariant. The result
        // borrows from `self`.
        unsafe { Seq::from_raw(addr_of_mut!((*self.iter).seq)) }
    }

    /// Adds the flags of a record in the latency format.
    pub fn latency(&mut self, header: &Header) {
        let mut words = header.words;
        self.seq().latency((&raw mut words).cast());
    }

    /// Adds the text of the record in the format of its type, without the columns in front of it.
    /// The text ends with a newline.
    pub fn text(&mut self) -> Printed {
        const SYMBOLS: u64 =
            trace_options::PRINT_PARENT | trace_options::SYM_OFFSET | trace_options::SYM_ADDR;
        let kind = self.kind_number();
        // SAFETY: `iter` is at a record of this type, by the type invariant. These are the kernel's
        // print functions for it.
        let printed = unsafe {
            match kind {
                abi::trace_type_TRACE_BPUTS => ktrace_call_trace_print_bputs_msg_only(self.iter),
                abi::trace_type_TRACE_BPRINT => ktrace_call_trace_print_bprintk_msg_only(self.iter),
                abi::trace_type_TRACE_PRINT => ktrace_call_trace_print_printk_msg_only(self.iter),
                _ => {
                    let event = ktrace_call_ftrace_find_event(kind as c_int);
                    if event.is_null() {
                        return Printed::Unhandled;
                    }
                    let flags = trace_options::flags((*self.iter).tr) & SYMBOLS;
                    // `private` holds state of this module. For a record of function_graph, on a
                    // CPU that was offline, the print function would take it for function_graph's
                    // state.
                    let private = (*self.iter).private;
                    (*self.iter).private = core::ptr::null_mut();
                    let printed = ktrace_event_text(event, self.iter, flags as c_int);
                    (*self.iter).private = private;
                    printed
                }
            }
        };
        match printed {
            abi::print_line_t_TRACE_TYPE_HANDLED => Printed::Done,
            abi::print_line_t_TRACE_TYPE_PARTIAL_LINE => Printed::Partial,
            _ => Printed::Unhandled,
        }
    }

    /// Removes the newline at the end of the text, if there is one.
    pub fn strip_newline(&mut self) {
        // SAFETY: `iter` is valid, and no other code uses its text, by the type invariant.
        unsafe { ktrace_strip_newline(addr_of_mut!((*self.iter).seq)) };
    }
}

/// Returns whether `func` is in the kernel's section of interrupt entry functions.
pub fn is_irq_entry(func: usize) -> bool {
    (Data::IrqTextStart.address()..Data::IrqTextEnd.address()).contains(&func)
}
