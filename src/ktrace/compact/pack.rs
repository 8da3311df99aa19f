// SPDX-License-Identifier: GPL-2.0

//! Writes packs.
//!
//! # How a record can grow
//!
//! Of what it takes to write a record, nearly all is for its place: the ring buffer has to find
//! one that no interrupt, no reader and no other CPU takes for its own. So a pack is written once,
//! as a record with room for a number of words, all zero, and committed at once like any other. While
//! it is the last record of its CPU, what happens next is put into it.
//!
//! It is the last as long as the tail of the ring buffer is where the pack ends, and the last time
//! stamp is its own; a buffer that was emptied and filled again meanwhile has another one, given a
//! clock that moves ([`Pace`]). Whoever else writes a record moves both, whether it is this module, an event, or
//! `trace_marker`; nobody has to be told of, or waited for, and whatever stands behind a pack happened
//! after all that the pack says. Nothing is kept outside of the ring buffer: there is nothing to
//! be written out when tracing stops, when a reader comes, when a CPU goes away or when the
//! kernel dies.
//!
//! # What keeps the page
//!
//! Between the look at the tail and the write, an interrupt may fill the buffer, or a reader
//! take the page away. The ring buffer has to prevent both for its own writers, by `committing`:
//! while it is not zero, the page that is committed last stays so; a writer that comes round to it
//! drops its record, and a reader copies from it, but does not take it. Here it is raised in the
//! same manner, and lowered again. Had an interrupt written meanwhile, its record would not be
//! committed, since it found the counter raised; `commits` tells, and what it left is committed here, as
//! the ring buffer's own writers do it when they end, whether anything is recorded any more or not: the
//! interrupt may have turned that off.
//!
//! As with the ring buffer's own writers, all of it happens with preemption off and after a look
//! at `record_disabled`: who turns that on and waits for RCU finds nobody inside.
//!
//! # Readers
//!
//! A reader that has come to the page where a pack stands may have read it, and would not see what is
//! added. `reader_page` tells; nothing is added then, and nothing is packed while the reader keeps
//! up. A reader may also come at the very moment: the word is written first, then it is looked whether
//! the page is in the ring still, with a barrier in between. The reader takes it out with a `cmpxchg()`
//! (`rb_head_page_replace()`), which is a barrier as well, and reads after that; `reader_page` it sets
//! in between, and nothing orders that before what it reads. If the page was out by then, nobody can
//! tell whether the word was seen; the item is written again, into a pack that says so
//! ([`Head::repeats`]), and whoever reads leaves it out if it was there.
//!
//! The page is in the ring if the one before it leads to it, less the bits by which the ring knows its
//! first page. That one is there as long as preemption is off: pages are given back by the CPU that
//! writes to them (`update_pages_handler()`), or while it does not. What led to a page before it
//! became the reader's may be long gone, though; hence the first look.
//!
//! # Interrupts
//!
//! Who interrupts another writer finds `committing` raised, and packs nothing: that writer may have taken its
//! time already, but no place yet. It notices a record that comes in between, and takes another time; a word it would
//! not, and then stand behind what is later.
//!
//! Each CPU has a `Local`, which one context uses at a time: whoever comes upon it while it is in
//! use, NMIs included, writes a record of the usual kind, behind the pack. What the interrupted
//! context then adds to the pack happened before.

use core::{
    mem::{
        align_of,
        offset_of,
        size_of, //
    },
    ptr::{
        addr_of,
        addr_of_mut,
        null_mut, //
    },
};

use kernel::{
    cpu::CpuId,
    prelude::*, //
};

use super::{
    counter::{
        full_barrier,
        Clock, //
    },
    draft::Draft,
    suspend,
    word::{
        Call,
        Item,
        Text,
        DELTA_BITS,
        MAX_WORDS,
        SITE_SHIFT, //
    },
};
use crate::ktrace::{
    abi,
    clock::{
        self,
        Pace, //
    },
    records::{
        is_recording,
        Context,
        NotWritten,
        Reservation, //
    },
    shared::same_as_c,
    symbols::Data,
    trace_array::TraceArray, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_raw_context(flags: *mut u64) -> u64;
    fn ktrace_context() -> c_uint;
}

