// SPDX-License-Identifier: GPL-2.0

//! Shows packs where another tracer than the one that wrote them is current: the print function of
//! their event.
//!
//! The kernel prints what stands in front of the text, as the task, the CPU and the time, and then
//! calls the event for the text: once for each record. Here, such a call shows one item on a line
//! of its own, with its own time, and has the kernel come to the same record again for the next
//! one:
//!
//! * A `trace` file does so if the iterator's `idx` is one ahead (see [`super::file`]). The record
//!   is a copy that belongs to the iterator, and its [`Head::taken`] tells how far it was shown.
//! * Readers that take records out, and what the kernel prints as it dies, do so if the
//!   answer is not to take this one out. How far it was shown stands in the record in the ring buffer, as
//!   with [`super::pipe`].
//!
//! What the kernel has printed in front of the text is about the pack: it is taken back, and the
//! kernel prints a record of that item alone instead ([`Single`]), for which it calls the event
//! once more. So the line has the columns of the tracer that is current and the options that are
//! set, whichever these are.
//!
//! Nothing can be kept from one call to the next: an iterator has no place for it. So lines of
//! other CPUs are not put between those of a pack, and an item that was written twice
//! ([`Head::repeats`]) is shown twice.
//!
//! C headers: `include/linux/trace_events.h`, `kernel/trace/trace_output.h`.

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut, //
    },
};

use kernel::{
    page::PAGE_SIZE,
    prelude::*, //
};

use super::{
    expand::{
        take_back,
        text_of,
        At,
        Cursor,
        Made,
        Pack, //
    },
    pack::Head,
    word::{
        Call,
        Item,
        Said, //
    },
};
use crate::ktrace::{
    abi,
    iter::{
        Line,
        Printed, //
    },
    ring_buffer::{
        ring_buffer_event_data,
        ring_buffer_event_length,
        ring_buffer_peek, //
    },
    seq::{
        self,
        Seq, //
    },
    trace_options,
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_buffer_iter(iter: *mut abi::trace_iterator) -> *mut abi::ring_buffer_iter;
    fn ktrace_call_print_trace_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
    fn ktrace_irqs_disabled() -> bool;
}

/// What function_graph puts in front of a record that is not of a call, and behind it.
const COMMENT: &[u8] = b"/* ";
const COMMENT_END: &[u8] = b" */\n";

/// Spaces for each level of calls.
const INDENT: usize = 2;

/// What is shown on a line: the numbers of [`Single::what`].
const NOTHING: u32 = 0;
const FUNCTION: u32 = 1;
const BEGIN: u32 = 2;
const RETURN: u32 = 3;
const LEAF: u32 = 4;

/// A record of what one line shows, which begins as a pack does, and has no words ([`Head::start`]
/// is 0, as in no pack). Such a record is never in a ring buffer.
#[repr(C)]
struct Single {
    header: abi::trace_entry,
    head: Head,
    what: u32,
    /// Which function, and where it returns to or how deep it is.
    func: u64,
    place: u64,
    /// How long the call took.
    ns: u64,
    /// How much text there is in front of what the event adds.
    before: u64,
}

/// A line.
struct Shown {
    what: u32,
    func: usize,
    place: u64,
    ns: u64,
    time: u64,
    /// How many items it shows.
    nr: usize,
}

impl Shown {
    /// The next item, and the one after it, if the two are a call that calls nothing.
    fn new(said: &Said, next: Option<&Said>) -> Self {
        let of_call = |what, call: &Call, time: u64| Self {
            what,
            func: call.func,
            place: call.depth as u64,
            ns: call.ns,
            time,
            nr: 1,
        };
        match (&said.item, next.map(|next| &next.item)) {
            (Item::Function { ip, parent_ip }, _) => Self {
                what: FUNCTION,
                func: *ip,
                place: *parent_ip as u64,
                ns: 0,
                time: said.time,
                nr: 1,
            },
            // A line that has the beginning of a call is about that moment.
            (Item::Begin(call), Some(Item::Return(ret)))
                if said.item.is_ended_by(&Item::Return(*ret)) =>
            {
                Self {
                    nr: 2,
                    ..of_call(LEAF, ret, said.time.saturating_sub(call.ns))
                }
            }
            (Item::Begin(call), _) => of_call(BEGIN, call, said.time.saturating_sub(call.ns)),
            (Item::Leaf(call), _) => of_call(LEAF, call, said.time.saturating_sub(call.ns)),
            (Item::Return(call), _) => of_call(RETURN, call, said.time),
        }
    }
}

