// SPDX-License-Identifier: GPL-2.0

//! The most recent long blocked intervals of each task. They show what a waker was blocked on
//! itself, while another task waited for it.
//!
//! The intervals of a task are written when it is woken, by one context after the other. Other
//! wakers read them, without a lock: a sequence number shows whether they changed in between.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Full,
        Relaxed,
        Release, //
    },
};

use super::{
    times::StoredWaker,
    types::Waker, //
};
use crate::{
    ktrace::task::{
        all_tasks,
        pid_map::PidMap,
        sched,
        Task, //
    },
    relaxed_u64::RelaxedU64,
};

/// How many intervals are kept for each task.
const KEPT: usize = 4;

/// How often a reader tries again if the intervals change.
const TRIES: usize = 4;

/// How often [`RecentBlocks::open`] tries again.
const SPINS: usize = 1000;

/// A blocked interval of a task.
#[derive(Clone, Copy, Default)]
pub(crate) struct PastBlock {
    /// The end of the interval, in ns of the scheduler's clock.
    pub(crate) end_ns: u64,
    /// Its duration in ns.
    pub(crate) ns: u64,
    /// The state in which the task was blocked, a value of
    /// [`STATE_NAMES`](crate::ktrace::task::sched_state::STATE_NAMES).
    pub(crate) state: u32,
    /// The address in the function that blocked; 0 if unknown.
    pub(crate) caller: usize,
    /// The waker that ended it.
    pub(crate) waker: Waker,
}

impl PastBlock {
    /// Returns how much of the interval is in the one from `from_ns` to `until_ns`, in ns.
    fn overlap(&self, from_ns: u64, until_ns: u64) -> u64 {
        let begin_ns = self.end_ns.saturating_sub(self.ns).max(from_ns);
        self.end_ns.min(until_ns).saturating_sub(begin_ns)
    }
}

/// The result of [`RecentBlocks::longest`].
pub(crate) enum Past {
    /// The task was blocked in this interval; the number is how much of it is in the time in
    /// question, in ns.
    Blocked(PastBlock, u64),
    /// The task had no long blocked interval at that time.
    NotBlocked,
    /// It is not known: the intervals of that time are not kept, or the task was not observed.
    Unknown,
}

#[derive(Default)]
struct StoredBlock {
    end_ns: RelaxedU64,
    ns: RelaxedU64,
    state: RelaxedU64,
    caller: RelaxedU64,
    waker: StoredWaker,
}

impl StoredBlock {
    fn set(&self, block: &PastBlock) {
        self.end_ns.set(block.end_ns);
        self.ns.set(block.ns);
        self.state.set(u64::from(block.state));
        self.caller.set(block.caller as u64);
        self.waker.set(&block.waker);
    }

    fn get(&self) -> PastBlock {
        PastBlock {
            end_ns: self.end_ns.get(),
            ns: self.ns.get(),
            state: self.state.get() as u32,
            caller: self.caller.get() as usize,
            waker: self.waker.get(),
        }
    }
}

/// The intervals of a task.
struct Recent {
    /// Odd while the rest changes.
    sequence: Atomic<u64>,
    tag: RelaxedU64,
    /// Time in ns since which the task is observed.
    since_ns: RelaxedU64,
    /// The number of intervals so far. The latest one is at this number minus 1, modulo [`KEPT`].
    count: RelaxedU64,
    blocks: [StoredBlock; KEPT],
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            sequence: Atomic::new(0),
            tag: RelaxedU64::new(0),
            since_ns: RelaxedU64::new(u64::MAX),
            count: RelaxedU64::new(0),
            blocks: Default::default(),
        }
    }
}

impl Recent {
    /// Calls `with`, which may change the intervals. Returns false, without the call, if another
    /// CPU is changing them.
    fn change(&self, with: impl FnOnce(&Self)) -> bool {
        let before = self.sequence.load(Relaxed);
        let is_first = before % 2 == 0
            && self
                .sequence
                .cmpxchg(before, before.wrapping_add(1), Full)
                .is_ok();
        if is_first {
            with(self);
            self.sequence.store(before.wrapping_add(2), Release);
        }
        is_first
    }

