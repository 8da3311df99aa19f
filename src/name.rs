// SPDX-License-Identifier: GPL-2.0

//! Names that are read while they change.

use crate::{
    ktrace::task::Comm,
    word::Word, //
};

/// A task's name. Who reads it while it changes may see half of each.
#[derive(Default)]
pub(crate) struct Name([Word; 2]);

impl Name {
    /// What it is.
    pub(crate) fn get(&self) -> Comm {
        let [low, high] = &self.0;
        Comm::from_words([low.get(), high.get()])
    }

    /// Another one.
    pub(crate) fn set(&self, comm: Comm) {
        for (to, word) in self.0.iter().zip(comm.to_words()) {
            to.set(word);
        }
    }
}
