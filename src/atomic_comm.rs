// SPDX-License-Identifier: GPL-2.0

//! A task's `comm` that other contexts read while it changes.

use crate::{
    ktrace::task::Comm,
    relaxed_u64::RelaxedU64, //
};

/// A task's `comm`, stored as two words. A reader that runs during a change may see one word of the
/// old name and one of the new name.
#[derive(Default)]
pub(crate) struct AtomicComm([RelaxedU64; 2]);

impl AtomicComm {
    /// Creates a cell with an empty name.
    pub(crate) const fn new() -> Self {
        Self([const { RelaxedU64::new(0) }; 2])
    }

    /// Returns the current name.
    pub(crate) fn get(&self) -> Comm {
        let [low, high] = &self.0;
        Comm::from_words([low.get(), high.get()])
    }

    /// Stores `comm`.
    pub(crate) fn set(&self, comm: Comm) {
        for (to, word) in self.0.iter().zip(comm.to_words()) {
            to.set(word);
        }
    }
}
