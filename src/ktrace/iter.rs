// SPDX-License-Identifier: GPL-2.0

//! Reading a trace: the record that is to be printed, and the one after it.
//!
//! C headers: `include/linux/trace_events.h` (`struct trace_iterator`), `kernel/trace/trace.h`.

use core::{
    marker::PhantomData,
    ptr::addr_of_mut, //
};

use kernel::prelude::*;

use super::{
    abi,
    compact::expand::{
        Ahead,
        FirstReturn,
        Place, //
    },
    records::{
        self,
        GraphEntry,
        GraphReturn,
        MAX_GRAPH_WORDS, //
    },
    ring_buffer::{
        ring_buffer_consume,
        ring_buffer_event_data,
        ring_buffer_event_length,
        ring_buffer_iter_advance,
        ring_buffer_iter_peek,
        ring_buffer_peek, //
    },
    seq::Seq,
    symbols::Data,
    trace_array::TraceArray,
    trace_options, //
};

// Some structs behind these pointers have no members in some configurations.
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
    fn ktrace_buffer_iter(iter: *mut abi::trace_iterator) -> *mut abi::ring_buffer_iter;
}

/// Of an iterator: `TRACE_FILE_TIME_IN_NS` (`include/linux/trace_events.h`).
const TIME_IN_NS: c_ulong = 4;

/// What becomes of a record after it was looked at (`enum print_line_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printed {
    /// It did not fit: the line is taken back, and printed again when there is room.
    Partial = 0,
    /// It is done with.
    Done = 1,
    /// The kernel prints it in its usual way.
    Unhandled = 2,
    /// It is done with, or to be printed yet, but is not taken from the buffer now: the next record
    /// is the one that is found there then.
    Kept = 3,
    /// Something that was left from before was printed. The record itself is to be printed yet.
    Earlier = 4,
}

impl Printed {
    /// As the kernel has it.
    pub(super) fn code(self) -> c_uint {
        match self {
            Self::Earlier => Self::Kept as c_uint,
            other => other as c_uint,
        }
    }
}

const _: () = {
    assert!(Printed::Partial as u32 == abi::print_line_t_TRACE_TYPE_PARTIAL_LINE);
    assert!(Printed::Done as u32 == abi::print_line_t_TRACE_TYPE_HANDLED);
    assert!(Printed::Unhandled as u32 == abi::print_line_t_TRACE_TYPE_UNHANDLED);
    assert!(Printed::Kept as u32 == abi::print_line_t_TRACE_TYPE_NO_CONSUME);
};

/// What every record begins with: its task, and the context.
#[derive(Clone, Copy)]
pub struct Header {
    /// `struct trace_entry`, as it is.
    words: [u32; 2],
    pid: i32,
}

const _: () = assert!(core::mem::size_of::<abi::trace_entry>() == core::mem::size_of::<[u32; 2]>());

impl Header {
    /// The task that wrote it.
    pub fn pid(&self) -> i32 {
        self.pid
    }
}

/// A call, as it was recorded.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The call.
    pub call: GraphEntry,
    /// What stands behind it, [`records::graph_entry`].
    pub words: [usize; MAX_GRAPH_WORDS],
    /// How many words that are.
    pub nr_words: usize,
    /// How many ns before its record the call began.
    pub late_ns: u64,
}

/// What a record is.
pub enum Kind {
    /// The beginning of a call.
    GraphEntry(Entry),
    /// A return.
    GraphReturn(GraphReturn),
    /// What is never shown between calls: the kernel's function entries and stack traces.
    Plain,
    /// Something else.
    Other,
}

/// A record in a buffer.
///
/// # Invariants
///
/// There are `len` bytes at `start`, beginning with the header of every record, for `'a`.
pub struct Record<'a> {
    start: *const u8,
    len: usize,
    _line: PhantomData<&'a abi::trace_iterator>,
}

