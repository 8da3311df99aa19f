// SPDX-License-Identifier: GPL-2.0

//! Writes packs: ring-buffer records that hold several items (calls) each.
//!
//! # How a record can grow
//!
//! Nearly all of the cost of a record is its place: the ring buffer has to find one that no
//! interrupt, no reader and no other CPU uses. So a pack is written once, as a record with room for
//! a number of words, all zero, and committed immediately like any other record. While it is the
//! last record of its CPU, the next items are stored in it.
//!
//! A pack is the last record as long as the tail of the ring buffer is at its end and the last time
//! stamp is its own. If the buffer is emptied and filled again in between, the time stamp differs,
//! provided that the clock advances ([`Pace`]). Each other writer of a record (this module, a trace
//! event, `trace_marker`) moves the tail and changes the time stamp, so no notification and no lock
//! is needed, and each record behind a pack is later than all items of the pack. Nothing is stored
//! outside the ring buffer, so nothing has to be written out when tracing stops, a reader arrives,
//! a CPU goes offline or the kernel crashes.
//!
//! # What keeps the page in place
//!
//! Between the check of the tail and the write, an interrupt may fill the buffer, or a reader may
//! take the page. The ring buffer prevents both for its own writers with `committing`: while it is
//! not zero, the commit page does not change; a writer that wraps around to it drops its record,
//! and a reader copies from it, but does not take it. This module raises and lowers `committing` in
//! the same way. If an interrupt writes a record in between, it finds `committing` raised and does
//! not commit the record; `commits` shows this. This module then commits that record, as the ring
//! buffer's own writers do when they end, even if recording is disabled now: the interrupt may have
//! disabled it.
//!
//! As in the ring buffer's own writers, all of this happens with preemption off and after a check
//! of `record_disabled`: once recording is disabled and an RCU grace period has passed, no writer
//! is active.
//!
//! # Readers
//!
//! A reader that has reached the page of a pack may have read the pack, and would not see new
//! items. `reader_page` shows this; then no item is added, and no pack is begun while the reader
//! keeps up with the writer. A reader may also arrive during the write. So the word is written
//! first, then comes a barrier, and then a check whether the page is still in the ring. The reader
//! takes the page out with a `cmpxchg()` (`rb_head_page_replace()`), which is a barrier as well,
//! and reads after that. In between it sets `reader_page`, but that store is not ordered before its
//! reads. If the page is no longer in the ring, the reader may or may not have seen the word. The
//! item is written again, into a pack that is marked accordingly ([`Head::repeats`]), and a reader
//! skips it if the previous pack has it.
//!
//! The page is in the ring if the page before it points to it, apart from the low bits that mark
//! the head page. The page before it is allocated as long as preemption is off: pages are freed by
//! the CPU that writes to them (`update_pages_handler()`), or while it does not write. For a page
//! that has become the reader page, the page that pointed to it may have been freed long ago;
//! therefore `reader_page` is checked first.
//!
//! # Interrupts
//!
//! An interrupt handler that has interrupted a writer finds `committing` raised, and packs nothing.
//! The interrupted writer may have read its time, but not reserved its place. It notices a record
//! that is written in between, and reads the time again. It would not notice a word in a pack, and
//! its record would follow an item that is later.
//!
//! Each CPU has a `PerCpuPack`, which one context uses at a time. A context that finds it in use,
//! NMIs included, writes a normal record, behind the pack. An item that the interrupted context
//! then adds to the pack is earlier than that record.

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
    clock::Clock,
    encode::EncodedItem,
    encoding::{
        Call,
        Item,
        DELTA_BITS,
        MAX_WORDS,
        SITE_SHIFT, //
    },
    state::{
        text,
        CallSite,
        PerCpuPack,
        KNOWN, //
    },
    suspend, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::abi,
    record::{
        context::Context,
        is_recording,
        NotWritten,
        Reservation, //
    },
    time::{
        clock::{
            self,
            Pace, //
        },
        counter, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_raw_context(flags: *mut u64) -> u64;
    fn ktrace_context() -> c_uint;
}

