// SPDX-License-Identifier: GPL-2.0

//! What a task is doing, since when, and whether that is all that it did.

use crate::word::Word;

/// What a task is doing, as it stands in a [`Stamp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Doing(u8);

impl Doing {
    /// Nobody has seen it do anything yet.
    pub(crate) const UNKNOWN: Self = Self(0);
    /// It has a CPU.
    pub(crate) const RUNNING: Self = Self(1);
    /// It waits for a CPU, since it was woken.
    pub(crate) const WOKEN: Self = Self(2);
    /// The same, since it was preempted or gave up its CPU for a moment.
    pub(crate) const PREEMPTED: Self = Self(3);
    /// It is blocked.
    pub(crate) const BLOCKED: Self = Self(4);
    /// It has ended.
    pub(crate) const ENDED: Self = Self(5);
}

/// How many bits tell what it is doing; the others have room for a time of 36 years.
const DOING_BITS: u32 = 3;

/// A moment at which a task began to do something. All zero is [`Doing::UNKNOWN`].
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
            doing: Doing((bits & ((1 << DOING_BITS) - 1)) as u8),
            since_ns: bits >> DOING_BITS,
        }
    }

    fn to_bits(self) -> u64 {
        self.since_ns << DOING_BITS | u64::from(self.doing.0)
    }

    /// How long that is, at `now_ns`; 0 if the clock of another CPU is behind.
    pub(crate) fn elapsed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.since_ns)
    }
}

/// What a change says of the time before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Before {
    /// This is what the task did.
    Known(Stamp),
    /// Changes were not seen, but for so long, at least, the task has done what this change is the end
    /// of. In ns.
    Since(u64),
    /// A change was not seen that should have been.
    Missed,
    /// Changes were not seen, nor was anybody promised that they would be.
    NotFollowed,
}

/// What a task does, and whether all was seen that it did before.
///
/// A task's changes are seen while it is followed. What vouches for a stamp is how often the task has
/// left a CPU: of two changes that follow upon each other the kernel's own count says so. So a stamp from
/// before a time when nobody looked is found out by itself, and needs no clearing.
///
/// Those who turn it follow upon each other, as [`crate::ktrace::sched`] says, so that a load and a
/// store make a change.
#[derive(Default)]
pub(crate) struct Current {
    stamp: Word,
    /// The count at the stamp in the lower half; in the upper one, that from which on none of the task's
    /// waits and blocks was missed, even in part.
    counts: Word,
    /// Since when the task is followed, for reasons of its own, in ns; 0 if for none but that everyone is.
    from_ns: Word,
}

/// How often a task has left a CPU, as it stands in an account.
#[derive(Clone, Copy)]
struct Counts {
    /// At its latest change that was seen.
    seen: u32,
    /// None of its waits and blocks that came after this one was missed.
    whole: u32,
}

impl Counts {
    fn from_bits(bits: u64) -> Self {
        Self {
            seen: bits as u32,
            whole: (bits >> 32) as u32,
        }
    }

    fn to_bits(self) -> u64 {
        u64::from(self.whole) << 32 | u64::from(self.seen)
    }
}

impl Current {
    /// What there is.
    #[inline]
    pub(crate) fn get(&self) -> Stamp {
        Stamp::from_bits(self.stamp.get())
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts::from_bits(self.counts.get())
    }

    /// Whether the latest stamp is that of a task which has left a CPU so many times and has neither
    /// left one nor got one since.
    #[inline]
    pub(crate) fn is_of(&self, switches: u32) -> bool {
        self.counts().seen == switches && self.get().doing != Doing::UNKNOWN
    }

    /// Whether all waits and blocks were seen of a task, which had left a CPU `then` times, and now has
    /// `now` times and runs.
    pub(crate) fn covers(&self, then: u32, now: u32) -> bool {
        let since_whole = then.wrapping_sub(self.counts().whole) as i32;
        self.is_of(now) && self.get().doing == Doing::RUNNING && since_whole >= 0
    }