impl Single {
    fn new(kind: u16, pid: c_int, said: &Said, shown: &Shown) -> Self {
        let mut this: Self = pin_init::zeroed();
        this.header.type_ = kind;
        this.header.flags = said.flags;
        this.header.preempt_count = said.preempt_count;
        this.header.pid = pid;
        this.what = shown.what;
        this.func = shown.func as u64;
        this.place = shown.place;
        this.ns = shown.ns;
        this
    }
}

// SAFETY: Numbers, of which any will do.
unsafe impl pin_init::Zeroable for Single {}

/// Prints a record as the kernel prints it for the tracer that is current, behind the text that is
/// there: what becomes of it, and how much text was in front of what the event has added.
///
/// # Safety
///
/// `iter` must be valid and at the record of a pack.
unsafe fn print_single(
    iter: *mut abi::trace_iterator,
    single: &mut Single,
    at: At,
) -> (c_uint, usize) {
    // The kernel looks for the record after this one, for which it copies this one to the
    // iterator's own place, where the pack may be.
    let mut copy: Single = pin_init::zeroed();
    // SAFETY: By the precondition; the record and the place for its copy are there until the kernel
    // is done with it, and the iterator is then as it was. A record that the kernel copies is no
    // longer than that place.
    unsafe {
        let (temp, temp_size) = ((*iter).temp, (*iter).temp_size);
        (*iter).temp = (&raw mut copy).cast();
        (*iter).temp_size = size_of::<Single>() as c_uint;
        At {
            entry: core::ptr::from_mut(single).cast(),
            size: size_of::<Single>() as c_int,
            ..at
        }
        .put(iter);
        let printed = ktrace_call_print_trace_line(iter);
        let shown: *const Single = (*iter).ent.cast();
        let before = addr_of!((*shown).before).read() as usize;
        (*iter).temp = temp;
        (*iter).temp_size = temp_size;
        (printed as c_uint, before)
    }
}

/// Whose iterator it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Of a file, at a copy.
    File,
    /// Of a file that cannot come to the record again: kdb's, or one for which there was no memory.
    Once,
    /// Of one that takes records out.
    Pipe,
}

impl Reader {
    /// # Safety
    ///
    /// `iter` must be valid.
    unsafe fn of(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: By the precondition.
        unsafe {
            match (*iter).buffer_iter.is_null() {
                true => Self::Pipe,
                false if ktrace_buffer_iter(iter).is_null() || ktrace_irqs_disabled() => Self::Once,
                false => Self::File,
            }
        }
    }

    /// The number of the first item to be shown.
    ///
    /// # Safety
    ///
    /// `iter` must be valid and at the record of that pack.
    unsafe fn first(self, iter: *mut abi::trace_iterator, pack: &Pack) -> usize {
        // SAFETY: By the precondition.
        let (pos, idx) = unsafe { ((*iter).pos, (*iter).idx) };
        // Of no use to such a reader, and set again with each `read()`: see `super::pipe`. That this
        // very record was shown already means that the text was given up.
        match self {
            Self::Pipe if pos >= 0 && pos as u32 == idx as u32 => (pos >> 32) as usize,
            _ => pack.taken(),
        }
    }

