// SPDX-License-Identifier: GPL-2.0

//! Shows packs as if each item had a record of its own: makes that record, and has it printed.
//!
//! A `trace` file has one go at each record, so all lines of a pack are printed at once, into a larger
//! buffer if they don't fit. Whatever takes records out of the ring buffer gets one line, and is told to
//! come again, until there is nothing left of the pack.

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut, //
    },
};

use kernel::{
    alloc::KVVec,
    prelude::*, //
};

use super::{
    pack::{
        text,
        Head,
        FIRST_WORD, //
    },
    word::{
        Call,
        Item,
        Said,
        Words,
        MAX_WORDS, //
    },
};
use crate::ktrace::{
    abi,
    iter::Printed,
    records::{
        self,
        GraphEntry,
        GraphReturn, //
    }, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_print_trace_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
}

/// What a reader remembers of the pack of a CPU that it was at last. How far it has come stands in
/// the pack itself ([`Head::taken`]), for the next reader.
#[derive(Clone, Copy, Default)]
pub struct Place {
    serial: u32,
    /// Items that were printed, and how many that had been one time before.
    done: usize,
    before: usize,
}

impl Place {
    /// How many items of a pack are not to be printed (any more). What was printed last does not
    /// count if it was given up.
    fn begin(&mut self, pack: &Pack, given_up: bool) -> usize {
        let first = if self.serial == pack.serial && given_up {
            self.before
        } else {
            let is_next = self.serial.wrapping_add(1) == pack.serial;
            let again = pack.repeats != 0 && is_next && self.done >= pack.repeats;
            pack.taken.max(usize::from(again))
        };
        self.serial = pack.serial;
        self.before = first;
        self.done = first;
        first
    }
}

/// What comes after the item that is being printed, in the same pack.
#[derive(Clone, Copy)]
pub struct Ahead {
    /// The return of the call that it is the beginning of.
    pub ret: Option<GraphReturn>,
    /// That is printed with it.
    pub taken: bool,
}

impl Ahead {
    fn new(said: &Said, next: &Said) -> Self {
        let ret = match next.item {
            Item::Return(call) if said.item.is_ended_by(&next.item) => {
                Some(return_of(next, &call, true))
            }
            _ => None,
        };
        Self { ret, taken: false }
    }
}

/// Room for all lines of a pack, in bytes.
const LARGE: usize = 1 << 17;

/// What is kept for a reader.
#[derive(Default)]
pub struct Shared {
    /// While an item is printed that is not the last of its pack.
    pub ahead: Option<Ahead>,
    /// Whether this stays as long as the reader.
    stays: bool,
    /// Room for more text than an iterator has; none until it is needed.
    large: KVVec<u8>,
}

impl Shared {
    /// For a reader that it is kept for until it is done.
    pub fn kept() -> Self {
        Self {
            stays: true,
            ..Self::default()
        }
    }

    /// Gives an iterator more room for text, until the text is taken. True if it has got some. May
    /// sleep.
    ///
    /// # Safety
    ///
    /// `iter` must be that of an open file, which goes before this does if it [`stays`](Self::stays).
    unsafe fn enlarge(&mut self, iter: *mut abi::trace_iterator) -> bool {
        if !self.stays {
            return false;
        }
        if self.large.is_empty() && self.large.resize(LARGE, 0, GFP_KERNEL).is_err() {
            return false;
        }
        // SAFETY: By the precondition. The kernel goes back to the iterator's own room as soon as
        // the text is taken (`trace_seq_init()`).
        unsafe {
            let seq = addr_of_mut!((*iter).seq.seq);
            let room = self.large.as_mut_ptr();
            if (*seq).buffer.cast::<u8>() == room {
                return false;
            }
            let len = (*seq).len.min((*seq).size);
            core::ptr::copy_nonoverlapping((*seq).buffer.cast::<u8>(), room, len);
            (*seq).buffer = room.cast();
            (*seq).size = LARGE;
        }
        true
    }
}

/// A record that was made of an item.
#[repr(C, align(8))]
struct Made([u8; 128]);

/// A pack, copied out of the buffer.
pub struct Pack {
    words: [u64; MAX_WORDS],
    ts: u64,
    header: abi::trace_entry,
    repeats: usize,
    taken: usize,
    serial: u32,
    mult: u32,
}

