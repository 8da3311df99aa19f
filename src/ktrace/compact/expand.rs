// SPDX-License-Identifier: GPL-2.0

//! Shows packs as if each item had a record of its own: makes that record, and has it printed.
//!
//! The kernel's readers take the record next that is the earliest of all CPUs. Of a pack they see the time
//! of its first item, and what another CPU did before the last has to come in between: [`mod@super::file`] and
//! [`super::pipe`] see to that, for readers that leave what they read in the ring buffer, and for those
//! that take it out.

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
        Reader,
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
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_print_trace_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
}

/// What a reader remembers of the pack of a CPU that it was at last. How far one that takes records out
/// has come stands in the pack itself ([`Head::taken`]), for the next reader.
#[derive(Clone, Copy, Default)]
pub(in crate::ktrace) struct Place {
    serial: u32,
    /// Items that were printed, and how many that had been one time before.
    pub(super) done: usize,
    before: usize,
    /// The pack whose first item was printed in a line of the record before it.
    joined: Option<u32>,
}

impl Place {
    /// How many items of a pack are not to be printed (any more). What was printed last does not
    /// count if it was given up.
    pub(super) fn begin(&mut self, pack: &Pack, given_up: bool) -> usize {
        let first = if self.serial == pack.serial && given_up {
            self.before
        } else {
            let is_next = self.serial.wrapping_add(1) == pack.serial;
            let again = pack.repeats != 0 && is_next && self.done >= pack.repeats;
            let joined = self.joined == Some(pack.serial);
            pack.taken.max(usize::from(again || joined))
        };
        self.joined = None;
        self.serial = pack.serial;
        self.before = first;
        self.done = first;
        first
    }
}

/// The return that a pack begins with, which is printed with the entry in the record before it.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct FirstReturn {
    pub(in crate::ktrace) ret: GraphReturn,
    /// Whether the pack has nothing else.
    pub(in crate::ktrace) is_only: bool,
    /// Where the pack is.
    record: *const u8,
    serial: u32,
}

impl FirstReturn {
    /// That of a record with this time. `None` if the pack begins with something else, or if its first item may have
    /// been printed before.
    ///
    /// # Safety
    ///
    /// `record` must be that of a pack, of `len` bytes.
    pub(in crate::ktrace) unsafe fn of(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        // SAFETY: By the precondition.
        let pack = unsafe { Pack::new(record, len, ts) }?;
        if pack.taken != 0 || pack.repeats != 0 {
            return None;
        }
        // SAFETY: The words are read before this returns.
        let words = unsafe { pack.in_place() };
        let mut cursor = Cursor::new(&pack, &words, 0, 0);
        let said = cursor.next?;
        cursor.advance(&words);
        match said.item {
            Item::Return(call) => Some(Self {
                ret: return_of(&said, &call),
                is_only: cursor.next.is_none(),
                record,
                serial: pack.serial,
            }),
            _ => None,
        }
    }

    /// Notes for a file that the first item of the pack is printed.
    pub(in crate::ktrace) fn note(&self, place: &mut Place) {
        place.joined = Some(self.serial);
    }

    /// Notes in the pack that its first item is printed, for a reader that takes records out.
    ///
    /// # Safety
    ///
    /// The pack must be the next record of its CPU, and this the only reader of it.
    pub(in crate::ktrace) unsafe fn take(&self) {
        let head: *mut Head = self
            .record
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast_mut()
            .cast();
        // SAFETY: By the precondition: it is on the page that is the reader's.
        unsafe { addr_of_mut!((*head).taken).write(1) };
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
            Item::Return(call) if said.item.is_ended_by(&next.item) => Some(return_of(next, &call)),
            _ => None,
        };
        Self { ret, taken: false }
    }

    /// The return of the very item that is being printed.
    fn of(ret: GraphReturn) -> Self {
        Self {
            ret: Some(ret),
            taken: false,
        }
    }
}