/// What stands at the beginning of a pack, behind the header of every record.
#[repr(C)]
pub struct Head {
    /// How many bytes from the beginning of the record the first word lies.
    pub start: u8,
    /// How many items the pack before this one, of the same CPU, has if it has the first of this one
    /// already; 0 if it cannot have.
    pub repeats: u8,
    /// How many of its items were taken out by a reader that left the others there.
    pub taken: u8,
    /// [`Text::site_shift`].
    pub site_shift: u8,
    /// Counts the packs of a CPU.
    pub serial: u32,
    /// How many ns a unit of its times is, times 2^22.
    pub mult: u32,
    /// Bits 16 to 47 of [`Text::base`]; those above are 1, those below 0.
    pub text: u32,
    /// Where the words lie, and the bytes they take, used or not, as a trace event tells it of a
    /// dynamic array: for clients that know nothing of packs.
    pub words: u32,
}

/// The text of this kernel.
#[inline(always)]
pub(super) fn text() -> Text {
    Text {
        base: Data::Text.address() & !0xffff,
        site_shift: SITE_SHIFT,
    }
}

/// Where the first word may lie at the earliest.
pub const FIRST_WORD: usize = size_of::<abi::trace_entry>() + size_of::<Head>();

/// What became of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is in a pack.
    Packed,
    /// A record of the usual kind has to be written.
    Other,
    /// It is lost: the buffer had no room for it, or was not recording.
    NotWritten,
}

/// Words of a pack at first, and at least.
const MIN_WORDS: usize = 8;

/// What it takes to begin a pack, and more, if nothing comes in between.
const LONG_NS: u64 = 2000;

/// How long a pack may last where the trace clock is one that is set right all the while, in counts: 6 ms at 3 GHz,
/// in which 50 ppm come to 0.3 us; 0.7 s at 25 MHz, and 34 us. And how late a function may be that takes the shortest
/// way, which half a word has room for.
const SPAN: u64 = (1 << DELTA_BITS) - 1;

/// The latter where the trace clock is set right all the while: as many functions as a pack has room for
/// take less than [`SPAN`], so that the shortest way need not look how long the pack has lasted.
const SHORT_SPAN: u64 = SPAN / (2 * MAX_WORDS as u64);

/// By which a pointer from one page of a ring buffer to the next says what that is (`RB_FLAG_MASK`).
const RING_FLAGS: usize = 3;

/// The part of a page's `write` that is an index (`RB_WRITE_MASK`); the rest counts how often the
/// page was taken into use.
const WRITE_INDEX: usize = 0xf_ffff;

/// Addresses that are found again without a search. A power of two.
pub(super) const KNOWN: usize = 64;

/// What stands in a word of the pack. `struct ktrace_known` in `compact.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// A function, or an address.
    pub(super) address: usize,
    /// Where the function returns to, or [`super::draft::NO_SITE`], and which pack it is about: xor its [`Local::salt`].
    pub(super) salted: usize,
    /// Which word, as a word with one half that was no time later, and as the other half.
    pub(super) first: u64,
    pub(super) second: u64,
}

same_as_c!(Known, ktrace_known);

impl Known {
    const NOTHING: Self = Self {
        address: 0,
        salted: 0,
        first: 0,
        second: 0,
    };
}