impl Pack {
    /// # Safety
    ///
    /// `record` must be that of a pack, of `len` bytes.
    unsafe fn copy(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        if len < FIRST_WORD {
            return None;
        }
        // SAFETY: By the precondition. It may be added to while it is read: each word is there or not.
        let (header, head) = unsafe {
            (
                record.cast::<abi::trace_entry>().read_unaligned(),
                record
                    .add(size_of::<abi::trace_entry>())
                    .cast::<Head>()
                    .read_unaligned(),
            )
        };
        let start = usize::from(head.start);
        let nr = len.checked_sub(start)? / size_of::<u64>();
        let mut words = [0; MAX_WORDS];
        for (n, word) in words.iter_mut().take(nr).enumerate() {
            // SAFETY: Within the record.
            *word = unsafe { record.add(start).cast::<u64>().add(n).read_unaligned() };
        }
        Some(Self {
            words,
            ts,
            header,
            repeats: usize::from(head.repeats),
            taken: usize::from(head.taken),
            serial: head.serial,
            mult: head.mult,
        })
    }

    fn items(&self) -> Words<'_> {
        Words::new(
            &self.words,
            text(),
            self.ts,
            self.mult,
            (self.header.flags, self.header.preempt_count),
        )
    }
}

fn entry_of(call: &Call) -> GraphEntry {
    GraphEntry {
        func: call.func,
        depth: call.depth,
    }
}

fn return_of(said: &Said, call: &Call, closes: bool) -> GraphReturn {
    GraphReturn {
        call: entry_of(call),
        overrun: 0,
        value: records::HAS_VALUE.then_some(0),
        calltime_ns: said.time.wrapping_sub(call.ns),
        rettime_ns: said.time,
        closes,
    }
}

impl Made {
    /// The record, and how long it is.
    fn new(pack: &Pack, said: &Said) -> (Self, usize) {
        let mut made = Self([0; 128]);
        let place = made.0.as_mut_ptr();
        let header: *mut abi::trace_entry = place.cast();
        // SAFETY: Larger than any of these records, and aligned to eight bytes.
        unsafe {
            let (kind, len) = match said.item {
                Item::Function { ip, parent_ip } => {
                    let entry: *mut abi::ftrace_entry = place.cast();
                    addr_of_mut!((*entry).ip).write_unaligned(ip as c_ulong);
                    addr_of_mut!((*entry).parent_ip).write_unaligned(parent_ip as c_ulong);
                    (abi::trace_type_TRACE_FN, size_of::<abi::ftrace_entry>())
                }
                Item::Begin(call) => {
                    let late_ns = Some(call.ns);
                    records::fill_graph_entry(place, entry_of(&call), &[], late_ns);
                    let len = records::graph_entry_len(&[], late_ns);
                    (abi::trace_type_TRACE_GRAPH_ENT, len)
                }
                Item::Leaf(call) | Item::Return(call) => {
                    let ret = return_of(said, &call, matches!(said.item, Item::Return(_)));
                    records::fill_graph_return(place, &ret);
                    let len = records::graph_return_len(&ret);
                    (abi::trace_type_TRACE_GRAPH_RET, len)
                }
            };
            addr_of_mut!((*header).type_).write(kind as u16);
            addr_of_mut!((*header).flags).write(said.flags);
            addr_of_mut!((*header).preempt_count).write(said.preempt_count);
            addr_of_mut!((*header).pid).write(pack.header.pid);
            (made, len)
        }
    }
}

/// Takes the text of an iterator back to what it was, and forgets that it did not fit.
///
/// # Safety
///
/// `iter` must be valid, and `len` no more than there is text.
unsafe fn take_back(iter: *mut abi::trace_iterator, len: usize) {
    // SAFETY: By the precondition.
    unsafe {
        addr_of_mut!((*iter).seq.seq.len).write(len);
        addr_of_mut!((*iter).seq.full).write(0);
    }
}

/// # Safety
///
/// `iter` must be valid.
unsafe fn text_len(iter: *mut abi::trace_iterator) -> usize {
    // SAFETY: By the precondition.
    unsafe { addr_of!((*iter).seq.seq.len).read() }
}

/// Takes the last line back, which says once more how many records were lost.
///
/// # Safety
///
/// As for [`text_len`].
unsafe fn take_last_line_back(iter: *mut abi::trace_iterator) {
    // SAFETY: By the precondition: so much text is there.
    unsafe {
        let len = text_len(iter);
        let text = core::slice::from_raw_parts((*iter).seq.seq.buffer.cast::<u8>(), len);
        let without_end = text.split_last().map_or(&[][..], |(_, rest)| rest);
        let end = without_end.iter().rposition(|byte| *byte == b'\n');
        take_back(iter, end.map_or(0, |end| end.wrapping_add(1)));
    }
}