impl Record<'_> {
    fn header(&self) -> *const abi::trace_entry {
        self.start.cast()
    }

    fn kind_number(&self) -> u32 {
        // SAFETY: By the invariant.
        u32::from(unsafe { (&raw const (*self.header()).type_).read_unaligned() })
    }

    fn pid(&self) -> i32 {
        // SAFETY: By the invariant.
        unsafe { (&raw const (*self.header()).pid).read_unaligned() }
    }

    /// Where it stands, if it begins with that number and has so many bytes.
    #[doc(hidden)]
    pub fn of(&self, kind: u32, size: usize) -> Option<*const u8> {
        (self.kind_number() == kind && self.len >= size).then_some(self.start)
    }
}

/// A record that is being printed.
///
/// # Invariants
///
/// `iter` is an iterator at a record, that nobody else uses for `'a`.
pub struct Line<'a> {
    iter: *mut abi::trace_iterator,
    /// What follows in the pack that the record was made of; `None` if nothing does.
    ahead: Option<&'a mut Ahead>,
    /// The number that packs begin with, and what is kept for those of this CPU.
    pack_kind: u32,
    place: Option<&'a mut Place>,
    /// The next record, if it is a pack whose first item was found by [`Line::next`].
    next_pack: Option<FirstReturn>,
    _iter: PhantomData<&'a mut abi::trace_iterator>,
}

impl<'a> Line<'a> {
    /// # Safety
    ///
    /// `iter` must be what the kernel passed to a tracer's `print_line`, which has not returned
    /// before this is dropped.
    pub(super) unsafe fn new(
        iter: *mut abi::trace_iterator,
        ahead: Option<&'a mut Ahead>,
        pack_kind: u32,
        place: Option<&'a mut Place>,
    ) -> Self {
        // INVARIANT: By the precondition.
        Self {
            iter,
            ahead,
            pack_kind,
            place,
            next_pack: None,
            _iter: PhantomData,
        }
    }

    fn entry(&self) -> *mut abi::trace_entry {
        // SAFETY: By the invariant.
        unsafe { (*self.iter).ent }
    }

    /// The CPU that it was written on.
    pub fn cpu(&self) -> usize {
        // SAFETY: By the invariant.
        unsafe { (*self.iter).cpu.max(0) as usize }
    }

    /// The task that it was written in.
    pub fn pid(&self) -> i32 {
        self.record().pid()
    }

    /// The header that it begins with, which can be kept.
    pub fn header(&self) -> Header {
        Header {
            // SAFETY: By the invariant: so many bytes, of which any will do.
            words: unsafe { self.entry().cast::<[u32; 2]>().read_unaligned() },
            pid: self.pid(),
        }
    }

    /// When it was written, in units of the trace clock.
    pub fn time(&self) -> u64 {
        // SAFETY: By the invariant.
        unsafe { (*self.iter).ts }
    }

    /// Whether the trace clock counts ns.
    pub fn is_time_in_ns(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { (*self.iter).iter_flags & TIME_IN_NS != 0 }
    }

    /// When the buffer was last emptied.
    pub fn start_time(&self) -> u64 {
        // SAFETY: By the invariant; the buffer is there as long as the iterator.
        unsafe { (*(*self.iter).array_buffer).time_start }
    }

    fn kind_number(&self) -> u32 {
        self.record().kind_number()
    }