/// The header of a pack, after the common header of records.
#[repr(C)]
pub struct Head {
    /// Offset in bytes from the beginning of the record to the first word.
    pub start: u8,
    /// Number of items that the previous pack of the same CPU has if it contains the first item of
    /// this pack too; 0 if it cannot contain it.
    pub repeats: u8,
    /// Number of items that a reader has consumed, while it left the others in the buffer.
    pub taken: u8,
    /// [`super::encoding::Text::site_shift`].
    pub site_shift: u8,
    /// Serial number of the pack on its CPU.
    pub serial: u32,
    /// Length of a counter tick in ns, times 2^22.
    pub mult: u32,
    /// Bits 16 to 47 of [`super::encoding::Text::base`]; the bits above are 1, those below 0.
    pub text: u32,
    /// Offset of the words, and their size in bytes, used or not, in the format that trace events
    /// use for a dynamic array: for clients that do not know packs.
    pub words: u32,
}

/// Smallest offset of the first word in a record.
pub const FIRST_WORD: usize = size_of::<abi::trace_entry>() + size_of::<Head>();

/// The result of writing an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PackResult {
    /// The item is in a pack.
    Packed,
    /// The caller has to write a normal record.
    Fallback,
    /// The item is lost: the buffer had no room for it, or was not recording.
    NotWritten,
}

/// Number of words of the first pack, and minimum of all packs.
const MIN_WORDS: usize = 8;

/// Upper limit, in ns, of the time to begin a pack without an interruption.
const LONG_NS: u64 = 2000;

/// Maximum age of a pack in counter ticks if the trace clock is continuously adjusted (NTP). 6 ms
/// at 3 GHz: an adjustment of 50 ppm then causes an error of 0.3 us. 0.7 s at 25 MHz: 34 us. Also
/// the largest delta of a function on the fast path, since half a word holds no larger one.
const SPAN: u64 = (1 << DELTA_BITS) - 1;

/// Largest delta of a function on the fast path if the trace clock is continuously adjusted. A full
/// pack of such functions spans less than [`SPAN`], so the fast path need not check the age of the
/// pack.
const SHORT_SPAN: u64 = SPAN / (2 * MAX_WORDS as u64);

/// Flags in a pointer from one page of a ring buffer to the next (`RB_FLAG_MASK`).
const RING_FLAGS: usize = 3;

/// The bits of a page's `write` that are an index (`RB_WRITE_MASK`); the other bits count how often
/// the page was put into use.
const WRITE_INDEX: usize = 0xf_ffff;

/// The result of adding words to a pack.
enum AddResult {
    /// The words were written.
    Added,
    /// The words were written, but a reader may have read the page before.
    Doubtful,
    /// Not written: the pack is not the last record any more, or a reader or an interrupted writer
    /// uses the page.
    Closed,
    /// Not written: recording is disabled.
    Off,
}

/// The destination of an item (trace array and type number), its context and its clock.
#[derive(Clone, Copy)]
pub(super) struct PackContext<'a> {
    pub(super) tr: &'a TraceArray,
    pub(super) kind: u32,
    pub(super) context: Context,
    pub(super) clock: Clock,
}

impl PerCpuPack {
    /// Returns the number of words in use.
    pub(super) fn used(&self) -> usize {
        self.halves_now().div_ceil(2) as usize
    }

    /// Returns the number of 32-bit halves in use.
    fn halves_now(&self) -> u64 {
        let bytes = self.place.addr().wrapping_sub(self.words.addr());
        (bytes / size_of::<u32>()) as u64 | u64::from(self.half != 0)
    }

    /// Counts the items that the fast path has added.
    fn catch_up(&mut self) {
        let calls = self.calls.wrapping_sub(self.calls_seen);
        self.calls_seen = self.calls;
        let halves = self.halves_now().saturating_sub(self.halves);
        let functions = halves.saturating_sub(calls.wrapping_mul(2));
        self.functions = self.functions.wrapping_add(functions);
        self.items = self.items.wrapping_add(functions).wrapping_add(calls);
    }

    /// Returns the index in the pack of the first word of a draft.
    pub(super) fn at(&self, draft: &EncodedItem) -> usize {
        self.used().wrapping_sub(usize::from(draft.joins))
    }