/// What is kept for a reader.
pub struct Shared {
    /// While an item is printed that is not the last of its pack.
    pub ahead: Option<Ahead>,
    /// While a line is printed that was chosen here.
    pub(super) is_chosen: bool,
    /// Whether the line that was printed last is not that of the record at hand: [`Printed::Earlier`].
    pub is_earlier: bool,
    /// For each CPU that there may be; none if this is not kept.
    pub(in crate::ktrace) sources: KVVec<Source>,
    /// How many of them have a pack that is open.
    pub(super) nr_open: usize,
    /// What the iterator's `idx` is when it comes again for the rest of what is open.
    pub(super) resume: c_long,
    /// The line of another CPU that was printed last, in case that it is given up.
    pub(super) last: KVVec<u8>,
}

/// What is known of a CPU.
pub(in crate::ktrace) struct Source {
    pub(in crate::ktrace) place: Place,
    /// The pack that a file is in the middle of, and a copy of its words.
    pub(super) open: Option<Cursor>,
    pub(super) words: [u64; MAX_WORDS],
}

impl Source {
    const NOTHING: Self = Self {
        place: Place {
            serial: 0,
            done: 0,
            before: 0,
            joined: None,
        },
        open: None,
        words: [0; MAX_WORDS],
    };
}

impl Shared {
    /// For a reader that it is not kept for.
    pub const fn passing() -> Self {
        Self {
            ahead: None,
            is_chosen: false,
            is_earlier: false,
            sources: KVVec::new(),
            nr_open: 0,
            resume: 0,
            last: KVVec::new(),
        }
    }

    /// For a reader that it is kept for until it is done. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn kept() -> Result<Self> {
        let nr = kernel::cpu::nr_cpu_ids() as usize;
        let mut sources = KVVec::with_capacity(nr, GFP_KERNEL)?;
        for _ in 0..nr {
            sources.push(Source::NOTHING, GFP_KERNEL)?;
        }
        Ok(Self {
            sources,
            ..Self::passing()
        })
    }

    /// Whether a line is being printed that was chosen here.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }
}

/// A pack that is read, and its next item. Whoever reads has its words.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) pid: c_int,
    reader: Reader,
    pub(super) next: Option<Said>,
    /// Records of its CPU that were lost before it, which is to be said yet.
    pub(super) lost: c_ulong,
}

impl Cursor {
    /// At an item of that number.
    pub(super) fn new(
        pack: &Pack,
        words: &(impl Words + ?Sized),
        first: usize,
        lost: c_ulong,
    ) -> Self {
        let mut cursor = Self {
            pid: pack.header.pid,
            reader: pack.reader(),
            next: None,
            lost,
        };
        for _ in 0..=first {
            cursor.next = cursor.reader.next(words);
        }
        cursor
    }

    pub(super) fn advance(&mut self, words: &(impl Words + ?Sized)) {
        self.lost = 0;
        self.next = self.reader.next(words);
    }

    /// What comes after the next item.
    pub(super) fn ahead(&self, words: &(impl Words + ?Sized)) -> Option<Ahead> {
        let mut reader = self.reader;
        let next = reader.next(words)?;
        Some(Ahead::new(&self.next?, &next))
    }
}

/// A record that was made of an item.
#[repr(C, align(8))]
pub(super) struct Made([u8; 128]);

/// What stands before the words of a pack, and where these are.
pub(super) struct Pack {
    words: *const u64,
    nr: usize,
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
    unsafe fn new(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        if len < FIRST_WORD {
            return None;
        }
        // SAFETY: By the precondition.
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
        Some(Self {
            words: record.wrapping_add(start).cast(),
            nr: len.checked_sub(start)? / size_of::<u64>(),
            ts,
            header,
            repeats: usize::from(head.repeats),
            taken: usize::from(head.taken),
            serial: head.serial,
            mult: head.mult,
        })
    }

    fn reader(&self) -> Reader {
        let context = (self.header.flags, self.header.preempt_count);
        Reader::new(text(), self.ts, self.mult, context)
    }

    /// How many of its items were taken out, or shown, already.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Whether two records of the same CPU are one pack.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.serial == other.serial && self.ts == other.ts
    }

    /// Its words where they are.
    ///
    /// # Safety
    ///
    /// The record must be there as long as this is used.
    pub(super) unsafe fn in_place(&self) -> InPlace {
        InPlace {
            start: self.words,
            nr: self.nr,
        }
    }
}

/// Words of a record.
///
/// # Invariants
///
/// There are `nr` words at `start`, aligned or not, to which may be added while they are read: each is there
/// or not.
pub(super) struct InPlace {
    start: *const u64,
    nr: usize,
}

