// SPDX-License-Identifier: GPL-2.0

//! Shows packs as if each item had its own record: makes that record, and has it printed.
//!
//! The kernel's readers take the earliest record of all CPUs next. The time of a pack is that of
//! its first item, but records of other CPUs that precede its last item must be printed in between.
//! [`mod@super::trace_reader`] does this for readers that leave what they read in the ring buffer,
//! [`super::pipe_reader`] for readers that consume it.

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

use crate::ktrace::compact::{
    encoding::{
        Call,
        DecodedItem,
        Item,
        Reader,
        Words,
        MAX_WORDS, //
    },
    percpu_pack::{
        Head,
        FIRST_WORD, //
    },
    state::text, //
};
use crate::ktrace::{
    output::printed::Printed,
    private::abi,
    record::{
        self,
        GraphEntry,
        GraphReturn, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_print_trace_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
}

/// A reader's state of the last pack that it read from a CPU. The position of a reader that
/// consumes records is in the pack itself ([`Head::taken`]), for the next reader.
#[derive(Clone, Copy, Default)]
pub(in crate::ktrace) struct Place {
    serial: u32,
    /// Number of items that were printed, and that number before the last line.
    pub(in crate::ktrace) done: usize,
    before: usize,
    /// The pack whose first item was printed together with the record before it.
    joined: Option<u32>,
}

impl Place {
    /// Returns the number of items of a pack to skip. With `given_up`, the text of the last line
    /// was discarded, and that line does not count.
    pub(in crate::ktrace) fn begin(&mut self, pack: &Pack, given_up: bool) -> usize {
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

/// The return with which a pack begins, and which is printed with the entry in the record before
/// it.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct FirstReturn {
    pub(in crate::ktrace) ret: GraphReturn,
    /// Whether the pack has no other item.
    pub(in crate::ktrace) is_only: bool,
    /// The record of the pack.
    record: *const u8,
    serial: u32,
}

impl FirstReturn {
    /// Returns the first item of the pack at `record`, whose time is `ts`. `None` if that is not a
    /// return, or if it may have been printed before.
    ///
    /// # Safety
    ///
    /// `record` must point to a pack of `len` bytes.
    pub(in crate::ktrace) unsafe fn of(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        // SAFETY: `record` points to a pack of `len` bytes, as the caller guarantees.
        let pack = unsafe { Pack::new(record, len, ts) }?;
        if pack.taken != 0 || pack.repeats != 0 {
            return None;
        }
        // SAFETY: The words are read before this function returns, and the record exists until
        // then.
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

    /// Stores, for a file, that the first item of the pack is printed.
    pub(in crate::ktrace) fn note(&self, place: &mut Place) {
        place.joined = Some(self.serial);
    }

    /// Stores in the pack that its first item is printed, for a reader that consumes records.
    ///
    /// # Safety
    ///
    /// The pack must be the next record of its CPU, and this must be the only reader of that CPU.
    pub(in crate::ktrace) unsafe fn take(&self) {
        let head: *mut Head = self
            .record
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast_mut()
            .cast();
        // SAFETY: The pack is the next record, as the caller guarantees, so it is on the reader
        // page, and no other reader accesses it.
        unsafe { addr_of_mut!((*head).taken).write(1) };
    }
}

/// The item that follows the one being printed, in the same pack.
#[derive(Clone, Copy)]
pub struct NextItem {
    /// The return of the call, if the item being printed is its entry.
    pub ret: Option<GraphReturn>,
    /// Whether that return is printed with it.
    pub taken: bool,
}

impl NextItem {
    fn new(said: &DecodedItem, next: &DecodedItem) -> Self {
        let ret = match next.item {
            Item::Return(call) if said.item.is_ended_by(&next.item) => Some(return_of(next, &call)),
            _ => None,
        };
        Self { ret, taken: false }
    }

    /// Creates the value for a leaf, which contains its own return.
    fn of(ret: GraphReturn) -> Self {
        Self {
            ret: Some(ret),
            taken: false,
        }
    }
}

/// The state of a reader.
pub struct Shared {
    /// Set while an item is printed that is not the last of its pack.
    pub ahead: Option<NextItem>,
    /// Whether the line being printed was selected by this module.
    pub(in crate::ktrace) is_chosen: bool,
    /// Whether the last line was not that of the current record: [`Printed::Earlier`].
    pub is_earlier: bool,
    /// The state for each possible CPU; empty if the state is not kept between calls.
    pub(in crate::ktrace) sources: KVVec<Source>,
    /// Number of CPUs with an open pack.
    pub(in crate::ktrace) nr_open: usize,
    /// The iterator's `idx` when it resumes with the open packs.
    pub(in crate::ktrace) resume: c_long,
    /// The last line of another CPU, in case its text is discarded.
    pub(in crate::ktrace) last: KVVec<u8>,
}

/// A reader's state for a CPU.
pub(in crate::ktrace) struct Source {
    pub(in crate::ktrace) place: Place,
    /// The pack that a file has printed in part, and a copy of its words.
    pub(in crate::ktrace) open: Option<Cursor>,
    pub(in crate::ktrace) words: [u64; MAX_WORDS],
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
    /// Creates a state that is not kept between calls.
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

    /// Creates a state that is kept until the reader is closed. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short.
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

    /// Returns whether the line being printed was selected by this module.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }
}

/// A position in a pack, and its next item. The caller has the words.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct Cursor {
    pub(in crate::ktrace) pid: c_int,
    reader: Reader,
    pub(in crate::ktrace) next: Option<DecodedItem>,
    /// Number of records of this CPU that were lost before the pack and are not reported yet.
    pub(in crate::ktrace) lost: c_ulong,
}

impl Cursor {
    /// Creates a cursor at the item with number `first`.
    pub(in crate::ktrace) fn new(
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

    pub(in crate::ktrace) fn advance(&mut self, words: &(impl Words + ?Sized)) {
        self.lost = 0;
        self.next = self.reader.next(words);
    }

    /// Returns the item after the next one.
    pub(in crate::ktrace) fn ahead(&self, words: &(impl Words + ?Sized)) -> Option<NextItem> {
        let mut reader = self.reader;
        let next = reader.next(words)?;
        Some(NextItem::new(&self.next?, &next))
    }
}

/// A record that was made from an item.
#[repr(C, align(8))]
pub(in crate::ktrace) struct SyntheticRecord([u8; 128]);

/// The header of a pack, and the location of its words.
pub(in crate::ktrace) struct Pack {
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
    /// Reads the header of a pack. `None` if the record is too short.
    ///
    /// # Safety
    ///
    /// `record` must point to a pack of `len` bytes.
    unsafe fn new(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        if len < FIRST_WORD {
            return None;
        }
        // SAFETY: `record` has `len` bytes, as the caller guarantees, which is enough for both
        // headers.
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

    /// Returns the number of items that were already consumed or shown.
    pub(in crate::ktrace) fn taken(&self) -> usize {
        self.taken
    }

    /// Returns whether two records of the same CPU are the same pack.
    pub(in crate::ktrace) fn is_same(&self, other: &Self) -> bool {
        self.serial == other.serial && self.ts == other.ts
    }

    /// Returns the words, which are not copied.
    ///
    /// # Safety
    ///
    /// The record must exist as long as the result is used.
    pub(in crate::ktrace) unsafe fn in_place(&self) -> InPlace {
        InPlace {
            start: self.words,
            nr: self.nr,
        }
    }
}

/// The words of a record.
///
/// # Invariants
///
/// `nr` words at `start`, aligned or not, are readable. Words may be added concurrently; each one
/// is either 0 or complete.
pub(in crate::ktrace) struct InPlace {
    start: *const u64,
    nr: usize,
}

impl Words for InPlace {
    fn word(&self, index: usize) -> u64 {
        if index >= self.nr {
            return 0;
        }
        let word = self.start.wrapping_add(index);
        // SAFETY: `index` is less than `nr`, so the word is readable, by the type invariant. Only
        // the words of a copy that the kernel has made are not aligned.
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

fn return_of(said: &DecodedItem, call: &Call) -> GraphReturn {
    GraphReturn {
        call: entry_of(call),
        overrun: 0,
        // Calls with a recorded return value are not packed.
        value: None,
        calltime_ns: said.time.wrapping_sub(call.ns),
        rettime_ns: said.time,
    }
}

impl SyntheticRecord {
    /// Returns a pointer to the record.
    pub(in crate::ktrace) fn as_mut_ptr(&mut self) -> *mut abi::trace_entry {
        self.0.as_mut_ptr().cast()
    }

    /// Makes the record of an item. Returns it with its length in bytes.
    pub(in crate::ktrace) fn new(pid: c_int, said: &DecodedItem) -> (Self, usize) {
        let mut made = Self([0; 128]);
        let place = made.0.as_mut_ptr();
        let header: *mut abi::trace_entry = place.cast();
        // SAFETY: `made` is larger than any of these records, and aligned to eight bytes.
        unsafe {
            let (kind, len) = match said.item {
                Item::Function { ip, parent_ip } => {
                    let entry: *mut abi::ftrace_entry = place.cast();
                    addr_of_mut!((*entry).ip).write_unaligned(ip as c_ulong);
                    addr_of_mut!((*entry).parent_ip).write_unaligned(parent_ip as c_ulong);
                    (abi::trace_type_TRACE_FN, size_of::<abi::ftrace_entry>())
                }
                // The exit of a leaf is printed with it: see `print_item()`.
                Item::Begin(call) | Item::Leaf(call) => {
                    let late_ns = Some(call.ns);
                    record::fill_graph_entry(place, entry_of(&call), &[], late_ns);
                    let len = record::graph_entry_len(&[], late_ns);
                    (abi::trace_type_TRACE_GRAPH_ENT, len)
                }
                Item::Return(call) => {
                    let ret = return_of(said, &call);
                    record::fill_graph_return(place, &ret);
                    let len = record::graph_return_len(&ret);
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

/// Truncates the text of an iterator to `len` bytes, and clears its overflow flag.
///
/// # Safety
///
/// `iter` must be valid, and its text must have at least `len` bytes.
pub(in crate::ktrace) unsafe fn take_back(iter: *mut abi::trace_iterator, len: usize) {
    // SAFETY: `iter` is valid, as the caller guarantees.
    unsafe {
        addr_of_mut!((*iter).seq.seq.len).write(len);
        addr_of_mut!((*iter).seq.full).write(0);
    }
}

/// Returns the text of an iterator.
///
/// # Safety
///
/// `iter` must be valid, and its text must not change while the result is used.
pub(in crate::ktrace) unsafe fn text_of<'a>(iter: *mut abi::trace_iterator) -> &'a [u8] {
    // SAFETY: `iter` is valid, as the caller guarantees. If its buffer is not null, there are `len`
    // bytes of text in it, and no more than `size`.
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

/// Removes the last line of text, which reports lost records a second time.
///
/// # Safety
///
/// `iter` must be valid.
pub(in crate::ktrace) unsafe fn take_last_line_back(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` is valid, as the caller guarantees, and its text is only changed below.
    let text = unsafe { text_of(iter) };
    let without_end = text.split_last().map_or(&[][..], |(_, rest)| rest);
    let end = without_end.iter().rposition(|byte| *byte == b'\n');
    let len = end.map_or(0, |end| end.wrapping_add(1));
    // SAFETY: `iter` is valid, as the caller guarantees, and its text has at least `len`
    // bytes.
    unsafe { take_back(iter, len) };
}

/// The current record of an iterator.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct IterPos {
    pub(in crate::ktrace) entry: *mut abi::trace_entry,
    pub(in crate::ktrace) size: c_int,
    pub(in crate::ktrace) ts: u64,
    pub(in crate::ktrace) lost: c_ulong,
    pub(in crate::ktrace) cpu: c_int,
}

impl IterPos {
    /// Reads the current record of an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be valid.
    pub(in crate::ktrace) unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: `iter` is valid, as the caller guarantees.
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

    /// Makes this the current record of an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be valid, and the record must exist until the iterator leaves it.
    pub(in crate::ktrace) unsafe fn put(&self, iter: *mut abi::trace_iterator) {
        // SAFETY: `iter` is valid, as the caller guarantees.
        unsafe {
            (*iter).ent = self.entry;
            (*iter).ent_size = self.size;
            (*iter).ts = self.ts;
            (*iter).lost_events = self.lost;
            (*iter).cpu = self.cpu;
        }
    }

    /// Returns whether the record has at least `size` bytes.
    pub(in crate::ktrace) fn is_long(&self, size: usize) -> bool {
        usize::try_from(self.size).is_ok_and(|len| len >= size)
    }

    /// Returns whether the record is a pack.
    ///
    /// # Safety
    ///
    /// The record must exist.
    pub(in crate::ktrace) unsafe fn is_pack(&self, kind: u32) -> bool {
        // SAFETY: The record exists, as the caller guarantees.
        u32::from(unsafe { (*self.entry).type_ }) == kind
    }

    /// Reads the header of this pack. `None` if the record is too short.
    ///
    /// # Safety
    ///
    /// The record must exist, and be a pack.
    pub(in crate::ktrace) unsafe fn pack(&self) -> Option<Pack> {
        // SAFETY: The record is a pack of that size, as the caller guarantees.
        unsafe { Pack::new(self.entry.cast(), self.size.max(0) as usize, self.ts) }
    }

    /// Returns a pointer to the header of this pack.
    pub(in crate::ktrace) fn head(&self) -> *mut Head {
        self.entry
            .cast::<u8>()
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast()
    }
}

/// Prints a record in the format of its type. Returns `None` and leaves the text unchanged if there
/// was no room.
///
/// # Safety
///
/// `iter` must be the iterator that the kernel passed to a tracer's `print_line`, and the record
/// `at` must exist. `shared` must point to the state for this iterator, or for this line, with no
/// reference to it.
pub(in crate::ktrace) unsafe fn print_record(
    iter: *mut abi::trace_iterator,
    at: &IterPos,
    shared: *mut Shared,
) -> Option<Printed> {
    // SAFETY: `iter`, `at` and `shared` are valid, as the caller guarantees. `*shared` is only
    // accessed before and after the call that prints the line, which accesses it too.
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

/// Prints an item of task `pid` on CPU `cpu`, before which `lost` records were lost. Returns what
/// happens to its record, and whether the next item was printed with it. `None` if there was no
/// room.
///
/// # Safety
///
/// Those of [`print_record`].
pub(in crate::ktrace) unsafe fn print_item(
    iter: *mut abi::trace_iterator,
    (pid, cpu, lost): (c_int, c_int, c_ulong),
    said: &DecodedItem,
    ahead: Option<NextItem>,
    shared: *mut Shared,
) -> Option<(Printed, bool)> {
    let (mut made, len) = SyntheticRecord::new(pid, said);
    let (ahead, is_leaf) = match &said.item {
        Item::Leaf(call) => (Some(NextItem::of(return_of(said, call))), true),
        _ => (ahead, false),
    };
    let at = IterPos {
        entry: made.as_mut_ptr(),
        size: len as c_int,
        ts: said.time,
        lost,
        cpu,
    };
    // SAFETY: The caller guarantees what [`print_record`] requires; `made` exists until it is
    // printed.
    unsafe {
        (*shared).ahead = ahead;
        let printed = print_record(iter, &at, shared);
        let now = (*shared).ahead.take();
        Some((printed?, !is_leaf && now.is_some_and(|ahead| ahead.taken)))
    }
}
