// SPDX-License-Identifier: GPL-2.0

//! The selection that tasks inherit when they are forked, for all trace arrays; and the storage
//! that preserves it while the id of a thread changes.

use crate::filter::decision::{
    ClearInherited,
    Inherited, //
};

/// The inherited selection of a task: one bit for each trace-array slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InheritedFlags {
    /// Treat the task as if a `set_*` list matched it.
    pub(crate) traced: u32,
    /// Treat the task as if a `set_notrace_*` list matched it.
    pub(crate) excluded: u32,
}

impl InheritedFlags {
    /// Returns whether nothing was inherited.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the selection for the trace array with this slot.
    pub(crate) fn inherited(self, slot: u32) -> Inherited {
        Inherited {
            traced: self.traced >> slot & 1 != 0,
            excluded: self.excluded >> slot & 1 != 0,
        }
    }

    /// Sets the selection for the trace array with this slot, which must be empty before.
    pub(crate) fn add(&mut self, slot: u32, inherited: Inherited) {
        self.traced |= u32::from(inherited.traced) << slot;
        self.excluded |= u32::from(inherited.excluded) << slot;
    }

    /// Clears the parts in `what` for the trace array with this bit.
    pub(crate) fn clear(&mut self, bit: u32, what: ClearInherited) {
        if what.traced {
            self.traced &= !bit;
        }
        if what.excluded {
            self.excluded &= !bit;
        }
    }
}

/// Maximum number of entries in [`PendingExecs`].
pub(crate) const MAX_PENDING_EXECS: usize = 16;

/// The inherited selections of threads that are about to take over the id of their process.
///
/// If the `execve()` of such a thread fails later, the thread is killed. Its entry is removed when
/// its tag is used by another task ([`PendingExecs::take`]), or when it is replaced because the
/// table is full.
#[derive(Default)]
pub(crate) struct PendingExecs {
    /// The tag, 0 if unused, and the inherited selection.
    places: [(u32, InheritedFlags); MAX_PENDING_EXECS],
    /// The entry to replace next if the table is full.
    next: usize,
}

impl PendingExecs {
    /// Returns the entry of the task with this tag.
    pub(crate) fn get(&self, tag: u32) -> Option<InheritedFlags> {
        let place = self.places.iter().find(|place| place.0 == tag);
        place.map(|place| place.1)
    }

    /// Removes and returns the entry of the task with this tag.
    pub(crate) fn take(&mut self, tag: u32) -> Option<InheritedFlags> {
        let place = self.places.iter_mut().find(|place| place.0 == tag);
        place.map(|place| core::mem::take(place).1)
    }

    /// Adds an entry. Returns false if the table was full and another entry was replaced.
    pub(crate) fn insert(&mut self, tag: u32, flags: InheritedFlags) -> bool {
        self.take(tag);
        if let Some(place) = self.places.iter_mut().find(|place| place.0 == 0) {
            *place = (tag, flags);
            return true;
        }
        if let Some(place) = self.places.get_mut(self.next) {
            *place = (tag, flags);
        }
        self.next = self.next.wrapping_add(1) % MAX_PENDING_EXECS;
        false
    }

    /// Clears the parts in `what` for the trace array with this bit, in all entries.
    pub(crate) fn clear(&mut self, bit: u32, what: ClearInherited) {
        for (_, flags) in &mut self.places {
            flags.clear(bit, what);
        }
    }
}
