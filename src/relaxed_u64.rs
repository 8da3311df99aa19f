// SPDX-License-Identifier: GPL-2.0

//! A 64-bit value that other contexts read while it changes.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::ktrace::sync::read_once::ReadOnce;

/// A `u64` that is read and written as a whole, without ordering (relaxed).
pub(crate) struct RelaxedU64(Atomic<u64>);

impl Default for RelaxedU64 {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl RelaxedU64 {
    /// Creates a cell with `value`.
    pub(crate) const fn new(value: u64) -> Self {
        Self(Atomic::new(value))
    }

    /// Returns the current value.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.read_once()
    }

    /// Returns the underlying atomic.
    pub(crate) fn as_atomic(&self) -> &Atomic<u64> {
        &self.0
    }

    /// Stores `value`.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.write_once(value);
    }

    /// Adds `value` atomically.
    #[inline]
    pub(crate) fn add(&self, value: u64) {
        self.0.add(value, Relaxed);
    }

    /// Adds `value` without an atomic read-modify-write. There must be no concurrent writer,
    /// including interrupts on this CPU.
    #[inline]
    pub(crate) fn add_alone(&self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }
}