    /// Writes words into the pack if it is the last record of this CPU.
    ///
    /// # Safety
    ///
    /// Preemption must be off, and the pack must have room for the words from index `at` on.
    #[inline]
    unsafe fn add(&self, tr: &TraceArray, at: usize, words: &[u64]) -> AddResult {
        let buffer = tr.buffer();
        let page = self.page;
        if page.is_null() {
            return AddResult::Closed;
        }
        // SAFETY: `buffer` belongs to a live trace array. `page` is not null, so `part` is this
        // CPU's part of one of its two buffers; whether it is this one is compared. If `page` is
        // the tail page, it stays in place while `committing` is raised (see the module
        // documentation), and the pack on it has room for the words, as the caller guarantees. All
        // other accesses are to single words, which are read or written as a whole.
        unsafe {
            let part = self.part;
            if addr_of!((*part).buffer).read_volatile() != buffer {
                return AddResult::Closed;
            }
            if addr_of!((*buffer).record_disabled.counter).read_volatile() != 0 {
                return AddResult::Off;
            }
            if addr_of!((*part).record_disabled.counter).read_volatile() != 0 {
                return AddResult::Off;
            }
            let committing: *mut usize = addr_of_mut!((*part).committing).cast();
            let commits: *const usize = addr_of!((*part).commits).cast();
            // Read before `committing` is raised: see `ktrace_pack_put()` in `compact.h`.
            let before = commits.read_volatile();
            // An interrupt raises it too, but lowers it again before this code continues.
            if committing.read_volatile() != 0 {
                return AddResult::Closed;
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
                counter::full_barrier();
                let list = addr_of!((*page).list);
                let before = addr_of!((*list).prev).read_volatile();
                let leads_to = addr_of!((*before).next).read_volatile();
                match leads_to.addr() & !RING_FLAGS == list.addr() {
                    true => AddResult::Added,
                    false => AddResult::Doubtful,
                }
            } else {
                AddResult::Closed
            };
            committing.write_volatile(0);
            if commits.read_volatile() != before {
                catch_up(part);
            }
            fate
        }
    }

    /// Updates the state after the slow path wrote an item: `used` words are in use now, and the
    /// last one is `half` if its second half is free.
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

    /// Returns the ticks between the last item and an item at counter value `now`. `None` if that
    /// item must not be added to this pack: the pack is too old, or the counter was set back.
    #[inline]
    pub(super) fn delta(&self, now: u64) -> Option<u64> {
        if self.is_even == 0 && now > self.until {
            return None;
        }
        now.checked_sub(self.time)
    }

    /// Stores the context of the last item.
    fn remember(&mut self, context: Context) {
        self.packed = context.packed;
        self.pid = context.pid;
        // SAFETY: Reads state of this CPU and task only, and preemption is off. The hook of the
        // fast path reads the same state: there too, preemption was disabled once.
        self.preempt = unsafe { ktrace_raw_context(&mut self.flags) };
        // SAFETY: Reads state of this CPU and task only, and preemption is off.
        if unsafe { ktrace_context() } != context.packed {
            // The context has changed since the hook began, as another task needs the CPU now. The
            // next item must not be taken for one of the same context.
            self.preempt = u64::MAX;
        }
    }

    /// Writes an item: adds it to the current pack, or begins a new one.
    ///
    /// # Safety
    ///
    /// Preemption must be off.
    #[inline]
    pub(super) unsafe fn write(&mut self, at: PackContext<'_>, item: &Item) -> PackResult {
        let now = at.clock.now();
        if let Some(word) = self.one_word(at.context, now, item) {
            let used = self.used();
            if used < self.capacity as usize {
                // SAFETY: The caller has turned preemption off. There is room for a word, since
                // `used` is less than the capacity.
                match unsafe { self.add(at.tr, used, &[word]) } {
                    AddResult::Added => {
                        self.advance(item, used.wrapping_add(1), 0);
                        self.time = now;
                        return PackResult::Packed;
                    }
                    AddResult::Doubtful => {
                        self.advance(item, used.wrapping_add(1), 0);
                        return self.write_again(at, now, item);
                    }
                    AddResult::Off => return PackResult::NotWritten,
                    AddResult::Closed => return self.open(at, now, item, 0),
                }
            }
            return self.open(at, now, item, 0);
        }
        // SAFETY: The caller has turned preemption off.
        unsafe { self.write_words(at, now, item) }
    }

