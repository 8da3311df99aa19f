// SPDX-License-Identifier: GPL-2.0

//! What tasks were born with, for all trace arrays; and where that waits while the id of a task
//! changes.

use crate::filter::verdict::{
    Forget,
    Lineage, //
};

/// What a task was born with: bits of the trace arrays' slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Born {
    /// As if a `set_*` list named the task.
    pub(crate) traced: u32,
    /// As if a `set_notrace_*` list named it.
    pub(crate) excluded: u32,
}

impl Born {
    /// With nothing.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// What counts in the trace array with that slot.
    pub(crate) fn lineage(self, slot: u32) -> Lineage {
        Lineage {
            traced: self.traced >> slot & 1 != 0,
            excluded: self.excluded >> slot & 1 != 0,
        }
    }

    /// Adds what counts there, of which there was nothing yet.
    pub(crate) fn add(&mut self, slot: u32, lineage: Lineage) {
        self.traced |= u32::from(lineage.traced) << slot;
        self.excluded |= u32::from(lineage.excluded) << slot;
    }

    /// Takes out what does not count any more, in the trace array with that bit.
    pub(crate) fn forget(&mut self, bit: u32, what: Forget) {
        if what.traced {
            self.traced &= !bit;
        }
        if what.excluded {
            self.excluded &= !bit;
        }
    }
}

/// How many can wait at a time.
pub(crate) const HEIRS: usize = 16;

/// What threads were born with that are about to take over the id of their process.
///
/// A thread whose `exec` fails from then on is killed. What waits for it goes when its tag comes to another task
/// ([`Heirs::take`]), or when there is no room.
#[derive(Default)]
pub(crate) struct Heirs {
    /// Tags, 0 where there is none, and what waits.
    places: [(u32, Born); HEIRS],
    /// Where room is made next if there is none.
    next: usize,
}

impl Heirs {
    /// What waits for the task with that tag.
    pub(crate) fn get(&self, tag: u32) -> Option<Born> {
        let place = self.places.iter().find(|place| place.0 == tag);
        place.map(|place| place.1)
    }

    /// The same, which waits no longer.
    pub(crate) fn take(&mut self, tag: u32) -> Option<Born> {
        let place = self.places.iter_mut().find(|place| place.0 == tag);
        place.map(|place| core::mem::take(place).1)
    }

    /// Sets it aside. Returns false if what waited for somebody else has gone for want of room.
    pub(crate) fn put(&mut self, tag: u32, born: Born) -> bool {
        self.take(tag);
        if let Some(place) = self.places.iter_mut().find(|place| place.0 == 0) {
            *place = (tag, born);
            return true;
        }
        if let Some(place) = self.places.get_mut(self.next) {
            *place = (tag, born);
        }
        self.next = self.next.wrapping_add(1) % HEIRS;
        false
    }

    /// Takes out of all what does not count any more, in the trace array with that bit.
    pub(crate) fn forget(&mut self, bit: u32, what: Forget) {
        for (_, born) in &mut self.places {
            born.forget(bit, what);
        }
    }
}
