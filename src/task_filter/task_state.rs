// SPDX-License-Identifier: GPL-2.0

//! The filter state of one task id: words that are read without a lock, and written as [the parent
//! module](super) describes.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use super::inherited::InheritedFlags;
use crate::{
    filter::decision::ClearInherited,
    ktrace::sync::read_once::ReadOnce, //
};

/// The filter state of a task id.
#[derive(Default)]
pub(super) struct Entry {
    /// The mask in the lower half, the tag of the task in the upper half.
    decision: Decision,
    /// The inherited selection of the task.
    traced: Bits,
    excluded: Bits,
}

struct Decision(Atomic<u64>);

struct Bits(Atomic<u32>);

impl Default for Decision {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Default for Bits {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Bits {
    fn get(&self) -> u32 {
        self.0.read_once()
    }

    fn set(&self, bits: u32) {
        self.0.write_once(bits);
    }
}

fn pack(mask: u32, tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(mask)
}

impl Entry {
    /// Returns the bits of the trace arrays whose filter selects the task. Any context.
    #[inline]
    pub(super) fn mask(&self) -> u32 {
        self.decision.0.read_once() as u32
    }

    /// Returns whether this is the state of the task with this tag, and not of a former owner of
    /// the id.
    pub(super) fn is_of(&self, tag: u32) -> bool {
        (self.decision.0.read_once() >> 32) as u32 == tag
    }

    pub(super) fn set_decision(&self, mask: u32, tag: u32) {
        self.decision.0.write_once(pack(mask, tag));
    }

    /// Clears `bit` in the mask.
    pub(super) fn clear_bit(&self, bit: u32) {
        let before = self.decision.0.load(Relaxed);
        // If this fails, the task is being freed concurrently, and its mask is cleared as a whole.
        let _ = self
            .decision
            .0
            .cmpxchg(before, before & !u64::from(bit), Relaxed);
    }

    /// Clears the mask and the tag when the task with this tag is freed. `rules` need not be held.
    pub(super) fn free(&self, tag: u32) {
        let mut before = self.decision.0.load(Relaxed);
        // Not if the id has a new owner, even if that stores its own tag concurrently.
        while (before >> 32) as u32 == tag {
            match self.decision.0.cmpxchg(before, 0, Relaxed) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    pub(super) fn inherited(&self) -> InheritedFlags {
        InheritedFlags {
            traced: self.traced.get(),
            excluded: self.excluded.get(),
        }
    }

    pub(super) fn set_inherited(&self, flags: InheritedFlags) {
        self.traced.set(flags.traced);
        self.excluded.set(flags.excluded);
    }

    pub(super) fn clear_inherited(&self, bit: u32, what: ClearInherited) {
        let mut flags = self.inherited();
        flags.clear(bit, what);
        self.set_inherited(flags);
    }

    /// Resets the state to that of an unused id.
    pub(super) fn clear(&self) {
        self.set_decision(0, 0);
        self.set_inherited(InheritedFlags::default());
    }
}
