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
        let bytes = u128::from(low.get()) | u128::from(high.get()) << 64;
        Comm::new(&bytes.to_ne_bytes())
    }

    /// Another one.
    pub(crate) fn set(&self, comm: Comm) {
        let [low, high] = &self.0;
        let bytes = u128::from_ne_bytes(comm.to_array());
        low.set(bytes as u64);
        high.set((bytes >> 64) as u64);
    }
}