/// Prints the items of a pack.
///
/// # Safety
///
/// `iter` must be what the kernel passed to a tracer's `print_line`, at a pack. `shared` must be null,
/// or to what is kept for the iterator, and nobody may have a reference to that.
pub unsafe fn expand(
    iter: *mut abi::trace_iterator,
    is_file: bool,
    place: &mut Place,
    shared: *mut Shared,
) -> Printed {
    // SAFETY: By the precondition.
    let at = unsafe { At::new(iter) };
    // SAFETY: By the precondition.
    let pack = unsafe { Pack::copy(at.entry.cast(), at.size.max(0) as usize, at.ts) };
    let Some(pack) = pack else {
        return Printed::Done;
    };
    // SAFETY: By the precondition. Of no use to whoever takes records out, and set anew with each
    // `read()`, the position tells here that this very record was shown already, and that its text
    // was given up (`tracing_fill_pipe_page()`): the kernel would have gone on to the next.
    let given_up = !is_file && unsafe { (*iter).pos == (*iter).idx as i64 };
    let first = place.begin(&pack, given_up);
    if first != 0 && at.lost != 0 {
        // SAFETY: By the precondition: the kernel has just said it, for the second time.
        unsafe { take_last_line_back(iter) };
    }
    let mut printed = Printed::Done;
    let mut is_left = false;
    let mut items = pack.items().skip(first).peekable();
    while let Some(said) = items.next() {
        let ahead = items.peek().map(|next| Ahead::new(&said, next));
        // SAFETY: By the precondition.
        let one = unsafe { print_item(iter, &pack, &said, ahead, is_file, shared) };
        let Some((one, taken)) = one else {
            printed = Printed::Partial;
            break;
        };
        place.done = place.done.wrapping_add(1);
        if taken {
            items.next();
            place.done = place.done.wrapping_add(1);
        }
        printed = one;
        // One at a time, so that no more is taken than was asked for.
        if !is_file && items.peek().is_some() {
            printed = Printed::Kept;
            is_left = true;
            break;
        }
    }
    // SAFETY: By the precondition.
    unsafe {
        at.put_back(iter);
        if !is_file {
            (*iter).pos = (*iter).idx as i64;
            // The record is where the ring buffer has it, on a page that is the reader's: only who
            // prints the last item may have consumed it, to see what follows.
            if is_left {
                let head: *mut Head = at
                    .entry
                    .cast::<u8>()
                    .add(size_of::<abi::trace_entry>())
                    .cast();
                addr_of_mut!((*head).taken).write(place.done as u8);
            }
        }
    }
    printed
}

/// What an iterator is at.
struct At {
    entry: *mut abi::trace_entry,
    size: c_int,
    ts: u64,
    lost: c_ulong,
}

impl At {
    /// # Safety
    ///
    /// `iter` must be valid.
    unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: By the precondition.
        unsafe {
            Self {
                entry: (*iter).ent,
                size: (*iter).ent_size,
                ts: (*iter).ts,
                lost: (*iter).lost_events,
            }
        }
    }

    /// # Safety
    ///
    /// As above.
    unsafe fn put_back(&self, iter: *mut abi::trace_iterator) {
        // SAFETY: By the precondition.
        unsafe {
            (*iter).ent = self.entry;
            (*iter).ent_size = self.size;
            (*iter).ts = self.ts;
            (*iter).lost_events = self.lost;
        }
    }
}

/// Prints an item: what becomes of its record, and whether the one after it was printed with it.
/// `None` if there was no room.
///
/// # Safety
///
/// As for [`expand`].
unsafe fn print_item(
    iter: *mut abi::trace_iterator,
    pack: &Pack,
    said: &Said,
    mut ahead: Option<Ahead>,
    is_file: bool,
    shared: *mut Shared,
) -> Option<(Printed, bool)> {
    let (mut made, len) = Made::new(pack, said);
    // SAFETY: By the precondition. The record is there until it is printed. What is shared is
    // looked at while nobody else does: the line that is printed does so in between.
    unsafe {
        let before = text_len(iter);
        loop {
            (*iter).ent = made.0.as_mut_ptr().cast();
            (*iter).ent_size = len as c_int;
            (*iter).ts = said.time;
            (*iter).lost_events = 0;
            if let Some(shared) = shared.as_mut() {
                shared.ahead = ahead.take();
            }
            let printed = ktrace_call_print_trace_line(iter);
            let is_whole = (*iter).seq.full == 0;
            let now = shared.as_mut().and_then(|shared| shared.ahead.take());
            let printed = match printed {
                abi::print_line_t_TRACE_TYPE_PARTIAL_LINE => None,
                abi::print_line_t_TRACE_TYPE_NO_CONSUME => Some(Printed::Kept),
                _ => Some(Printed::Done),
            };
            if let Some(printed) = printed.filter(|_| is_whole) {
                return Some((printed, now.is_some_and(|ahead| ahead.taken)));
            }
            take_back(iter, before);
            ahead = now;
            let larger = is_file && shared.as_mut().is_some_and(|shared| shared.enlarge(iter));
            if !larger {
                return None;
            }
        }
    }
}
