// SPDX-License-Identifier: GPL-2.0

//! Begins a pack: reserves a record for it, and fills in its header and its first item.

use core::{
    mem::{
        align_of,
        size_of, //
    },
    ptr::{
        addr_of,
        null_mut, //
    },
};

use kernel::cpu::CpuId;

use super::{
    commit::WRITE_INDEX,
    encoding::{
        Item,
        PackedCall,
        DELTA_BITS,
        MAX_WORDS,
        SITE_SHIFT, //
    },
    head::{
        PackHeader,
        FIRST_WORD, //
    },
    percpu_pack::{
        PackContext,
        PackResult, //
    },
    state::{
        text,
        CallSite,
        PerCpuPack,
        CALL_SITES, //
    },
    suspend, //
};
use crate::ktrace::{
    private::abi,
    record::{
        NotWritten,
        Reservation, //
    },
    time::clock::{
        self,
        ClockRate, //
    },
};

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

impl PerCpuPack {
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
            self.call_sites = [CallSite::NOTHING; CALL_SITES];
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
        Some(Item::Begin(PackedCall { ns, ..call }))
    }

    /// Begins a pack with an item that was described at counter value `asked`. For `repeats`, see
    /// [`PackHeader::repeats`].
    #[inline(never)]
    pub(super) fn open(
        &mut self,
        at: PackContext<'_>,
        asked: u64,
        item: &Item,
        repeats: u8,
    ) -> PackResult {
        self.page = null_mut();
        let buffer = at.tr.buffer();
        let cpu = CpuId::current().as_u32() as usize;
        // SAFETY: `buffers` of a live trace array's buffer has an element for each possible CPU; it
        // is null if the buffer has no part for that CPU.
        let part = unsafe { *(*buffer).buffers.add(cpu) };
        let rate = clock::rate(at.tr);
        if part.is_null() || rate == ClockRate::Coarse {
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
            let head: *mut PackHeader = entry.add(size_of::<abi::trace_entry>()).cast();
            head.write(PackHeader {
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
        self.is_constant_rate = u32::from(rate == ClockRate::Constant);
        self.until = self.time.saturating_add(SPAN);
        self.span = match rate {
            ClockRate::Constant => SPAN,
            _ => SHORT_SPAN,
        };
        drop(record);
        self.add_sites(&draft);
        self.items = 0;
        self.halves = self.halves_now();
        self.advance(item, draft.nr, draft.half);
        self.remember(at.context);
        PackResult::Packed
    }
}