/// What a CPU knows of its last pack. `struct ktrace_pack` in `compact.h`, which has the shortest way
/// to add to it.
#[repr(C)]
pub(super) struct Local {
    /// Not 0: some context is about to write.
    pub(super) busy: usize,
    /// The time of the last item, as the counter told it.
    pub(super) time: u64,
    /// How many counts after the last item a function may take the shortest way: [`SPAN`] if the trace
    /// clock keeps pace with the counter, or else [`SHORT_SPAN`]. A counter that was set back is
    /// farther away than either.
    pub(super) span: u64,
    /// The context of the last item, as it is ([`ktrace_raw_context`]).
    pub(super) preempt: u64,
    pub(super) flags: u64,
    /// What tells this pack from those before.
    pub(super) salt: usize,
    /// The last word, if there is room for another half.
    pub(super) half: u64,
    /// Where the next half goes, or the next word; and the end of the pack's words.
    pub(super) place: *mut u64,
    pub(super) end: *mut u64,
    pub(super) tr: *const TraceArray,
    /// The page that the pack stands on; null if there is none to add to.
    pub(super) page: *mut abi::buffer_page,
    /// Where the tail is as long as it is the last record, and the last time stamp.
    pub(super) write: usize,
    pub(super) stamp: u64,
    /// What this CPU has of the buffer that the pack was written to: there as long as the trace array, though
    /// a snapshot may give it to the other of its two buffers. Set before the first pack has a page.
    pub(super) part: *mut abi::ring_buffer_per_cpu,
    /// [`Text::base`].
    pub(super) text: usize,
    /// How many calls have come by the shortest way, ever, and of how many of them `items` knows.
    pub(super) calls: u64,
    /// How many halves of words there were when it was last written to in another way than the
    /// shortest: those since then are one function each, but for the two of each call.
    pub(super) halves: u64,
    pub(super) calls_seen: u64,
    /// Until when, as the counter tells it, an item may be added if the trace clock does not keep pace
    /// with the counter.
    pub(super) until: u64,
    pub(super) words: *mut u64,
    /// How many functions there were by then, ever.
    pub(super) functions: u64,
    /// How many items of this pack.
    pub(super) items: u64,
    /// Counts the packs of this CPU.
    pub(super) serial: u32,
    /// How many words the pack has room for.
    pub(super) capacity: u32,
    /// The context of the last item, as a record has it.
    pub(super) packed: u32,
    /// The number that records of packs begin with.
    pub(super) kind: u32,
    /// The task of the last item.
    pub(super) pid: i32,
    /// How many items came by the shortest way, had to be written again, and found no room, ever.
    pub(super) lost: u32,
    /// What the pack's times are of: [`Clock::mult`].
    pub(super) mult: u32,
    /// Whether the trace clock keeps pace with the counter, as far as that is known: not 0.
    pub(super) is_even: u32,
    pub(super) known: [Known; KNOWN],
}

same_as_c!(Local, ktrace_pack);

/// What became of words.
enum Fate {
    /// They are there.
    Added,
    /// They are there, but a reader may have been there before.
    Doubtful,
    /// The pack is not the last record any more, or somebody reads it.
    Closed,
    /// Nothing is recorded.
    Off,
}

/// What an item belongs to.
#[derive(Clone, Copy)]
pub(super) struct Where<'a> {
    pub(super) tr: &'a TraceArray,
    pub(super) kind: u32,
    pub(super) context: Context,
    pub(super) clock: Clock,
}

impl Local {
    /// How many words were written.
    pub(super) fn used(&self) -> usize {
        self.halves_now().div_ceil(2) as usize
    }

    /// How many halves of words were.
    fn halves_now(&self) -> u64 {
        let bytes = self.place.addr().wrapping_sub(self.words.addr());
        (bytes / size_of::<u32>()) as u64 | u64::from(self.half != 0)
    }

    /// Counts what has come by the shortest way.
    fn catch_up(&mut self) {
        let calls = self.calls.wrapping_sub(self.calls_seen);
        self.calls_seen = self.calls;
        let halves = self.halves_now().saturating_sub(self.halves);
        let functions = halves.saturating_sub(calls.wrapping_mul(2));
        self.functions = self.functions.wrapping_add(functions);
        self.items = self.items.wrapping_add(functions).wrapping_add(calls);
    }

    /// Where the words of a draft go.
    pub(super) fn at(&self, draft: &Draft) -> usize {
        self.used().wrapping_sub(usize::from(draft.joins))
    }

