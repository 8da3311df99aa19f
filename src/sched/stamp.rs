// SPDX-License-Identifier: GPL-2.0

//! What a task is doing, and since when, in one word.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::ktrace::once::Once;

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// Nobody has seen it do anything yet.
    Unknown,
    /// It has a CPU.
    Running,
    /// It waits for a CPU, since it was woken.
    Woken,
    /// The same, since it was preempted or gave up its CPU for a moment.
    Preempted,
    /// It is blocked.
    Blocked,
    /// It has ended.
    Ended,
}

impl Doing {
    fn from_bits(bits: u64) -> Self {
        match bits {
            1 => Self::Running,
            2 => Self::Woken,
            3 => Self::Preempted,
            4 => Self::Blocked,
            5 => Self::Ended,
            _ => Self::Unknown,
        }
    }
}

/// How many bits tell what it is doing; the others have room for a time of 36 years.
const DOING_BITS: u32 = 3;

/// A moment at which a task began to do something. All zero is [`Doing::Unknown`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    /// What it does since then.
    pub(crate) doing: Doing,
    /// In ns.
    pub(crate) since_ns: u64,
}

impl Stamp {
    fn from_bits(bits: u64) -> Self {
        Self {
            doing: Doing::from_bits(bits & ((1 << DOING_BITS) - 1)),
            since_ns: bits >> DOING_BITS,
        }
    }

    fn to_bits(self) -> u64 {
        self.since_ns << DOING_BITS | self.doing as u64
    }

    /// How long that is, at `now_ns`; 0 if the clock of another CPU is behind.
    pub(crate) fn elapsed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.since_ns)
    }
}

/// The latest stamp of a task.
///
/// Those who turn it follow upon each other, as [`crate::ktrace::sched`] says, so that a load and a
/// store make a change. Only [`Current::guess`] may come in between, and it gives way.
pub(crate) struct Current(Atomic<u64>);

impl Default for Current {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Current {
    /// What there is.
    pub(crate) fn get(&self) -> Stamp {
        Stamp::from_bits(self.0.read_once())
    }

    /// The task does something else from now on. Returns what it did so far.
    ///
    /// Time never runs backwards: where the clock of this CPU is behind that of the one before, the
    /// new stamp begins where the old one did, so that what is added up stays whole.
    pub(crate) fn turn(&self, doing: Doing, now_ns: u64) -> Stamp {
        let before = self.get();
        let since_ns = now_ns.max(before.since_ns);
        self.0.write_once(Stamp { doing, since_ns }.to_bits());
        before
    }

    /// Somebody has seen what the task does. True if nobody knew.
    pub(crate) fn guess(&self, doing: Doing, now_ns: u64) -> bool {
        let seen = Stamp {
            doing,
            since_ns: now_ns,
        };
        self.0.cmpxchg(0, seen.to_bits(), Relaxed).is_ok()
    }

    /// Nobody knows any more.
    pub(crate) fn forget(&self) {
        self.0.store(0, Relaxed);
    }
}
