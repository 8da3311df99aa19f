// SPDX-License-Identifier: GPL-2.0

//! The state machine of a task's accounting: its state, since when, and whether transitions were
//! missed.

use crate::relaxed_u64::RelaxedU64;

/// The state of a task, as stored in a [`StateSince`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskState(u8);

impl TaskState {
    /// No transition of the task was observed so far.
    pub(crate) const UNKNOWN: Self = Self(0);
    /// The task has a CPU.
    pub(crate) const RUNNING: Self = Self(1);
    /// The task waits for a CPU since it was woken.
    pub(crate) const WOKEN: Self = Self(2);
    /// The task waits for a CPU since it was preempted or yielded its CPU.
    pub(crate) const PREEMPTED: Self = Self(3);
    /// The task is blocked.
    pub(crate) const BLOCKED: Self = Self(4);
    /// The task has ended.
    pub(crate) const ENDED: Self = Self(5);
}

/// The number of bits that hold the state; the remaining 61 bits hold a time of up to 73 years.
const STATE_BITS: u32 = 3;

/// A state of a task and the time of the transition to it. All zero is [`TaskState::UNKNOWN`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StateSince {
    /// The state.
    pub(crate) state: TaskState,
    /// The time of the transition, in ns.
    pub(crate) since_ns: u64,
}

impl StateSince {
    fn from_bits(bits: u64) -> Self {
        Self {
            state: TaskState((bits & ((1 << STATE_BITS) - 1)) as u8),
            since_ns: bits >> STATE_BITS,
        }
    }

    fn to_bits(self) -> u64 {
        self.since_ns << STATE_BITS | u64::from(self.state.0)
    }

    /// Returns the time in this state until `now_ns`, in ns; 0 if the clock of this CPU is behind.
    pub(crate) fn elapsed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.since_ns)
    }
}

/// The information that a transition yields about the state that it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Previous {
    /// The state and its start are known.
    Exact(StateSince),
    /// Earlier transitions were not observed. The state that ends now lasted at least since this
    /// time, in ns.
    AtLeast(u64),
    /// A transition was missed although the task is accounted.
    Missed,
    /// Earlier transitions were not observed, because the task was not accounted.
    NotTracked,
}

/// The current state of a task, and whether all transitions to it were observed.
///
/// Transitions are observed while the task is accounted. The kernel counts how often a task leaves
/// a CPU; this count is stored with each transition, and shows whether two observed transitions are
/// consecutive. So a state that is outdated because the task was not accounted in between is
/// detected, and states need not be cleared.
///
/// The transitions of one task are ordered by the scheduler (see [`crate::ktrace::task::sched`]),
/// so a transition is a load and a store, without a lock.
#[derive(Default)]
pub(crate) struct StateTracker {
    latest: RelaxedU64,
    /// In the lower half, the switch count at the latest transition; in the upper half, the count
    /// since which no wait or block of the task was missed, not even in part.
    counts: RelaxedU64,
    /// Since when this task is accounted individually, in ns; 0 if it is accounted only together
    /// with all other selected tasks.
    from_ns: RelaxedU64,
}

/// The switch counts of a task's accounting state.
#[derive(Clone, Copy)]
struct Counts {
    /// The count at the latest observed transition.
    seen: u32,
    /// The count since which no wait or block was missed.
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

impl StateTracker {
    /// Returns the latest observed transition.
    #[inline]
    pub(crate) fn get(&self) -> StateSince {
        StateSince::from_bits(self.latest.get())
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts::from_bits(self.counts.get())
    }

    /// Returns whether the latest observed transition is the current one for a task that has left a
    /// CPU `switches` times: it has neither left nor got a CPU since then.
    #[inline]
    pub(crate) fn is_of(&self, switches: u32) -> bool {
        self.counts().seen == switches && self.get().state != TaskState::UNKNOWN
    }

    /// Returns whether all waits and blocks of a task were observed since it had left a CPU `then`
    /// times. The task is running now, and has left a CPU `now` times.
    pub(crate) fn covers(&self, then: u32, now: u32) -> bool {
        let since_whole = then.wrapping_sub(self.counts().whole) as i32;
        self.is_of(now) && self.get().state == TaskState::RUNNING && since_whole >= 0
    }