    /// Puts words into the pack if it is the last record of this CPU.
    ///
    /// # Safety
    ///
    /// Preemption must be off, and the pack have room for them from `at` on.
    #[inline]
    unsafe fn add(&self, tr: &TraceArray, at: usize, words: &[u64]) -> Fate {
        let buffer = tr.buffer();
        let page = self.page;
        if page.is_null() {
            return Fate::Closed;
        }
        // SAFETY: The buffer of a live trace array, and what this CPU has of one of its two buffers: there
        // is a page, and so there was a pack. Of which of them that is now, is compared. A page that is
        // its tail is there as long as `committing` is raised (see the module's comment), and the pack on it has
        // as many words. All else is single words that are read or written as a whole.
        unsafe {
            let part = self.part;
            if addr_of!((*part).buffer).read_volatile() != buffer {
                return Fate::Closed;
            }
            if addr_of!((*buffer).record_disabled.counter).read_volatile() != 0 {
                return Fate::Off;
            }
            if addr_of!((*part).record_disabled.counter).read_volatile() != 0 {
                return Fate::Off;
            }
            let committing: *mut usize = addr_of_mut!((*part).committing).cast();
            let commits: *const usize = addr_of!((*part).commits).cast();
            // Before it is raised: as in `compact.h`.
            let before = commits.read_volatile();
            // An interrupt raises it as well, but has lowered it again when this goes on.
            if committing.read_volatile() != 0 {
                return Fate::Closed;
            }
            committing.write_volatile(1);
            let is_last = addr_of!((*part).tail_page).read_volatile() == page
                && addr_of!((*part).buffer).read_volatile() == buffer
                && addr_of!((*part).write_stamp).cast::<u64>().read_volatile() == self.stamp
                && addr_of!((*part).reader_page).read_volatile() != page
                && addr_of!((*page).write).cast::<usize>().read_volatile() == self.write;
            let fate = if is_last {
                for (n, word) in words.iter().enumerate() {
                    self.words.add(at.wrapping_add(n)).write_volatile(*word);
                }
                full_barrier();
                let list = addr_of!((*page).list);
                let before = addr_of!((*list).prev).read_volatile();
                let leads_to = addr_of!((*before).next).read_volatile();
                match leads_to.addr() & !RING_FLAGS == list.addr() {
                    true => Fate::Added,
                    false => Fate::Doubtful,
                }
            } else {
                Fate::Closed
            };
            committing.write_volatile(0);
            if commits.read_volatile() != before {
                catch_up(part);
            }
            fate
        }
    }

    /// Notes that an item was written, that there are so many words now, and that the last of them is
    /// `half` if there is room for one.
    #[inline]
    fn advance(&mut self, item: &Item, used: usize, half: u64) {
        self.catch_up();
        let whole = used.wrapping_sub(usize::from(half != 0));
        self.place = self.words.wrapping_add(whole);
        self.half = half;
        self.halves = self.halves_now();
        self.items = self.items.wrapping_add(1);
        if matches!(item, Item::Function { .. }) {
            self.functions = self.functions.wrapping_add(1);
        }
    }

    /// How many counts after the last item another one is that happens now. `None` if it must not stand
    /// in this pack: the pack has lasted long enough, or the counter was set back since that item.
    #[inline]
    pub(super) fn delta(&self, now: u64) -> Option<u64> {
        if self.is_even == 0 && now > self.until {
            return None;
        }
        now.checked_sub(self.time)
    }

    /// Notes the context that an item has.
    fn remember(&mut self, context: Context) {
        self.packed = context.packed;
        self.pid = context.pid;
        // SAFETY: Looks at this CPU's own state. It is as the shortest way finds it: there too, the hook
        // has turned preemption off once.
        self.preempt = unsafe { ktrace_raw_context(&mut self.flags) };
        // SAFETY: As above.
        if unsafe { ktrace_context() } != context.packed {
            // It has changed since the hook began: somebody else wants the CPU now. What comes next is not to be
            // taken for the same.
            self.preempt = u64::MAX;
        }
    }

    /// Writes an item.
    ///
    /// # Safety
    ///
    /// Preemption must be off.
    #[inline]
    pub(super) unsafe fn write(&mut self, at: Where<'_>, item: &Item) -> Outcome {
        let now = at.clock.now();
        if let Some(word) = self.one_word(at.context, now, item) {
            let used = self.used();
            if used < self.capacity as usize {
                // SAFETY: By the precondition; there is room.
                match unsafe { self.add(at.tr, used, &[word]) } {
                    Fate::Added => {
                        self.advance(item, used.wrapping_add(1), 0);
                        self.time = now;
                        return Outcome::Packed;
                    }
                    Fate::Doubtful => {
                        self.advance(item, used.wrapping_add(1), 0);
                        return self.write_again(at, now, item);
                    }
                    Fate::Off => return Outcome::NotWritten,
                    Fate::Closed => return self.open(at, now, item, 0),
                }
            }
            return self.open(at, now, item, 0);
        }
        // SAFETY: By the precondition.
        unsafe { self.write_words(at, now, item) }
    }