impl Words for InPlace {
    fn word(&self, index: usize) -> u64 {
        if index >= self.nr {
            return 0;
        }
        let word = self.start.wrapping_add(index);
        // SAFETY: By the invariant. Only those of a copy that the kernel has made are not aligned.
        unsafe {
            match word.is_aligned() {
                true => word.read_volatile(),
                false => word.read_unaligned(),
            }
        }
    }
}

fn entry_of(call: &Call) -> GraphEntry {
    GraphEntry {
        func: call.func,
        depth: call.depth,
    }
}

fn return_of(said: &Said, call: &Call) -> GraphReturn {
    GraphReturn {
        call: entry_of(call),
        overrun: 0,
        // A call whose value was asked for is not packed.
        value: None,
        calltime_ns: said.time.wrapping_sub(call.ns),
        rettime_ns: said.time,
    }
}

impl Made {
    /// Where the record is.
    pub(super) fn as_mut_ptr(&mut self) -> *mut abi::trace_entry {
        self.0.as_mut_ptr().cast()
    }

    /// The record, and how long it is.
    pub(super) fn new(pid: c_int, said: &Said) -> (Self, usize) {
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
                // The exit of a leaf is printed with it: `print_item()`.
                Item::Begin(call) | Item::Leaf(call) => {
                    let late_ns = Some(call.ns);
                    records::fill_graph_entry(place, entry_of(&call), &[], late_ns);
                    let len = records::graph_entry_len(&[], late_ns);
                    (abi::trace_type_TRACE_GRAPH_ENT, len)
                }
                Item::Return(call) => {
                    let ret = return_of(said, &call);
                    records::fill_graph_return(place, &ret);
                    let len = records::graph_return_len(&ret);
                    (abi::trace_type_TRACE_GRAPH_RET, len)
                }
            };
            addr_of_mut!((*header).type_).write(kind as u16);
            addr_of_mut!((*header).flags).write(said.flags);
            addr_of_mut!((*header).preempt_count).write(said.preempt_count);
            addr_of_mut!((*header).pid).write(pid);
            (made, len)
        }
    }
}

/// Takes the text of an iterator back to what it was, and forgets that it did not fit.
///
/// # Safety
///
/// `iter` must be valid, and `len` no more than there is text.
pub(super) unsafe fn take_back(iter: *mut abi::trace_iterator, len: usize) {
    // SAFETY: By the precondition.
    unsafe {
        addr_of_mut!((*iter).seq.seq.len).write(len);
        addr_of_mut!((*iter).seq.full).write(0);
    }
}

/// The text of an iterator.
///
/// # Safety
///
/// `iter` must be valid, and nothing be added to its text as long as this is used.
pub(super) unsafe fn text_of<'a>(iter: *mut abi::trace_iterator) -> &'a [u8] {
    // SAFETY: By the precondition. What has been printed to has a buffer, with so much text in it.
    unsafe {
        let seq = addr_of!((*iter).seq.seq);
        match (*seq).buffer.is_null() {
            true => &[],
            false => {
                core::slice::from_raw_parts((*seq).buffer.cast::<u8>(), (*seq).len.min((*seq).size))
            }
        }
    }
}

/// Takes the last line back, which says once more how many records were lost.
///
/// # Safety
///
/// `iter` must be valid.
pub(super) unsafe fn take_last_line_back(iter: *mut abi::trace_iterator) {
    // SAFETY: By the precondition.
    let text = unsafe { text_of(iter) };
    let without_end = text.split_last().map_or(&[][..], |(_, rest)| rest);
    let end = without_end.iter().rposition(|byte| *byte == b'\n');
    let len = end.map_or(0, |end| end.wrapping_add(1));
    // SAFETY: By the precondition.
    unsafe { take_back(iter, len) };
}

/// What an iterator is at.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct At {
    pub(super) entry: *mut abi::trace_entry,
    pub(super) size: c_int,
    pub(super) ts: u64,
    pub(super) lost: c_ulong,
    pub(super) cpu: c_int,
}