    /// Writes an item that takes more than one word, or half a word.
    ///
    /// # Safety
    ///
    /// Preemption must be off.
    #[inline(never)]
    unsafe fn write_words(&mut self, at: PackContext<'_>, now: u64, item: &Item) -> PackResult {
        let same_task = at.context.pid == self.pid;
        let Some(draft) = same_task
            .then(|| self.draft(at.context, now, item))
            .flatten()
        else {
            return self.open(at, now, item, 0);
        };
        let words = draft.words.get(..draft.nr).unwrap_or(&[]);
        let first = self.at(&draft);
        // SAFETY: The caller has turned preemption off. `draft()` returns only words for which the
        // pack has room.
        let fate = unsafe { self.add(at.tr, first, words) };
        match fate {
            AddResult::Off => return PackResult::NotWritten,
            AddResult::Closed => return self.open(at, now, item, 0),
            AddResult::Added | AddResult::Doubtful => {}
        }
        self.learn(&draft);
        self.advance(item, first.wrapping_add(draft.nr), draft.half);
        self.time = now;
        self.remember(at.context);
        match fate {
            AddResult::Doubtful => self.write_again(at, now, item),
            _ => PackResult::Packed,
        }
    }

    /// Writes the last item of the pack again, because a reader may have read the page before.
    #[cold]
    fn write_again(&mut self, at: PackContext<'_>, asked: u64, item: &Item) -> PackResult {
        self.catch_up();
        self.halves = self.halves_now();
        let repeats = self.items as u8;
        if matches!(item, Item::Function { .. }) {
            // It is counted when it is written again.
            self.functions = self.functions.wrapping_sub(1);
        }
        match self.open(at, asked, item, repeats) {
            PackResult::Packed => PackResult::Packed,
            _ => PackResult::NotWritten,
        }
    }

    /// Returns the number of words for the next pack: twice that of this pack if it was filled,
    /// else slightly more than it used.
    fn next_capacity(&self) -> usize {
        let (capacity, used) = (self.capacity as usize, self.used());
        let next = match capacity.saturating_sub(used) < 2 {
            true => capacity.wrapping_mul(2),
            false => used.wrapping_add(used / 4).wrapping_add(1),
        };
        next.clamp(MIN_WORDS, MAX_WORDS)
    }

    /// Resets the state for a new pack, with no known addresses.
    fn begin(&mut self) {
        self.catch_up();
        self.serial = self.serial.wrapping_add(1);
        // The upper bits are equal in all kernel addresses.
        let salt = self.serial as u16;
        self.salt = usize::from(salt).wrapping_shl(usize::BITS - u16::BITS);
        if salt == 0 {
            // The salt has wrapped around, so old entries could match again.
            self.known = [CallSite::NOTHING; KNOWN];
        }
        self.place = self.words;
        self.half = 0;
        self.halves = 0;
    }

    /// Returns `item`, which was described at counter value `asked`, as of counter value `now`.
    /// `None` if that makes no difference: only in the entry of a call, `ns` grows with time.
    fn later(at: PackContext<'_>, asked: u64, now: u64, item: &Item) -> Option<Item> {
        let Item::Begin(call) = *item else {
            return None;
        };
        let ns = match now.checked_sub(asked) {
            Some(counts) => call.ns.saturating_add(at.clock.ns(counts)),
            // `now` was derived from the clock and is slightly earlier, or the counter was set
            // back.
            None => call.ns.saturating_sub(at.clock.ns(asked.wrapping_sub(now))),
        };
        Some(Item::Begin(Call { ns, ..call }))
    }

