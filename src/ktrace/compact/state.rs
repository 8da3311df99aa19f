// SPDX-License-Identifier: GPL-2.0

//! The state of a CPU's current pack, which the fast path in `compact.h` shares.

use super::encoding::{
    TextLayout,
    SITE_SHIFT, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::{
        abi,
        symbols::Data, //
    },
    shared::same_as_c, //
};

/// Returns the address parameters of this kernel.
#[inline(always)]
pub(in crate::ktrace) fn text() -> TextLayout {
    TextLayout {
        base: Data::Text.address() & !0xffff,
        site_shift: SITE_SHIFT,
    }
}

/// Size of the table of known addresses. A power of two.
pub(super) const CALL_SITES: usize = 64;

/// An entry for addresses that a word of the pack holds. `struct ktrace_call_site` in `compact.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CallSite {
    /// The function, or the address in an address word.
    pub(super) address: usize,
    /// The return address of the function, or [`super::encode::NO_SITE`], XORed with the
    /// [`PerCpuPack::salt`] of the pack to which the entry belongs.
    pub(super) salted: usize,
    /// The index of the word, as a word whose first half has a delta of 0, and as a second half.
    pub(super) first: u64,
    pub(super) second: u64,
}

same_as_c!(CallSite, ktrace_call_site);

impl CallSite {
    pub(super) const NOTHING: Self = Self {
        address: 0,
        salted: 0,
        first: 0,
        second: 0,
    };
}

/// A CPU's state of its current pack. `struct ktrace_pack` in `compact.h`, which has the fast path.
#[repr(C)]
pub(super) struct PerCpuPack {
    /// Nonzero while a context uses this state.
    pub(super) busy: usize,
    /// Counter value of the last item.
    pub(super) time: u64,
    /// Largest delta, in ticks, of a function on the fast path: `SPAN` of `begin.rs` if the
    /// trace clock advances at the rate of the counter, else `SHORT_SPAN`. If the counter was
    /// set back, the delta is larger than either.
    pub(super) span: u64,
    /// Raw context of the last item (`ktrace_raw_context()`).
    pub(super) preempt: u64,
    pub(super) flags: u64,
    /// Distinguishes the entries of this pack in `call_sites` from those of earlier packs.
    pub(super) salt: usize,
    /// The last word if its second half is free, else 0.
    pub(super) half: u64,
    /// Address of the word with the free half, or of the next word; and the end of the words.
    pub(super) place: *mut u64,
    pub(super) end: *mut u64,
    pub(super) tr: *const TraceArray,
    /// The page of the pack; null if there is no pack to add to.
    pub(super) page: *mut abi::buffer_page,
    /// `write` of the page and the CPU's last time stamp, as long as the pack is the last record.
    pub(super) write: usize,
    pub(super) stamp: u64,
    /// This CPU's part of the buffer to which the pack was written. It exists as long as the trace
    /// array, though a snapshot may move it to the other of the two buffers. Valid if `page` is not
    /// null.
    pub(super) part: *mut abi::ring_buffer_per_cpu,
    /// [`super::encoding::TextLayout::base`].
    pub(super) text: usize,
    /// Number of words of calls that the fast path has added in total. `calls_seen` is the number
    /// of those that `items` includes.
    pub(super) calls: u64,
    /// Number of those that are entries.
    pub(super) begins: u64,
    /// Number of halves in use when the slow path last updated the state. The halves that were
    /// added since are one function each, except two for each call, and those in `extra`.
    pub(super) halves: u64,
    /// Number of halves that the fast path has used in total in addition to one for each function:
    /// and two for each call: for functions that were new in a pack, for changes of the context,
    /// and halves that stay free. `extra_seen` is the number of those that `functions` takes into
    /// account.
    pub(super) extra: u64,
    pub(super) calls_seen: u64,
    pub(super) extra_seen: u64,
    /// Counter value until which items may be added if the trace clock does not advance at the rate
    /// of the counter.
    pub(super) until: u64,
    pub(super) words: *mut u64,
    /// Number of functions in total, as of `halves`.
    pub(super) functions: u64,
    /// Number of items in this pack, as of `halves`.
    pub(super) items: u64,
    /// Serial number of this pack on this CPU.
    pub(super) serial: u32,
    /// Number of words for which the pack has room.
    pub(super) capacity: u32,
    /// Context of the last item, in the format of a record.
    pub(super) packed: u32,
    /// The type number of pack records.
    pub(super) kind: u32,
    /// PID of the task of the last item.
    pub(super) pid: i32,
    /// Number of items of the fast path that had to be written again and found no room, in total.
    pub(super) lost: u32,
    /// Length of a tick of the pack's times: [`super::clock::Clock::mult`].
    pub(super) mult: u32,
    /// Nonzero if the trace clock is known to advance at the rate of the counter.
    pub(super) is_constant_rate: u32,
    pub(super) call_sites: [CallSite; CALL_SITES],
}

same_as_c!(PerCpuPack, ktrace_pack);