    /// The same for whatever takes more than one word, or half of one.
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(never)]
    unsafe fn write_words(&mut self, at: Where<'_>, now: u64, item: &Item) -> Outcome {
        let same_task = at.context.pid == self.pid;
        let Some(draft) = same_task
            .then(|| self.draft(at.context, now, item))
            .flatten()
        else {
            return self.open(at, now, item, 0);
        };
        let words = draft.words.get(..draft.nr).unwrap_or(&[]);
        let first = self.at(&draft);
        // SAFETY: By the precondition; there is room, or there were no draft.
        let fate = unsafe { self.add(at.tr, first, words) };
        match fate {
            Fate::Off => return Outcome::NotWritten,
            Fate::Closed => return self.open(at, now, item, 0),
            Fate::Added | Fate::Doubtful => {}
        }
        self.learn(&draft);
        self.advance(item, first.wrapping_add(draft.nr), draft.half);
        self.time = now;
        self.remember(at.context);
        match fate {
            Fate::Doubtful => self.write_again(at, now, item),
            _ => Outcome::Packed,
        }
    }

    /// Writes an item that is the last of the pack already, which may have been read before.
    #[cold]
    fn write_again(&mut self, at: Where<'_>, asked: u64, item: &Item) -> Outcome {
        self.catch_up();
        self.halves = self.halves_now();
        let repeats = self.items as u8;
        if matches!(item, Item::Function { .. }) {
            // It counts where it is written again.
            self.functions = self.functions.wrapping_sub(1);
        }
        match self.open(at, asked, item, repeats) {
            Outcome::Packed => Outcome::Packed,
            _ => Outcome::NotWritten,
        }
    }

    /// Room for how many words the next pack has: more than this one, if that was filled; else what
    /// was of use.
    fn next_capacity(&self) -> usize {
        let (capacity, used) = (self.capacity as usize, self.used());
        let next = match capacity.saturating_sub(used) < 2 {
            true => capacity.wrapping_mul(2),
            false => used.wrapping_add(used / 4).wrapping_add(1),
        };
        next.clamp(MIN_WORDS, MAX_WORDS)
    }

    /// Begins anew, knowing nothing.
    fn begin(&mut self) {
        self.catch_up();
        self.serial = self.serial.wrapping_add(1);
        // The upper bits of addresses are all the same.
        let salt = self.serial as u16;
        self.salt = usize::from(salt).wrapping_shl(usize::BITS - u16::BITS);
        if salt == 0 {
            // It comes round.
            self.known = [Known::NOTHING; KNOWN];
        }
        self.place = self.words;
        self.half = 0;
        self.halves = 0;
    }

    /// The item when the counter says `now`, as it was described when the counter said `asked`: of a call
    /// whose beginning is written late, it is later by then.
    fn later(at: Where<'_>, asked: u64, now: u64, item: &Item) -> Option<Item> {
        let Item::Begin(call) = *item else {
            return None;
        };
        let ns = match now.checked_sub(asked) {
            Some(counts) => call.ns.saturating_add(at.clock.ns(counts)),
            // The clock was read a moment before, or the counter was set back.
            None => call.ns.saturating_sub(at.clock.ns(asked.wrapping_sub(now))),
        };
        Some(Item::Begin(Call { ns, ..call }))
    }

    /// Begins a pack with an item, which was described when the counter said `asked`.
    #[inline(never)]
    fn open(&mut self, at: Where<'_>, asked: u64, item: &Item, repeats: u8) -> Outcome {
        self.page = null_mut();
        let buffer = at.tr.buffer();
        let cpu = CpuId::current().as_u32() as usize;
        // SAFETY: The buffer of a live trace array has a place for every CPU that there may be; null
        // if it has no part for this one.
        let part = unsafe { *(*buffer).buffers.add(cpu) };
        let pace = clock::pace(at.tr);
        if part.is_null() || pace == Pace::Coarse {
            return Outcome::Other;
        }
        let is_suspended = suspend::is_under_way();
        // SAFETY: Single words of this CPU's part of the buffer, two of which are compared.
        let (is_read, is_written) = unsafe {
            (
                addr_of!((*part).reader_page).read_volatile()
                    == addr_of!((*part).tail_page).read_volatile(),
                addr_of!((*part).committing).cast::<usize>().read_volatile() != 0,
            )
        };
        if (is_read || is_written || is_suspended) && repeats == 0 {
            return Outcome::Other;
        }
        let capacity = self.next_capacity();
        self.capacity = capacity as u32;
        self.begin();
        self.packed = at.context.packed;
        let now = at.clock.now();
        (self.time, self.until) = (now, now);
        let Some(mut draft) = self.draft(at.context, now, item) else {
            return Outcome::Other;
        };
        let size = capacity.wrapping_mul(size_of::<u64>());
        // Words are aligned to eight bytes, records to four.
        let len = FIRST_WORD.wrapping_add(size_of::<u32>()).wrapping_add(size);
        let record = match Reservation::new(at.tr, at.kind, len, at.context) {
            Ok(record) => record,
            Err(NotWritten) => return Outcome::NotWritten,
        };
        // The ring buffer has taken its time just before this: what is counted from here is never later than it was,
        // and earlier by as much as it took to come here, unless that was long: an interrupt, or another guest. Or
        // the counter was set back in between.
        let mut begun = at.clock.now();
        let took = begun.checked_sub(now);
        if took.is_none_or(|counts| at.clock.ns(counts) > LONG_NS) {
            // SAFETY: A single word of this CPU's part of the buffer.
            let stamp = unsafe { addr_of!((*part).write_stamp).cast::<u64>().read_volatile() };
            begun = at.clock.at(at.tr, stamp);
        }
        // The time of the record is that of the first item. A call did not begin later because the record
        // took its time: its callees would seem to have begun before it.
        if let Some(item) = Self::later(at, asked, begun, item) {
            // It has more words at most, for which there is room.
            if let Some(later) = self.draft(at.context, now, &item) {
                draft = later;
            }
        }
        let entry: *mut u8 = record.entry.cast();
        let odd = entry.addr().wrapping_add(FIRST_WORD) % align_of::<u64>();
        let start = FIRST_WORD.wrapping_add(odd);
        // SAFETY: The record has room for all of that. The tail is only compared with, unless it is
        // the page that the record lies on, which stays while the record is not committed.
        unsafe {
            let head: *mut Head = entry.add(size_of::<abi::trace_entry>()).cast();
            head.write(Head {
                start: start as u8,
                repeats,
                taken: 0,
                site_shift: SITE_SHIFT as u8,
                serial: self.serial,
                mult: at.clock.mult,
                text: (text().base >> 16) as u32,
                words: (size << 16 | start) as u32,
            });
            self.words = entry.add(start).cast();
            self.words.write_bytes(0, capacity);
            for (n, word) in draft.words.iter().take(draft.nr).enumerate() {
                self.words.add(n).write(*word);
            }
            let page = addr_of!((*part).tail_page).read_volatile();
            let data = addr_of!((*(*page).page).data).addr();
            let end = entry.addr().wrapping_add(len).wrapping_sub(data);
            self.stamp = addr_of!((*part).write_stamp).cast::<u64>().read_volatile();
            self.write = addr_of!((*page).write).cast::<usize>().read_volatile();
            let before = addr_of!((*part).before_stamp).cast::<u64>().read_volatile();
            // Somebody else's, if an interrupt has written meanwhile: then there is nothing to be
            // added. Nor if one did while the ring buffer made this record: the last time stamp is that one's then, and
            // no time of this pack.
            // While the system is suspended, a pack has one item: the one that had to be written again.
            if self.write & WRITE_INDEX == end && before == self.stamp && !is_suspended {
                self.page = page;
            }
        }
        self.part = part;
        self.end = self.words.wrapping_add(capacity);
        self.text = text().base;
        self.tr = at.tr;
        self.kind = at.kind;
        self.mult = at.clock.mult;
        self.time = begun;
        self.is_even = u32::from(pace == Pace::Even);
        self.until = self.time.saturating_add(SPAN);
        self.span = match pace {
            Pace::Even => SPAN,
            _ => SHORT_SPAN,
        };
        drop(record);
        self.learn(&draft);
        self.items = 0;
        self.halves = self.halves_now();
        self.advance(item, draft.nr, draft.half);
        self.remember(at.context);
        Outcome::Packed
    }
}