    /// Records that the task leaves its CPU and enters the state `state`. `switches` includes this
    /// switch. All selected tasks are accounted since `all_from_ns`, or none if that is
    /// [`u64::MAX`].
    ///
    /// Times never decrease: if the clock of this CPU is behind that of the previous one, the new
    /// transition gets the time of the old one, so that sums stay consistent.
    #[inline]
    pub(crate) fn leave(
        &self,
        state: TaskState,
        switches: u32,
        now_ns: u64,
        all_from_ns: u64,
    ) -> Previous {
        let ran = |before| before == TaskState::RUNNING;
        let at = switches.wrapping_sub(1);
        self.transition(state, switches, (at, ran), now_ns, all_from_ns)
    }

    /// Records that the task gets a CPU. For `all_from_ns`, see [`StateTracker::leave`].
    #[inline]
    pub(crate) fn arrive(&self, switches: u32, now_ns: u64, all_from_ns: u64) -> Previous {
        let waited = |before| before == TaskState::WOKEN || before == TaskState::PREEMPTED;
        self.transition(
            TaskState::RUNNING,
            switches,
            (switches, waited),
            now_ns,
            all_from_ns,
        )
    }

    /// Records that the task was blocked and is woken. For `all_from_ns`, see
    /// [`StateTracker::leave`].
    #[inline]
    pub(crate) fn wake(&self, switches: u32, now_ns: u64, all_from_ns: u64) -> Previous {
        let blocked = |before| before == TaskState::BLOCKED;
        self.transition(
            TaskState::WOKEN,
            switches,
            (switches, blocked),
            now_ns,
            all_from_ns,
        )
    }

    /// Records a transition to `state`.
    ///
    /// No transition was missed if the previous one is from the time when the task had left a CPU
    /// `at` times, and `fits` accepts its state as the predecessor of `state`.
    #[inline]
    fn transition(
        &self,
        state: TaskState,
        switches: u32,
        (at, fits): (u32, impl FnOnce(TaskState) -> bool),
        now_ns: u64,
        all_from_ns: u64,
    ) -> Previous {
        let before = self.get();
        let counts = self.counts();
        let since_ns = now_ns.max(before.since_ns);
        self.latest.set(StateSince { state, since_ns }.to_bits());
        if fits(before.state) && counts.seen == at {
            let seen = switches;
            self.counts.set(Counts { seen, ..counts }.to_bits());
            return Previous::Exact(before);
        }
        self.transition_unseen(switches, at);
        let from_ns = self.from_ns.get();
        if from_ns == u64::MAX {
            self.from_ns.set(now_ns);
        }
        match from_ns.max(all_from_ns) {
            u64::MAX => Previous::NotTracked,
            from_ns if before.since_ns < from_ns => Previous::AtLeast(from_ns),
            _ => Previous::Missed,
        }
    }

    #[cold]
    fn transition_unseen(&self, switches: u32, whole: u32) {
        let seen = switches;
        self.counts.set(Counts { seen, whole }.to_bits());
    }

    /// Records the first wakeup of a new task.
    pub(crate) fn begin(&self, switches: u32, now_ns: u64) {
        let latest = StateSince {
            state: TaskState::WOKEN,
            since_ns: now_ns,
        };
        self.latest.set(latest.to_bits());
        self.transition_unseen(switches, switches);
    }

    /// Sets since when this task is accounted individually, in ns. [`u64::MAX`] if the accounting
    /// starts a little later: at the task's next observed transition.
    pub(crate) fn follow_from(&self, ns: u64) {
        self.from_ns.set(ns);
    }

    /// Resets the state for another task, which is accounted since `ns`; see
    /// [`StateTracker::follow_from`].
    pub(crate) fn reset(&self, ns: u64) {
        self.latest.set(0);
        self.counts.set(0);
        self.from_ns.set(ns);
    }

    /// Copies the state of another task.
    pub(crate) fn inherit(&self, from: &Self) {
        self.latest.set(from.latest.get());
        self.counts.set(from.counts.get());
        self.from_ns.set(from.from_ns.get());
    }
}
