// SPDX-License-Identifier: GPL-2.0

//! Keeps the state of a reader that shows packs, in total and for each CPU.

use kernel::{
    alloc::KVVec,
    prelude::*, //
};

use super::{
    cursor::{
        NextItem, //
        PackCursor,
    },
    pack::Pack, //
};
use crate::ktrace::compact::encoding::MAX_WORDS;

/// A reader's state of the last pack that it read from a CPU. The position of a reader that
/// consumes records is in the pack itself ([`Pack::taken()`]), for the next reader.
#[derive(Clone, Copy, Default)]
pub(in crate::ktrace) struct ReadPos {
    serial: u32,
    /// Number of items that were printed, and that number before the last line.
    pub(in crate::ktrace) done: usize,
    before: usize,
    /// The pack whose first item was printed together with the record before it.
    pub(super) joined: Option<u32>,
}

impl ReadPos {
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

/// A reader's state for a CPU.
pub(in crate::ktrace) struct Source {
    pub(in crate::ktrace) read_pos: ReadPos,
    /// The pack that a file has printed in part, and a copy of its words.
    pub(in crate::ktrace) open: Option<PackCursor>,
    pub(in crate::ktrace) words: [u64; MAX_WORDS],
}

impl Source {
    const NOTHING: Self = Self {
        read_pos: ReadPos {
            serial: 0,
            done: 0,
            before: 0,
            joined: None,
        },
        open: None,
        words: [0; MAX_WORDS],
    };
}

/// The state of a reader.
pub struct ReaderState {
    /// Set while an item is printed that is not the last of its pack.
    pub ahead: Option<NextItem>,
    /// Whether the line being printed was selected by [`mod@super::decode`].
    pub(in crate::ktrace) is_chosen: bool,
    /// Whether the last line was not that of the current record:
    /// [`super::printed::Printed::Earlier`].
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

impl ReaderState {
    /// Creates a state that lives during one call.
    pub const fn transient() -> Self {
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

    /// Creates a state that lives until the reader is closed. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short.
    pub fn persistent() -> Result<Self> {
        let nr = kernel::cpu::nr_cpu_ids() as usize;
        let mut sources = KVVec::with_capacity(nr, GFP_KERNEL)?;
        for _ in 0..nr {
            sources.push(Source::NOTHING, GFP_KERNEL)?;
        }
        Ok(Self {
            sources,
            ..Self::transient()
        })
    }

    /// Returns whether the line being printed was selected by [`mod@super::decode`].
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }
}