/// Commits what interrupts could not while the counter was raised, as `rb_end_commit()` does.
///
/// Not by a record that is made and discarded: there is none to be had where nothing is recorded any more, or the
/// interrupt has taken a snapshot, and what it wrote is in the other buffer.
///
/// # Safety
///
/// `part` must be what this CPU has of a live buffer, and preemption off.
#[cold]
#[inline(never)]
unsafe fn catch_up(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: By the precondition. Single words, of which the first is written by this CPU alone, and is
    // what it was when an interrupt is done.
    unsafe {
        let committing: *mut usize = addr_of_mut!((*part).committing).cast();
        let commits: *const usize = addr_of!((*part).commits).cast();
        loop {
            let before = commits.read_volatile();
            let others = committing.read_volatile();
            committing.write_volatile(others.wrapping_add(1));
            // Or this is an interrupt itself, and whom it interrupted commits all of it.
            if others == 0 {
                commit_all(part);
            }
            committing.write_volatile(others);
            // Another one may have come between the two.
            if others != 0 || commits.read_volatile() == before {
                break;
            }
        }
    }
}

/// Commits all that was written, as `rb_set_commit_to_write()` does.
///
/// # Safety
///
/// As for [`catch_up`]; nobody but this must have raised `committing`.
unsafe fn commit_all(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: By the precondition: who raises `committing` from zero owns the page that is committed last, and no
    // reader takes those from there to the tail away, nor does a writer come round to them. They lead to each
    // other; all that is committed lies on them, and interrupts have written all of that, or this would not go on.
    // The rest is single words.
    unsafe {
        let commit_page = addr_of_mut!((*part).commit_page);
        let tail_page = addr_of!((*part).tail_page);
        let set = |page: *mut abi::buffer_page| {
            let write = addr_of!((*page).write).cast::<usize>().read_volatile() & WRITE_INDEX;
            let commit: *mut usize = addr_of_mut!((*(*page).page).commit).cast();
            if commit.read_volatile() != write {
                // Readers have to see what is committed.
                full_barrier();
                commit.write_volatile(write);
            }
        };
        // Interrupts may go on meanwhile, but not for ever: the kernel's limit.
        for _ in 0..(*part).nr_pages.saturating_mul(100) {
            let page = commit_page.read_volatile();
            set(page);
            if page == tail_page.read_volatile() {
                break;
            }
            // Again: the interrupt that went on to another page may have filled this one before.
            set(page);
            let next = addr_of!((*page).list.next).read_volatile();
            let next = next.map_addr(|addr| addr & !RING_FLAGS);
            let next: *mut abi::buffer_page = next
                .cast::<u8>()
                .wrapping_sub(offset_of!(abi::buffer_page, list))
                .cast();
            commit_page.write_volatile(next);
            let meta = (*part).ring_meta;
            if !meta.is_null() {
                // For who finds the buffer after a crash.
                let place = addr_of_mut!((*meta).commit_buffer);
                place.write_volatile((*next).page.addr() as c_ulong);
            }
        }
    }
}

