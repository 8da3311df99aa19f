// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A packed record (pack) in a trace file: its header, its words, and which of its items are new.

use core::sync::atomic::{
    AtomicU64,
    Ordering::Relaxed, //
};

use super::word::{
    items,
    DecodedItem,
    Item,
    TextLayout,
    WordReader,
    MAX_WORDS, //
};

/// The offsets of the header fields of a pack, from the event's format in the trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub start: usize,
    pub repeats: usize,
    pub taken: usize,
    pub site_shift: usize,
    pub serial: usize,
    pub mult: usize,
    pub text: usize,
    /// The context flags, and the depths to which preemption and migration are disabled.
    pub flags: usize,
    pub preempt_count: usize,
}

/// Converts numbers from the byte order of the trace file.
pub trait Numbers {
    fn u32(&self, bytes: [u8; 4]) -> u32;
    fn u64(&self, bytes: [u8; 8]) -> u64;
}

/// A packed record.
pub struct Pack {
    words: [u64; MAX_WORDS],
    text: TextLayout,
    mult: u32,
    context: (u8, u8),
    serial: u32,
    repeats: usize,
    taken: usize,
}

impl Pack {
    /// Parses a pack. Returns `None` if the bytes are not a pack.
    pub fn new(bytes: &[u8], layout: &Layout, numbers: &impl Numbers) -> Option<Self> {
        let byte = |at: usize| bytes.get(at).copied();
        let u32_at = |at: usize| Some(numbers.u32(*bytes.get(at..)?.first_chunk()?));
        let start = usize::from(byte(layout.start)?);
        let mut words = [0; MAX_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.get(start..)?.chunks_exact(8)) {
            *word = numbers.u64(*bytes.first_chunk()?);
        }
        let base = 0xffff << 48 | u64::from(u32_at(layout.text)?) << 16;
        Some(Self {
            words,
            text: TextLayout {
                base: usize::try_from(base).ok()?,
                site_shift: u32::from(byte(layout.site_shift)?) & 3,
            },
            mult: u32_at(layout.mult)?,
            context: (byte(layout.flags)?, byte(layout.preempt_count)?),
            serial: u32_at(layout.serial)?,
            repeats: usize::from(byte(layout.repeats)?),
            taken: usize::from(byte(layout.taken)?),
        })
    }

    /// Returns the items of a pack whose record has the timestamp `time`, in ns.
    pub fn items(&self, time: u64) -> impl Iterator<Item = DecodedItem> + '_ {
        let reader = WordReader::new(self.text, time, self.mult, self.context);
        items(reader, self.words.as_slice())
    }
}

/// The number of CPUs whose packs are tracked.
const CPUS: usize = 4096;

/// The serial number and size of the latest pack of each CPU. The next pack may repeat one of its
/// items.
pub struct Last([AtomicU64; CPUS]);

impl Last {
    /// Creates the state before the first pack.
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; CPUS])
    }

    /// Returns the number of items at the start of a pack that must be skipped: those that a reader
    /// consumed before the pack was stored in the file, or one that was already shown with the
    /// previous pack.
    pub fn skip(&self, cpu: usize, pack: &Pack, nr_items: usize) -> usize {
        let Some(last) = self.0.get(cpu) else {
            return pack.taken;
        };
        let now = u64::from(pack.serial) << 32 | nr_items as u64;
        let last = last.swap(now, Relaxed);
        let (serial, nr) = ((last >> 32) as u32, last as u32 as usize);
        let is_next = serial.wrapping_add(1) == pack.serial;
        let again = pack.repeats != 0 && is_next && nr >= pack.repeats;
        pack.taken.max(usize::from(again))
    }
}

/// The content of one line of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub said: DecodedItem,
    /// The return of the call, if the line shows a call and its return is the next item.
    pub ret: Option<DecodedItem>,
}

impl Line {
    /// Returns the time of the event that the line shows. For a call this is its start, although
    /// its item is written later.
    pub fn time(&self) -> u64 {
        match self.said.item {
            Item::Leaf(call) | Item::Begin(call) => self.said.time.saturating_sub(call.ns),
            Item::Function { .. } | Item::Return(_) => self.said.time,
        }
    }
}

/// Groups items into lines.
pub fn lines(items: impl Iterator<Item = DecodedItem>) -> impl Iterator<Item = Line> {
    let mut items = items.peekable();
    core::iter::from_fn(move || {
        let said = items.next()?;
        let ret = items.next_if(|next| said.item.is_ended_by(&next.item));
        Some(Line { said, ret })
    })
}
