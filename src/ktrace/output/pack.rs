// SPDX-License-Identifier: GPL-2.0

//! Reads the header of a pack for readers, and locates its words.

use core::mem::size_of;

use crate::ktrace::{
    compact::{
        encoding::{
            WordReader,
            Words, //
        },
        head::{
            PackHeader,
            FIRST_WORD, //
        },
        state::text, //
    },
    private::abi, //
};

/// The header of a pack, and the location of its words.
pub(in crate::ktrace) struct Pack {
    words: *const u64,
    nr: usize,
    ts: u64,
    pub(super) header: abi::trace_entry,
    pub(super) repeats: usize,
    pub(super) taken: usize,
    pub(super) serial: u32,
    mult: u32,
}

impl Pack {
    /// Reads the header of a pack. `None` if the record is too short.
    ///
    /// # Safety
    ///
    /// `record` must point to a pack of `len` bytes.
    pub(super) unsafe fn new(record: *const u8, len: usize, ts: u64) -> Option<Self> {
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
                    .cast::<PackHeader>()
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

    pub(super) fn reader(&self) -> WordReader {
        let context = (self.header.flags, self.header.preempt_count);
        WordReader::new(text(), self.ts, self.mult, context)
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