    /// Begins a pack with an item that was described at counter value `asked`. For `repeats`, see
    /// [`Head::repeats`].
    #[inline(never)]
    fn open(&mut self, at: PackContext<'_>, asked: u64, item: &Item, repeats: u8) -> PackResult {
        self.page = null_mut();
        let buffer = at.tr.buffer();
        let cpu = CpuId::current().as_u32() as usize;
        // SAFETY: `buffers` of a live trace array's buffer has an element for each possible CPU; it
        // is null if the buffer has no part for that CPU.
        let part = unsafe { *(*buffer).buffers.add(cpu) };
        let pace = clock::pace(at.tr);
        if part.is_null() || pace == Pace::Coarse {
            return PackResult::Fallback;
        }
        let is_suspended = suspend::is_under_way();
        // SAFETY: `part` is this CPU's part of a live buffer. Single words of it are read; pages
        // are only compared.
        let (is_read, is_written) = unsafe {
            (
                addr_of!((*part).reader_page).read_volatile()
                    == addr_of!((*part).tail_page).read_volatile(),
                addr_of!((*part).committing).cast::<usize>().read_volatile() != 0,
            )
        };
        if (is_read || is_written || is_suspended) && repeats == 0 {
            return PackResult::Fallback;
        }
        let capacity = self.next_capacity();
        self.capacity = capacity as u32;
        self.begin();
        self.packed = at.context.packed;
        let now = at.clock.now();
        (self.time, self.until) = (now, now);
        let Some(mut draft) = self.draft(at.context, now, item) else {
            return PackResult::Fallback;
        };
        let size = capacity.wrapping_mul(size_of::<u64>());
        // Words are aligned to eight bytes, records to four.
        let len = FIRST_WORD.wrapping_add(size_of::<u32>()).wrapping_add(size);
        let record = match Reservation::new(at.tr, at.kind, len, at.context) {
            Ok(record) => record,
            Err(NotWritten) => return PackResult::NotWritten,
        };
        // The ring buffer has read its clock just before this. So deltas that are counted from here
        // are never too large, and too small by the time in between. If that was long (an
        // interrupt, or a virtual CPU that did not run), or if the counter was set back in between,
        // both clocks are read again.
        let mut begun = at.clock.now();
        let took = begun.checked_sub(now);
        if took.is_none_or(|counts| at.clock.ns(counts) > LONG_NS) {
            // SAFETY: `part` is this CPU's part of a live buffer; a single word is read.
            let stamp = unsafe { addr_of!((*part).write_stamp).cast::<u64>().read_volatile() };
            begun = at.clock.at(at.tr, stamp);
        }
        // The first item has the time of the record. The time spent on reserving the record does
        // not delay the start of a call: otherwise its callees would seem to begin before it.
        if let Some(item) = Self::later(at, asked, begun, item) {
            // It may take more words, and there is room for them.
            if let Some(later) = self.draft(at.context, now, &item) {
                draft = later;
            }
        }
        let entry: *mut u8 = record.entry.cast();
        let odd = entry.addr().wrapping_add(FIRST_WORD) % align_of::<u64>();
        let start = FIRST_WORD.wrapping_add(odd);
        // SAFETY: The record is not committed yet, so it stays, and it has room for the header and
        // for `capacity` words at `start`, which is aligned. The tail page is a page of this
        // buffer, and no page is freed while preemption is off. All else is single words of `part`.
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
            // Items can be added only if this is the last record. If an interrupt has written one
            // after it, the tail is not at its end. If an interrupt wrote one while the ring buffer
            // made this record, the last time stamp is that of the interrupt, and not of this pack.
            // While the system is suspended, a pack has one item: one that had to be written again.
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
        PackResult::Packed
    }
}

/// Commits the records that interrupts could not commit while `committing` was raised, as
/// `rb_end_commit()` does.
///
/// It is not enough to write and discard a record: that fails if recording is disabled, and goes to
/// the other buffer if the interrupt has taken a snapshot.
///
/// # Safety
///
/// `part` must be this CPU's part of a live buffer, and preemption must be off.
#[cold]
#[inline(never)]
unsafe fn catch_up(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: `part` is this CPU's part of a live buffer, as the caller guarantees. Only single
    // words are accessed. Only this CPU writes `committing`, and an interrupt restores its value.
    // `commit_all()` is called only if no other context has raised it.
    unsafe {
        let committing: *mut usize = addr_of_mut!((*part).committing).cast();
        let commits: *const usize = addr_of!((*part).commits).cast();
        loop {
            let before = commits.read_volatile();
            let others = committing.read_volatile();
            committing.write_volatile(others.wrapping_add(1));
            // Otherwise, this is an interrupt itself, and the interrupted writer commits
            // everything.
            if others == 0 {
                commit_all(part);
            }
            committing.write_volatile(others);
            // An interrupt may have written after the commit, while the counter was still raised.
            if others != 0 || commits.read_volatile() == before {
                break;
            }
        }
    }
}