    /// The task leaves its CPU and is `doing` from now on; `switches` counts that already. Everyone who
    /// should be followed is so since `all_from_ns`, and nobody is if that is [`u64::MAX`].
    ///
    /// Time never runs backwards: where the clock of this CPU is behind that of the one before, the
    /// new stamp begins where the old one did, so that what is added up stays whole.
    #[inline]
    pub(crate) fn leave(
        &self,
        doing: Doing,
        switches: u32,
        now_ns: u64,
        all_from_ns: u64,
    ) -> Before {
        let ran = |before| before == Doing::RUNNING;
        let at = switches.wrapping_sub(1);
        self.turn(doing, switches, (at, ran), now_ns, all_from_ns)
    }

    /// The same of a task that gets a CPU.
    #[inline]
    pub(crate) fn arrive(&self, switches: u32, now_ns: u64, all_from_ns: u64) -> Before {
        let waited = |before| before == Doing::WOKEN || before == Doing::PREEMPTED;
        self.turn(
            Doing::RUNNING,
            switches,
            (switches, waited),
            now_ns,
            all_from_ns,
        )
    }

    /// The same of a task that was blocked and is woken.
    #[inline]
    pub(crate) fn wake(&self, switches: u32, now_ns: u64, all_from_ns: u64) -> Before {
        let blocked = |before| before == Doing::BLOCKED;
        self.turn(
            Doing::WOKEN,
            switches,
            (switches, blocked),
            now_ns,
            all_from_ns,
        )
    }

    /// The stamp before has to be of the time when the task had left a CPU `at` times, and of what it
    /// must have done to do something else now.
    #[inline]
    fn turn(
        &self,
        doing: Doing,
        switches: u32,
        (at, fits): (u32, impl FnOnce(Doing) -> bool),
        now_ns: u64,
        all_from_ns: u64,
    ) -> Before {
        let before = self.get();
        let counts = self.counts();
        let since_ns = now_ns.max(before.since_ns);
        self.stamp.set(Stamp { doing, since_ns }.to_bits());
        if fits(before.doing) && counts.seen == at {
            let seen = switches;
            self.counts.set(Counts { seen, ..counts }.to_bits());
            return Before::Known(before);
        }
        self.turn_unseen(switches, at);
        let from_ns = self.from_ns.get();
        if from_ns == u64::MAX {
            self.from_ns.set(now_ns);
        }
        match from_ns.max(all_from_ns) {
            u64::MAX => Before::NotFollowed,
            from_ns if before.since_ns < from_ns => Before::Since(from_ns),
            _ => Before::Missed,
        }
    }

    #[cold]
    fn turn_unseen(&self, switches: u32, whole: u32) {
        let seen = switches;
        self.counts.set(Counts { seen, whole }.to_bits());
    }

    /// A task that never did anything else is woken.
    pub(crate) fn begin(&self, switches: u32, now_ns: u64) {
        let stamp = Stamp {
            doing: Doing::WOKEN,
            since_ns: now_ns,
        };
        self.stamp.set(stamp.to_bits());
        self.turn_unseen(switches, switches);
    }

    /// The task may be followed from now on that was not before, in ns; [`u64::MAX`] if that may only
    /// come to pass a little later.
    pub(crate) fn follow_from(&self, ns: u64) {
        self.from_ns.set(ns);
    }

    /// This is about another task now, which is followed from `ns` on, as above.
    pub(crate) fn forget(&self, ns: u64) {
        self.stamp.set(0);
        self.counts.set(0);
        self.from_ns.set(ns);
    }

    /// Takes over what another says.
    pub(crate) fn inherit(&self, from: &Self) {
        self.stamp.set(from.stamp.get());
        self.counts.set(from.counts.get());
        self.from_ns.set(from.from_ns.get());
    }
}
