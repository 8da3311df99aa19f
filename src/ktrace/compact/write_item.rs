// SPDX-License-Identifier: GPL-2.0

//! Writes an item: adds it to the current pack of the CPU, or begins a new one.

use super::{
    add::AddResult,
    encoding::Item,
    percpu_pack::{
        PackContext,
        PackResult, //
    },
    state::PerCpuPack, //
};

impl PerCpuPack {
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
        let result = unsafe { self.add(at.tr, first, words) };
        match result {
            AddResult::Off => return PackResult::NotWritten,
            AddResult::Closed => return self.open(at, now, item, 0),
            AddResult::Added | AddResult::Doubtful => {}
        }
        self.add_sites(&draft);
        self.advance(item, first.wrapping_add(draft.nr), draft.half);
        self.time = now;
        self.remember(at.context);
        match result {
            AddResult::Doubtful => self.write_again(at, now, item),
            _ => PackResult::Packed,
        }
    }

    /// Writes the last item of the pack again, because a reader may have read the page before.
    #[cold]
    pub(super) fn write_again(
        &mut self,
        at: PackContext<'_>,
        asked: u64,
        item: &Item,
    ) -> PackResult {
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
}