    fn len(&self) -> usize {
        // SAFETY: By the invariant.
        unsafe { (*self.iter).ent_size.max(0) as usize }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        let record = self.entry().cast::<u8>();
        match self.kind_number() {
            kind @ (abi::trace_type_TRACE_GRAPH_ENT | abi::trace_type_TRACE_GRAPH_RETADDR_ENT) => {
                let mut words = [0; MAX_GRAPH_WORDS];
                // SAFETY: A record of that length, by the invariant.
                let read = unsafe { records::read_graph_entry(record, self.len(), &mut words) };
                let Some((call, nr_words, late_ns)) = read else {
                    return Kind::Other;
                };
                if kind == abi::trace_type_TRACE_GRAPH_RETADDR_ENT {
                    // function_graph has where the call returns to in front of its arguments, we have it behind them.
                    if let Some(words) = words.get_mut(..nr_words) {
                        words.rotate_left(nr_words.min(1));
                    }
                }
                Kind::GraphEntry(Entry {
                    call,
                    words,
                    nr_words,
                    late_ns,
                })
            }
            abi::trace_type_TRACE_GRAPH_RET => {
                // SAFETY: A record of that length, by the invariant.
                let read = unsafe { records::read_graph_return(record, self.len()) };
                read.map_or(Kind::Other, Kind::GraphReturn)
            }
            abi::trace_type_TRACE_FN | abi::trace_type_TRACE_STACK => Kind::Plain,
            _ => Kind::Other,
        }
    }

