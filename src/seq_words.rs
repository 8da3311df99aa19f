// SPDX-License-Identifier: GPL-2.0

//! Several words that are read as a whole while other contexts change them.
//!
//! This is a sequence count (`include/linux/seqlock.h`) whose writers do not wait for each other: a
//! writer that has interrupted another one, or runs at the same time as one, changes nothing.

use kernel::sync::atomic::{
    Acquire,
    Atomic,
    Relaxed,
    Release, //
};

use crate::ktrace::sync::read_once::ReadOnce;

/// SeqWriter that are read and changed as a whole. Initially, all are 0.
pub(crate) struct SeqWords<const N: usize> {
    /// Odd while a writer changes the words.
    seq: Atomic<u64>,
    words: [Atomic<u64>; N],
}

impl<const N: usize> Default for SeqWords<N> {
    fn default() -> Self {
        Self {
            seq: Atomic::new(0),
            words: [const { Atomic::new(0) }; N],
        }
    }
}

/// Access to the words for their writer.
pub(crate) struct SeqWriter<'a, const N: usize>(&'a [Atomic<u64>; N]);

impl<const N: usize> SeqWriter<'_, N> {
    /// Returns a word; 0 if there is none with this index.
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, ReadOnce::read_once)
    }

    /// Sets a word, if there is one with this index.
    pub(crate) fn set(&self, index: usize, word: u64) {
        if let Some(place) = self.0.get(index) {
            // A reader that sees this word also sees that `seq` is odd, or greater.
            place.store(word, Release);
        }
    }
}

impl<const N: usize> SeqWords<N> {
    /// Calls `change` with the words. Returns false, without the call, if another writer changes
    /// them. Preemption should be off. Any context.
    pub(crate) fn try_change(&self, change: impl FnOnce(SeqWriter<'_, N>)) -> bool {
        let seq = self.seq.read_once();
        if seq % 2 != 0 || self.seq.cmpxchg(seq, seq.wrapping_add(1), Acquire).is_err() {
            return false;
        }
        change(SeqWriter(&self.words));
        self.seq.store(seq.wrapping_add(2), Release);
        true
    }

    /// Calls `change` with the words, when no other writer changes them. May sleep. Until it
    /// returns, other writers change nothing.
    pub(crate) fn change(&self, mut change: impl FnMut(SeqWriter<'_, N>)) {
        while !self.try_change(&mut change) {
            core::hint::spin_loop();
        }
    }

    /// Returns the words as one writer has left them. Task context; no writer in the context of a
    /// task may run at the same time.
    pub(crate) fn read(&self) -> [u64; N] {
        loop {
            let before = self.seq.load(Acquire);
            // Each of these loads comes before the next one, and before that of `seq`.
            let words = self.words.each_ref().map(|word| word.load(Acquire));
            if before % 2 == 0 && self.seq.load(Relaxed) == before {
                return words;
            }
            core::hint::spin_loop();
        }
    }

    /// Returns one word, which another context may be changing; 0 if there is none with this index.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, ReadOnce::read_once)
    }
}