    /// Calls `with` until it was not disturbed by a change. Returns `None` if there are too many.
    fn read<R>(&self, with: impl Fn(&Self) -> R) -> Option<R> {
        (0..TRIES).find_map(|_| {
            let before = self.sequence.load(Acquire);
            let result = with(self);
            // A full barrier is before the second read.
            let after = self.sequence.fetch_add(0, Full);
            (before == after && before % 2 == 0).then_some(result)
        })
    }

    fn longest(&self, from_ns: u64, until_ns: u64) -> Past {
        let count = self.count.get() as usize;
        let mut oldest_ns = until_ns;
        let mut best = Past::NotBlocked;
        let mut most_ns = 0;
        for place in self.blocks.iter().take(count) {
            let block = place.get();
            oldest_ns = oldest_ns.min(block.end_ns.saturating_sub(block.ns));
            // Those that ended later did not lead to the wakeup in question.
            let overlap = block.overlap(from_ns, until_ns);
            if block.end_ns <= until_ns && overlap > most_ns {
                most_ns = overlap;
                best = Past::Blocked(block, overlap);
            }
        }
        let is_complete = if count > KEPT {
            oldest_ns <= from_ns
        } else {
            self.since_ns.get() <= from_ns
        };
        match best {
            Past::NotBlocked if !is_complete => Past::Unknown,
            _ => best,
        }
    }
}

/// The intervals of all tasks.
pub(crate) struct RecentBlocks {
    tasks: PidMap<Recent>,
}

impl RecentBlocks {
    /// Creates an empty table. May sleep. Fails with `ENOMEM` if memory is short.
    pub(super) fn new() -> Result<Self> {
        let tasks = PidMap::new()?;
        Ok(Self { tasks })
    }

    /// Returns the memory of the table in bytes.
    pub(super) fn size(&self) -> usize {
        self.tasks.size()
    }

    /// Observes all existing tasks from now on; intervals that were kept before are dropped,
    /// because others may be missing. A task for which there is no memory stays unknown.
    pub(crate) fn open_all(&self) {
        let now_ns = sched::now_ns();
        all_tasks::for_each(|task| {
            if !task.is_released() {
                self.open(task, now_ns);
            }
        });
    }

    /// Observes a task, all of whose blocked intervals that ended after `since_ns` will be added.
    /// For a new task, this is 0. Allocates atomically.
    pub(crate) fn open(&self, task: Task<'_>, since_ns: u64) {
        let flags = GFP_ATOMIC | __GFP_NOWARN;
        if let Ok(recent) = self.tasks.get_or_insert(task.pid() as u32, flags) {
            let begin = |recent: &Recent| {
                recent.tag.set(u64::from(task.tag()));
                recent.since_ns.set(since_ns);
                recent.count.set(0);
            };
            // The task may be woken at the same time; that takes some instructions.
            let _ = (0..SPINS).any(|_| {
                core::hint::spin_loop();
                recent.change(begin)
            });
        }
        if self.tasks.is_large() {
            sched::reclaim_later();
        }
    }

    /// Adds an interval of a task that is woken.
    pub(crate) fn add(&self, task: Task<'_>, block: &PastBlock) {
        let Some(recent) = self.tasks.get(task.pid() as u32) else {
            return;
        };
        if recent.tag.get() != u64::from(task.tag()) {
            return;
        }
        recent.change(|recent| {
            let count = recent.count.get();
            if let Some(place) = recent.blocks.get(count as usize % KEPT) {
                place.set(block);
            }
            recent.count.set(count.saturating_add(1));
        });
    }

    /// Returns the longest kept interval of the task with this id from `from_ns` to `until_ns`. Any
    /// context.
    pub(crate) fn longest(&self, pid: i32, from_ns: u64, until_ns: u64) -> Past {
        let recent = self.tasks.get(pid as u32);
        let past =
            recent.and_then(|recent| recent.read(|recent| recent.longest(from_ns, until_ns)));
        past.unwrap_or(Past::Unknown)
    }

    /// Frees the intervals of tasks that have ended, if there are many. May sleep. There must be
    /// only one caller at a time.
    pub(crate) fn reclaim(&self) {
        all_tasks::reclaim_if_large(&self.tasks);
    }
}
