// SPDX-License-Identifier: GPL-2.0

//! What is known of one task id: words that are read without a lock, and written as [the module
//! above](super) says.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use super::born::Born;
use crate::{
    filter::verdict::Forget,
    ktrace::once::Once, //
};

/// What is known of a task id.
#[derive(Default)]
pub(super) struct Entry {
    /// The mask in the lower half, the tag of its task in the upper one.
    verdict: Verdict,
    /// What the task was born with.
    traced: Bits,
    excluded: Bits,
    /// The generation in which a hook judged the task; 0 if none has.
    pub(super) decided: Bits,
    /// The last one in which another task renamed it, until that is settled; otherwise 0.
    pub(super) doubted: Bits,
}

struct Verdict(Atomic<u64>);

pub(super) struct Bits(Atomic<u32>);

impl Default for Verdict {
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
    pub(super) fn get(&self) -> u32 {
        self.0.read_once()
    }

    pub(super) fn set(&self, bits: u32) {
        self.0.write_once(bits);
    }
}

fn pack(mask: u32, tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(mask)
}

impl Entry {
    /// The bits of the trace arrays that want the task. Any context.
    #[inline]
    pub(super) fn mask(&self) -> u32 {
        self.verdict.0.read_once() as u32
    }

    /// Whether this is about the task with that tag, and not one that had the id before.
    pub(super) fn is_of(&self, tag: u32) -> bool {
        (self.verdict.0.read_once() >> 32) as u32 == tag
    }

    pub(super) fn set_verdict(&self, mask: u32, tag: u32) {
        self.verdict.0.write_once(pack(mask, tag));
    }

    /// Takes `bit` out of the mask.
    pub(super) fn lift(&self, bit: u32) {
        let before = self.verdict.0.load(Relaxed);
        // A task that is being freed at the same time has its entry cleared, which is as good.
        let _ = self
            .verdict
            .0
            .cmpxchg(before, before & !u64::from(bit), Relaxed);
    }

    /// The task with that tag is no more; `rules` need not be held.
    pub(super) fn free(&self, tag: u32) {
        let mut before = self.verdict.0.load(Relaxed);
        // Not if the id has a new owner, even if it becomes so just now.
        while (before >> 32) as u32 == tag {
            match self.verdict.0.cmpxchg(before, 0, Relaxed) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    pub(super) fn born(&self) -> Born {
        Born {
            traced: self.traced.get(),
            excluded: self.excluded.get(),
        }
    }

    pub(super) fn set_born(&self, born: Born) {
        self.traced.set(born.traced);
        self.excluded.set(born.excluded);
    }

    pub(super) fn forget_born(&self, bit: u32, what: Forget) {
        let mut born = self.born();
        born.forget(bit, what);
        self.set_born(born);
    }

    /// Makes it an id of which nothing is known.
    pub(super) fn clear(&self) {
        self.set_verdict(0, 0);
        self.set_born(Born::default());
        self.decided.set(0);
        self.doubted.set(0);
    }
}