    /// The record itself.
    pub fn record(&self) -> Record<'_> {
        // INVARIANT: By that of this.
        Record {
            start: self.entry().cast::<u8>().cast_const(),
            len: self.len(),
            _line: PhantomData,
        }
    }

    /// Whether an option of the trace array is set.
    fn has_flag(&self, flag: u64) -> bool {
        // SAFETY: By the invariant; the trace array is there as long as the iterator.
        unsafe { trace_options::flags((*self.iter).tr) & flag != 0 }
    }

    /// `options/context-info`.
    pub fn has_context(&self) -> bool {
        self.has_flag(trace_options::CONTEXT_INFO)
    }

    /// `options/latency-format`.
    pub fn is_latency_format(&self) -> bool {
        self.has_flag(trace_options::LATENCY_FMT)
    }

    /// The tracer's options in that trace array.
    pub fn options(&self) -> u32 {
        // SAFETY: By the invariant: the trace array is there as long as the iterator.
        unsafe { TraceArray::from_raw((*self.iter).tr) }
            .current_flags()
            .unwrap_or(0)
    }

    /// Where the text goes.
    pub fn seq(&mut self) -> Seq<'_> {
        // SAFETY: By the invariant, and borrowed from this.
        unsafe { Seq::from_raw(addr_of_mut!((*self.iter).seq)) }
    }

    /// Adds the flags of a record, as the latency format has them.
    pub fn latency(&mut self, header: &Header) {
        let mut words = header.words;
        self.seq().latency((&raw mut words).cast());
    }

    /// Adds the text of the record as its own kind has it, without where and when. It ends with a
    /// newline.
    pub fn text(&mut self) -> Printed {
        const SYMBOLS: u64 =
            trace_options::PRINT_PARENT | trace_options::SYM_OFFSET | trace_options::SYM_ADDR;
        let kind = self.kind_number();
        // SAFETY: By the invariant: the kernel's own ways to print a record of such a kind.
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
                    // Records that function_graph left on a CPU that was offline are printed by what it would
                    // keep where we keep ours.
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

    /// Takes back the newline that the text ends with, if it does.
    pub fn strip_newline(&mut self) {
        // SAFETY: By the invariant.
        unsafe { ktrace_strip_newline(addr_of_mut!((*self.iter).seq)) };
    }

    /// The record after this one on the same CPU, if it is the return of `call`; see [`Next`]. What
    /// stands between them is given to `pass` and gone past as long as that returns true.
    pub fn next(&mut self, call: &GraphEntry, mut pass: impl FnMut(&Record<'_>) -> bool) -> Next {
        if let Some(ahead) = &self.ahead {
            return Next {
                ret: ahead.ret,
                taken: false,
                in_pack: false,
            };
        }
        let pid = self.pid();
        let mut taken = false;
        let none = |taken| Next {
            ret: None,
            taken,
            in_pack: false,
        };
        // SAFETY: By the invariant.
        let iter = unsafe { ktrace_buffer_iter(self.iter) };
        let is_pipe = iter.is_null();
        if is_pipe {
            // The record has to be taken to see the next one, as the kernel's own graph tracer
            // does it, and must not be looked at any more.
            self.consume();
            taken = true;
        }
        loop {
            let mut ts = 0;
            let event = match is_pipe {
                // SAFETY: The buffer that the pipe reads, and the CPU that it is at.
                true => unsafe {
                    let mut lost = 0;
                    let buffer = (*(*self.iter).array_buffer).buffer;
                    let event = ring_buffer_peek(buffer, (*self.iter).cpu, &mut ts, &mut lost);
                    if lost != 0 {
                        // Whoever comes to it tells that. What is taken from behind a gap tells nobody, and is not
                        // what belongs to this.
                        return none(taken);
                    }
                    event
                },
                // SAFETY: The iterator of that CPU; it holds still while a line is printed.
                false => unsafe { ring_buffer_iter_peek(iter, &mut ts) },
            };
            if event.is_null() {
                return none(taken);
            }
            // SAFETY: An event of the buffer, which stays until the iterator or the pipe goes on.
            // INVARIANT: Every record begins with the header.
            let record = unsafe {
                Record {
                    start: ring_buffer_event_data(event).cast::<u8>().cast_const(),
                    len: ring_buffer_event_length(event) as usize,
                    _line: PhantomData,
                }
            };
            if record.pid() != pid {
                return none(taken);
            }
            if pass(&record) {
                match is_pipe {
                    true => self.consume(),
                    // SAFETY: The iterator is at that record.
                    false => unsafe { ring_buffer_iter_advance(iter) },
                }
                continue;
            }
            let is_its =
                |ret: &GraphReturn| ret.call.func == call.func && ret.call.depth == call.depth;
            if record.kind_number() == self.pack_kind {
                // SAFETY: A pack of that length, by the record's invariant.
                let first = unsafe { FirstReturn::of(record.start, record.len, ts) };
                self.next_pack = first.filter(|first| is_its(&first.ret));
                return Next {
                    ret: self.next_pack.map(|first| first.ret),
                    taken,
                    in_pack: self
                        .next_pack
                        .is_some_and(|first| !is_pipe || !first.is_only),
                };
            }
            if record.kind_number() != abi::trace_type_TRACE_GRAPH_RET {
                return none(taken);
            }
            // SAFETY: A record of that length, by its invariant.
            let ret = unsafe { records::read_graph_return(record.start, record.len) };
            return Next {
                ret: ret.filter(is_its),
                taken,
                in_pack: false,
            };
        }
    }

    /// Takes the next record out of the buffer of this CPU.
    fn consume(&mut self) {
        // SAFETY: The buffer that the iterator reads, and the CPU that it is at.
        unsafe {
            let (ts, lost) = (core::ptr::null_mut(), core::ptr::null_mut());
            let buffer = (*(*self.iter).array_buffer).buffer;
            ring_buffer_consume(buffer, (*self.iter).cpu, ts, lost);
        }
    }

    /// Goes past what [`Line::next`] has found. A pipe goes past a record by itself.
    pub fn skip_next(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.taken = true;
            return;
        }
        // SAFETY: By the invariant; without an iterator of its own, the reader takes records out, and is at the pack.
        unsafe {
            let iter = ktrace_buffer_iter(self.iter);
            if let Some(first) = self.next_pack.take() {
                if iter.is_null() {
                    first.take();
                } else if let Some(place) = &mut self.place {
                    first.note(place);
                }
            } else if !iter.is_null() {
                ring_buffer_iter_advance(iter);
            }
        }
    }
}

/// See [`Line::next`].
pub struct Next {
    /// The return of the call.
    pub ret: Option<GraphReturn>,
    /// The record that is being printed was taken out of the buffer already, and what is found there
    /// now is the next one.
    pub taken: bool,
    /// The return is the first item of a pack that has more, or may have; a pipe goes past one that has not.
    pub in_pack: bool,
}

/// Whether `func` is where an interrupt enters the kernel.
pub fn is_irq_entry(func: usize) -> bool {
    (Data::IrqTextStart.address()..Data::IrqTextEnd.address()).contains(&func)
}