/// Commits everything that was written, as `rb_set_commit_to_write()` does.
///
/// # Safety
///
/// `part` must be this CPU's part of a live buffer, preemption must be off, and only the caller may
/// have raised `committing`.
unsafe fn commit_all(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: The caller raised `committing` from zero, so it owns the commit page: no reader takes
    // the pages from there to the tail page, and no writer wraps around to them. They are linked to
    // each other. Everything to commit is on them, and complete, because interrupts finish their
    // writes before this code continues. All else is single words.
    unsafe {
        let commit_page = addr_of_mut!((*part).commit_page);
        let tail_page = addr_of!((*part).tail_page);
        let set = |page: *mut abi::buffer_page| {
            let write = addr_of!((*page).write).cast::<usize>().read_volatile() & WRITE_INDEX;
            let commit: *mut usize = addr_of_mut!((*(*page).page).commit).cast();
            if commit.read_volatile() != write {
                // Readers must see the data before the index.
                counter::full_barrier();
                commit.write_volatile(write);
            }
        };
        // Interrupts may move the tail further, but not forever. The kernel has the same limit.
        for _ in 0..(*part).nr_pages.saturating_mul(100) {
            let page = commit_page.read_volatile();
            set(page);
            if page == tail_page.read_volatile() {
                break;
            }
            // Repeated: the interrupt that moved the tail may have filled this page before.
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
                // For reading the buffer after a crash.
                let place = addr_of_mut!((*meta).commit_buffer);
                place.write_volatile((*next).page.addr() as c_ulong);
            }
        }
    }
}

/// Commits the records of interrupts, for `compact.h`.
///
/// # Safety
///
/// Preemption must be off, no other context may use `pack`, and its `part` must be this CPU's part
/// of a live buffer.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_catch_up(pack: *mut c_void) {
    // SAFETY: The caller guarantees that no other context uses `pack`, that `part` is this CPU's
    // part of a live buffer, and that preemption is off.
    unsafe { catch_up((*pack.cast::<PerCpuPack>()).part) };
}

/// Writes the last item of a pack again, because a reader may have read the page before.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and `item` must be its last
/// item.
unsafe fn doubted(pack: *mut c_void, item: &Item) {
    // SAFETY: `pack` is busy, so no other context uses it. The trace array is alive, as its hook
    // is.
    unsafe {
        let local = &mut *pack.cast::<PerCpuPack>();
        let at = PackContext {
            tr: &*local.tr,
            kind: local.kind,
            context: Context::new(ktrace_context(), local.pid),
            // The fast path uses no other clock.
            clock: Clock {
                mult: local.mult,
                is_counter: true,
            },
        };
        let outcome = local.write_again(at, at.clock.now(), item);
        if outcome == PackResult::NotWritten && is_recording(at.tr) {
            local.lost = local.lost.wrapping_add(1);
        }
    }
}

/// Writes a function again, for `compact.h`.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and its last item must be
/// this function.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_rewrite(pack: *mut c_void, ip: c_ulong, parent_ip: c_ulong) {
    // SAFETY: The caller guarantees what `doubted()` requires.
    unsafe { doubted(pack, &Item::Function { ip, parent_ip }) };
}

/// Writes a call that returned again, for `compact.h`.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and its last item must be
/// this call.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_rewrite_leaf(
    pack: *mut c_void,
    func: c_ulong,
    depth: c_int,
    ns: u64,
) {
    // SAFETY: The caller guarantees what `doubted()` requires.
    unsafe { doubted(pack, &Item::Leaf(Call { func, depth, ns })) };
}
