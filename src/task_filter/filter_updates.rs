// SPDX-License-Identifier: GPL-2.0

//! The state that all writers of filter decisions share.

use super::inherited::PendingExecs;
use crate::ktrace::task::Comm;

/// The state that all writers of filter decisions share.
#[derive(Default)]
pub(super) struct FilterUpdates {
    /// Incremented when a filter changes.
    pub(super) generation: u32,
    pub(super) pending_execs: PendingExecs,
    pub(super) reported_names: ReportedNames,
}

/// Number of entries in [`ReportedNames`].
const MAX_REPORTED: usize = 16;

/// The names that the kernel reported before it wrote them, of the latest tasks whose filter
/// decision was stored by such a name and not changed since. Most renames need no second evaluation
/// after the name is written, because of this.
#[derive(Default)]
pub(super) struct ReportedNames([(u32, Comm); MAX_REPORTED]);

impl ReportedNames {
    /// Notes that the decision for the task with this tag was stored by this name.
    pub(super) fn set(&mut self, tag: u32, comm: Comm) {
        if let Some(place) = self.0.get_mut(tag as usize % MAX_REPORTED) {
            *place = (tag, comm);
        }
    }

    /// Notes that the decision for the task with this tag has changed.
    pub(super) fn clear(&mut self, tag: u32) {
        if let Some(place) = self.0.get_mut(tag as usize % MAX_REPORTED) {
            if place.0 == tag {
                *place = <(u32, Comm)>::default();
            }
        }
    }

    /// Returns whether the decision for the task with this tag was stored by this name.
    pub(super) fn contains(&self, tag: u32, comm: Comm) -> bool {
        self.0.get(tag as usize % MAX_REPORTED) == Some(&(tag, comm))
    }
}
