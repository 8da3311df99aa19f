// SPDX-License-Identifier: GPL-2.0

//! Keeps the position, the counts and the context of a CPU's current pack.

use core::mem::size_of;

use super::{
    clock::Clock,
    encode::EncodedItem,
    encoding::Item,
    state::PerCpuPack, //
};
use crate::ktrace::record::context::ktrace_context;
use crate::ktrace::{
    array::trace_array::TraceArray,
    record::context::Context, //
};

extern "C" {
    fn ktrace_raw_context(flags: *mut u64) -> u64;
}

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
    pub(super) fn halves_now(&self) -> u64 {
        let bytes = self.place.addr().wrapping_sub(self.words.addr());
        (bytes / size_of::<u32>()) as u64 | u64::from(self.half != 0)
    }

    /// Counts the items that the fast path has added.
    pub(super) fn catch_up(&mut self) {
        let calls = self.calls.wrapping_sub(self.calls_seen);
        self.calls_seen = self.calls;
        let extra = self.extra.wrapping_sub(self.extra_seen);
        self.extra_seen = self.extra;
        let halves = self.halves_now().saturating_sub(self.halves);
        let others = calls.wrapping_mul(2).wrapping_add(extra);
        let functions = halves.saturating_sub(others);
        self.functions = self.functions.wrapping_add(functions);
        self.items = self.items.wrapping_add(functions).wrapping_add(calls);
    }

    /// Returns the index in the pack of the first word of a draft.
    pub(super) fn at(&self, draft: &EncodedItem) -> usize {
        self.used().wrapping_sub(usize::from(draft.joins))
    }

    /// Updates the state after the slow path wrote an item: `used` words are in use now, and the
    /// last one is `half` if its second half is free.
    #[inline]
    pub(super) fn advance(&mut self, item: &Item, used: usize, half: u64) {
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
        if self.is_constant_rate == 0 && now > self.until {
            return None;
        }
        now.checked_sub(self.time)
    }

    /// Stores the context of the last item.
    pub(super) fn remember(&mut self, context: Context) {
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
}