    /// Notes that items were shown, from `first` up to `done`; what becomes of the record if there
    /// are more.
    ///
    /// # Safety
    ///
    /// As for [`Reader::first`]; `at` is the record.
    unsafe fn showed(
        self,
        iter: *mut abi::trace_iterator,
        at: &At,
        (first, done): (usize, usize),
        more: bool,
    ) -> Printed {
        // SAFETY: By the precondition. A file's record is a copy of its own.
        unsafe {
            match self {
                Self::File => {
                    addr_of_mut!((*at.head()).taken).write(done as u8);
                    (*iter).idx = (*iter).idx.wrapping_add(c_long::from(more));
                    Printed::Done
                }
                Self::Once => {
                    if more {
                        let mut seq = Seq::from_raw(addr_of_mut!((*iter).seq));
                        seq.text("# this record has more calls, which are not shown here\n");
                    }
                    Printed::Done
                }
                Self::Pipe => {
                    (*iter).pos = (first as i64) << 32 | i64::from((*iter).idx as u32);
                    match more && note_in_buffer(iter, at, done) {
                        true => Printed::Kept,
                        false => Printed::Done,
                    }
                }
            }
        }
    }
}

/// Notes in the ring buffer how many items of the pack were shown. False if it is not there, and
/// the reader would come to something else.
///
/// # Safety
///
/// `iter` must be that of a reader that takes records out, and `at` its record.
unsafe fn note_in_buffer(iter: *mut abi::trace_iterator, at: &At, done: usize) -> bool {
    let (mut ts, mut lost) = (0, 0);
    // SAFETY: By the precondition: the buffer that is read, and the record that comes next there,
    // which stays as long as this reader has locked others out and does not consume it.
    unsafe {
        let buffer = (*(*iter).array_buffer).buffer;
        let event = ring_buffer_peek(buffer, at.cpu, &mut ts, &mut lost);
        if event.is_null() {
            return false;
        }
        let there = At {
            entry: ring_buffer_event_data(event).cast(),
            size: ring_buffer_event_length(event) as c_int,
            ts,
            lost,
            cpu: at.cpu,
        };
        let kind = u32::from((*at.entry).type_);
        let is_same = there.is_pack(kind)
            && match (there.pack(), at.pack()) {
                (Some(there), Some(own)) => there.is_same(&own),
                _ => false,
            };
        if is_same {
            addr_of_mut!((*there.head()).taken).write(done as u8);
        }
        is_same
    }
}

/// Shows the next item of the pack that an iterator is at, or what a [`Single`] says.
///
/// # Safety
///
/// For the kernel, by `event.c`, which prints a record of the kind of packs.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_print(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: By the precondition: the iterator is at a record, whose length it tells.
    unsafe {
        let at = At::new(iter);
        if at.is_long(size_of::<Single>()) && (*at.head()).start == 0 {
            return print_text(iter, &at);
        }
        match at.pack() {
            Some(pack) => print_next(iter, at, &pack),
            None => print_nothing(iter),
        }
    }
}

/// Ends the line of a record that has nothing to show.
///
/// # Safety
///
/// As for [`ktrace_pack_print`].
unsafe fn print_nothing(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: By the precondition.
    let mut seq = unsafe { Seq::from_raw(addr_of_mut!((*iter).seq)) };
    seq.text("funcgraph_pack: no calls\n");
    seq.code()
}

