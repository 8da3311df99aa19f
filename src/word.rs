// SPDX-License-Identifier: GPL-2.0

//! Numbers that are read while they change.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::ktrace::once::Once;

/// A number.
pub(crate) struct Word(Atomic<u64>);

impl Default for Word {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Word {
    /// A number to begin with.
    pub(crate) fn new(value: u64) -> Self {
        Self(Atomic::new(value))
    }

    /// What it is.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.read_once()
    }

    /// Where it lies.
    pub(crate) fn as_atomic(&self) -> &Atomic<u64> {
        &self.0
    }

    /// Another one.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.write_once(value);
    }

    /// So much more.
    #[inline]
    pub(crate) fn add(&self, value: u64) {
        self.0.add(value, Relaxed);
    }

    /// The same where nobody else adds at the same time, an interrupt neither.
    #[inline]
    pub(crate) fn add_alone(&self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }
}
