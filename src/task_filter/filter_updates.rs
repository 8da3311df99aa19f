// SPDX-License-Identifier: GPL-2.0

//! The state that all writers of filter decisions share: the generations of the filters, and the
//! inherited selections of threads that are about to execute a program.

use super::inherited::PendingExecs;

/// The state that all writers of filter decisions share.
pub(super) struct FilterUpdates {
    /// Incremented when a filter changes and when the worker starts a round; never 0.
    pub(super) generation: u32,
    /// The generation with which the worker's latest round began.
    pub(super) round: u32,
    /// A scan of all tasks is in progress.
    pub(super) scanning: bool,
    pub(super) pending_execs: PendingExecs,
}

/// Returns whether `generation` is `first` or a later one. 0 means no generation.
pub(super) fn is_since(generation: u32, first: u32) -> bool {
    generation != 0 && generation.wrapping_sub(first) as i32 >= 0
}

impl FilterUpdates {
    /// Begins a generation and returns it.
    pub(super) fn begin(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }
}