/// # Safety
///
/// As for [`ktrace_pack_print`]; the iterator is at that pack.
unsafe fn print_next(iter: *mut abi::trace_iterator, at: At, pack: &Pack) -> c_uint {
    // SAFETY: By the precondition, here and below. The words are looked at before the next record
    // is looked for.
    unsafe {
        let reader = Reader::of(iter);
        let first = reader.first(iter, pack);
        let words = pack.in_place();
        let own = Cursor::new(pack, &words, first, 0);
        let Some(said) = own.next else {
            return print_nothing(iter);
        };
        let mut next = own;
        next.advance(&words);
        let shown = Shown::new(&said, next.next.as_ref());
        if shown.nr > 1 {
            next.advance(&words);
        }
        let more = next.next.is_some();

        let text = text_of(iter);
        let (len, is_comment) = (text.len(), text.ends_with(COMMENT));
        // How long is what the kernel has printed in front? As long as it is once more.
        let kind = (*at.entry).type_;
        let mut single = Single::new(kind, own.pid, &said, &shown);
        single.what = NOTHING;
        let here = At { lost: 0, ..at };
        let (printed, before) = print_single(iter, &mut single, here);
        if printed != Printed::Done as c_uint {
            here.put(iter);
            return Printed::Partial as c_uint;
        }
        let columns = before.saturating_sub(len);
        take_back(iter, len.saturating_sub(columns));

        single.what = shown.what;
        let then = At {
            ts: shown.time,
            ..here
        };
        let (printed, _) = print_single(iter, &mut single, then);
        at.put(iter);
        let is_whole = printed == Printed::Done as c_uint && (*iter).seq.full == 0;
        // Of text that is longer than a page, `splice()` gives the reader the first page, and the
        // kernel drops the rest.
        let is_too_long = reader == Reader::Pipe && text_of(iter).len() > PAGE_SIZE;
        if !is_whole || is_too_long && columns < len {
            return Printed::Partial as c_uint;
        }
        let done = first.wrapping_add(shown.nr);
        let printed = reader.showed(iter, &at, (first, done), more);
        if is_comment && printed == Printed::Done {
            // function_graph ends its comment by itself.
            let len = text_of(iter).len();
            if text_of(iter).ends_with(COMMENT_END) {
                take_back(iter, len.saturating_sub(COMMENT_END.len()));
            }
        }
        printed.code()
    }
}

/// Adds the text of a line.
///
/// # Safety
///
/// As for [`ktrace_pack_print`]; the iterator is at a [`Single`].
unsafe fn print_text(iter: *mut abi::trace_iterator, at: &At) -> c_uint {
    let single: *mut Single = at.entry.cast();
    // SAFETY: By the precondition: the record is as long. Whatever it holds are numbers.
    unsafe {
        addr_of_mut!((*single).before).write_unaligned(text_of(iter).len() as u64);
        let what = addr_of!((*single).what).read_unaligned();
        let func = addr_of!((*single).func).read_unaligned() as usize;
        let place = addr_of!((*single).place).read_unaligned();
        let ns = addr_of!((*single).ns).read_unaligned();
        if what == FUNCTION {
            let header = at.entry.read_unaligned();
            let said = Said {
                item: Item::Function {
                    ip: func,
                    parent_ip: place as usize,
                },
                time: at.ts,
                flags: header.flags,
                preempt_count: header.preempt_count,
            };
            let (mut made, len) = Made::new(header.pid, &said);
            At {
                entry: made.as_mut_ptr(),
                size: len as c_int,
                ..*at
            }
            .put(iter);
            let printed = Line::new(iter, None, 0, None).text();
            at.put(iter);
            return printed.code();
        }
        let has_columns = trace_options::flags((*iter).tr) & trace_options::CONTEXT_INFO != 0;
        let mut seq = Seq::from_raw(addr_of_mut!((*iter).seq));
        if what != NOTHING {
            print_call(
                &mut seq,
                what,
                func,
                place as i32,
                has_columns.then_some(ns),
            );
        }
        seq.code()
    }
}

/// Adds a call as function_graph shows it, with how long it took if that column is shown.
fn print_call(seq: &mut Seq<'_>, what: u32, func: usize, depth: i32, ns: Option<u64>) {
    match ns {
        Some(_) if what == BEGIN => seq.text("              |  "),
        Some(ns) => {
            let mark = [seq::mark(ns) as u8, b' '];
            seq.bytes(&mark);
            seq.duration(ns);
            seq.text("|  ");
        }
        None => {}
    }
    seq.spaces((depth.max(0) as usize).wrapping_mul(INDENT));
    if what == RETURN {
        // What stands before it on other lines may be of other tasks.
        seq.text("} /* ");
        seq.symbol(func);
        seq.text(" */\n");
    } else {
        seq.symbol(func);
        seq.text(if what == BEGIN { "() {\n" } else { "();\n" });
    }
}