impl At {
    /// # Safety
    ///
    /// `iter` must be valid.
    pub(in crate::ktrace) unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: By the precondition.
        unsafe {
            Self {
                entry: (*iter).ent,
                size: (*iter).ent_size,
                ts: (*iter).ts,
                lost: (*iter).lost_events,
                cpu: (*iter).cpu,
            }
        }
    }

    /// # Safety
    ///
    /// As above, and the record must be there until the iterator leaves it.
    pub(super) unsafe fn put(&self, iter: *mut abi::trace_iterator) {
        // SAFETY: By the precondition.
        unsafe {
            (*iter).ent = self.entry;
            (*iter).ent_size = self.size;
            (*iter).ts = self.ts;
            (*iter).lost_events = self.lost;
            (*iter).cpu = self.cpu;
        }
    }

    /// Whether it has so many bytes.
    pub(super) fn is_long(&self, size: usize) -> bool {
        usize::try_from(self.size).is_ok_and(|len| len >= size)
    }

    /// Whether it is a pack.
    ///
    /// # Safety
    ///
    /// The record must be there.
    pub(in crate::ktrace) unsafe fn is_pack(&self, kind: u32) -> bool {
        // SAFETY: By the precondition.
        u32::from(unsafe { (*self.entry).type_ }) == kind
    }

    /// The pack that it is.
    ///
    /// # Safety
    ///
    /// The record must be there, and a pack.
    pub(super) unsafe fn pack(&self) -> Option<Pack> {
        // SAFETY: By the precondition.
        unsafe { Pack::new(self.entry.cast(), self.size.max(0) as usize, self.ts) }
    }

    /// Where the head of the pack is that it is.
    pub(super) fn head(&self) -> *mut Head {
        self.entry
            .cast::<u8>()
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast()
    }
}

/// Prints a record, in the way of its kind. `None` if there was no room: nothing is printed then.
///
/// # Safety
///
/// `iter` must be what the kernel passed to a tracer's `print_line`, `at` a record that is there, and
/// `shared` to what is kept for the iterator, or for this line, with no reference to it.
pub(super) unsafe fn print_record(
    iter: *mut abi::trace_iterator,
    at: &At,
    shared: *mut Shared,
) -> Option<Printed> {
    // SAFETY: By the precondition. What is shared is looked at while nobody else does: the line that is
    // printed does so in between.
    unsafe {
        let before = text_of(iter).len();
        at.put(iter);
        (*shared).is_chosen = true;
        (*shared).is_earlier = false;
        let printed = ktrace_call_print_trace_line(iter);
        (*shared).is_chosen = false;
        let is_whole = (*iter).seq.full == 0;
        let printed = match printed {
            abi::print_line_t_TRACE_TYPE_PARTIAL_LINE => None,
            abi::print_line_t_TRACE_TYPE_NO_CONSUME if (*shared).is_earlier => {
                Some(Printed::Earlier)
            }
            abi::print_line_t_TRACE_TYPE_NO_CONSUME => Some(Printed::Kept),
            _ => Some(Printed::Done),
        };
        if printed.is_none() || !is_whole {
            take_back(iter, before);
            return None;
        }
        printed
    }
}

/// Prints an item of a task, on a CPU, before which so many records were lost: what becomes of its
/// record, and whether the one after it was printed with it. `None` if there was no room.
///
/// # Safety
///
/// As for [`print_record`].
pub(super) unsafe fn print_item(
    iter: *mut abi::trace_iterator,
    (pid, cpu, lost): (c_int, c_int, c_ulong),
    said: &Said,
    ahead: Option<Ahead>,
    shared: *mut Shared,
) -> Option<(Printed, bool)> {
    let (mut made, len) = Made::new(pid, said);
    let (ahead, is_leaf) = match &said.item {
        Item::Leaf(call) => (Some(Ahead::of(return_of(said, call))), true),
        _ => (ahead, false),
    };
    let at = At {
        entry: made.as_mut_ptr(),
        size: len as c_int,
        ts: said.time,
        lost,
        cpu,
    };
    // SAFETY: By the precondition; the record is there until it is printed.
    unsafe {
        (*shared).ahead = ahead;
        let printed = print_record(iter, &at, shared);
        let now = (*shared).ahead.take();
        Some((printed?, !is_leaf && now.is_some_and(|ahead| ahead.taken)))
    }
}