/// # Safety
///
/// For `compact.h`: with preemption off and a pack that is busy, and that was added to, or tried to.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_catch_up(pack: *mut c_void) {
    // SAFETY: By the precondition: nobody else touches what is busy, and it is known what this CPU has of the buffer,
    // which is there as long as the trace array, which is alive, as its hook is.
    unsafe { catch_up((*pack.cast::<Local>()).part) };
}

/// What was added to a pack last may have been read before, and is written once more.
///
/// # Safety
///
/// For `compact.h`: with preemption off and a pack that is busy, and that the item was added to.
unsafe fn doubted(pack: *mut c_void, item: &Item) {
    // SAFETY: By the precondition: nobody else touches what is busy. The trace array is alive, as its
    // hook is.
    unsafe {
        let local = &mut *pack.cast::<Local>();
        let at = Where {
            tr: &*local.tr,
            kind: local.kind,
            context: Context::new(ktrace_context(), local.pid),
            // The shortest way knows no other.
            clock: Clock {
                mult: local.mult,
                is_counter: true,
            },
        };
        let outcome = local.write_again(at, at.clock.now(), item);
        if outcome == Outcome::NotWritten && is_recording(at.tr) {
            local.lost = local.lost.wrapping_add(1);
        }
    }
}

/// A function.
///
/// # Safety
///
/// As for [`doubted`].
#[no_mangle]
unsafe extern "C" fn ktrace_pack_doubted(pack: *mut c_void, ip: c_ulong, parent_ip: c_ulong) {
    // SAFETY: By the precondition.
    unsafe { doubted(pack, &Item::Function { ip, parent_ip }) };
}

/// A call that returned.
///
/// # Safety
///
/// As for [`doubted`].
#[no_mangle]
unsafe extern "C" fn ktrace_pack_doubted_leaf(
    pack: *mut c_void,
    func: c_ulong,
    depth: c_int,
    ns: u64,
) {
    // SAFETY: By the precondition.
    unsafe { doubted(pack, &Item::Leaf(Call { func, depth, ns })) };
}
