// SPDX-License-Identifier: GPL-2.0

//! The accounting state of every task: its current state, since when, and its total times.
//!
//! # Locking
//!
//! Accounting states are read and written without a lock. The contexts that record a task's
//! transitions run one after another ([`crate::ktrace::task::sched`]), and only they write the
//! members that belong to the task's state. The waker is written under the lock of the task that is
//! woken, before it is woken.
//!
//! Each accounting state carries the tag of its task. If the tag does not match, the id was reused
//! by another task without notice; the state is then reset, which counts as an accounting gap.
//!
//! # Which tasks are accounted
//!
//! Every task has an accounting state, but only those of accounted tasks ([`follow::follow`]) are
//! updated: the tasks that the call graph of some trace array traces, or all tasks while an event
//! has a listener. Code that changes this selection, or a filter decision ([`TaskFilter`]), calls
//! [`Accounting::begin_update`] before the change, and [`Accounting::end_update`] when every CPU
//! has the new trace mask. From then on every transition of a selected task is observed, which
//! [`StateTracker`](super::transition::StateTracker) relies on.
//!
//! A rename or an `execve()` can add a task to the filter while it runs. The tracepoint handler
//! then resets the start of the task's accounting before the filter decision
//! ([`SchedHooks::changes`](sched::SchedHooks::changes)), and sets it afterwards, so no earlier
//! state is reported. If a worker re-evaluates the filter for a task ([`sched::changes`]), the
//! task's accounting starts at its next observed transition.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::{
    clock_times::StateKind,
    recent::RecentBlocks,
    sections::Sections,
    times::{
        TaskTimes,
        UNUSED,
        VACATED, //
    },
    transition::{
        Previous,
        TaskState, //
    },
    types::{
        Blocked,
        OffCpu, //
    },
};
use crate::{
    ktrace::{
        sync::atomic::AtomicBool,
        task::{
            all_tasks,
            follow,
            irq_time,
            pid_map::PidMap,
            sched,
            task_mask::mask_of,
            Task, //
        },
        time::clock::ClockReading,
    },
    relaxed_u64::RelaxedU64,
    task_filter::TaskFilter, //
};

/// The duration of the state that ends with a transition.
pub(crate) struct Spent {
    /// The duration by the scheduler's clock.
    pub(crate) ns: u64,
    /// The duration to report in events.
    pub(crate) reported_ns: u64,
    /// The state, if its start was observed.
    pub(crate) seen: Option<TaskState>,
}

/// The accounting states of all tasks.
pub(crate) struct Accounting {
    pub(crate) tasks: PidMap<TaskTimes>,
    /// The recent blocked intervals of the tasks, while chains of wakeups are followed.
    pub(crate) recent: RecentBlocks,
    /// The open sections of the tasks.
    pub(crate) sections: Sections,
    /// Time in ns since which all selected tasks are accounted; [`u64::MAX`] while the selection
    /// changes. Missing intervals before this time are not counted as gaps.
    pub(crate) all_from_ns: RelaxedU64,
    /// Accounting gaps: intervals that are not reported because their start was not observed, or
    /// because memory was short.
    gaps: Atomic<u64>,
    /// Whether call graphs need the functions in which traced tasks block. Events look them up
    /// themselves.
    pub(crate) callers: AtomicBool,
}

impl Accounting {
    /// Creates an empty table. May sleep.
    pub(crate) fn new() -> Result<KBox<Self>> {
        let tasks = PidMap::new()?;
        let sections = Sections::new()?;
        let recent = RecentBlocks::new()?;
        Ok(KBox::new(
            Self {
                tasks,
                sections,
                recent,
                all_from_ns: RelaxedU64::new(u64::MAX),
                gaps: Atomic::new(0),
                callers: AtomicBool::new(false),
            },
            GFP_KERNEL,
        )?)
    }

    /// Returns the number of accounted tasks.
    pub(crate) fn len(&self) -> u64 {
        let mut n = 0u64;
        all_tasks::for_each(|task| {
            n = n.wrapping_add(u64::from(follows(task) && self.find(task).is_some()));
        });
        n
    }

    /// Returns the memory of the tables in bytes.
    pub(crate) fn size(&self) -> usize {
        let more = self.sections.size().saturating_add(self.recent.size());
        self.tasks.size().saturating_add(more)
    }

    /// Sets whether to look up the functions in which traced tasks block, which takes a stack walk
    /// at each wakeup.
    pub(crate) fn set_callers(&self, wanted: bool) {
        self.callers.store(wanted, Relaxed);
    }

    /// Returns the number of accounting gaps.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }

    /// Creates accounting states for all existing tasks. Must be called after the probes are
    /// attached. May sleep.
    pub(crate) fn open_all(&self) {
        all_tasks::for_each(|task| {
            // The id of a released task may already belong to another task.
            if task.is_released() {
                return;
            }
            match self.place(task) {
                Some(times) if times.tag.get() != u64::from(task.tag()) => {
                    times.open(task.tag(), 0);
                }
                _ => {}
            }
        });
    }

    /// Announces that the set of accounted tasks is about to change.
    pub(crate) fn begin_update(&self) {
        self.all_from_ns.set(u64::MAX);
    }

    /// Announces that all selected tasks are accounted from now on. Every CPU has handled an
    /// interrupt since the selection was changed, so no CPU is still in a context switch or wakeup
    /// that began before.
    pub(crate) fn end_update(&self) {
        self.all_from_ns.set(sched::now_ns());
    }

    /// Returns the entry for the id of a task. Allocates it if necessary, atomically.
    pub(crate) fn place(&self, task: Task<'_>) -> Option<&TaskTimes> {
        let id = task.pid() as u32;
        let place = self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN);
        if self.tasks.is_large() {
            sched::reclaim_later();
        }
        place.inspect_err(|_| self.count_gap()).ok()
    }

    /// Returns the accounting state of a task, if there is one.
    ///
    /// It is stored under the task's id. A thread that executes a program takes over the id of its
    /// process leader; until [`Accounting::move_to_pid`], the thread's state is still stored under
    /// its former id, and the leader's state under the leader's former id.
    #[inline]
    pub(crate) fn find(&self, task: Task<'_>) -> Option<&TaskTimes> {
        let times = self.tasks.get(task.pid() as u32)?;
        if times.tag.get() == u64::from(task.tag()) {
            return Some(times);
        }
        self.find_by_partner(task, times)
    }

    #[cold]
    fn find_by_partner(&self, task: Task<'_>, times: &TaskTimes) -> Option<&TaskTimes> {
        let tag = u64::from(task.tag());
        let other = self.tasks.get(times.partner.get() as u32)?;
        (other.tag.get() == tag).then_some(other)
    }

    /// Returns the accounting state of a task, if there is one; resets an entry that belonged to
    /// another task. Returns `None` for idle tasks.
    ///
    /// To be called only by the contexts that record transitions of the task, and by the task
    /// itself.
    #[inline]
    pub(crate) fn of(&self, task: Task<'_>) -> Option<&TaskTimes> {
        if task.pid() == 0 {
            return None;
        }
        self.find(task).or_else(|| self.begin_again(task))
    }

    #[cold]
    fn begin_again(&self, task: Task<'_>) -> Option<&TaskTimes> {
        let times = self.tasks.get(task.pid() as u32);
        if task.is_released() {
            // [`Accounting::open_all`] has created states for all tasks except those that were
            // already released; for them, no state must be created. If the entry is in use by
            // another task, this task may have lost its state to it, which is a gap.
            if times.is_some_and(|times| times.tag.get() != UNUSED) {
                self.count_gap();
            }
            return None;
        }
        if let Some(times) = times {
            times.open(task.tag(), u64::MAX);
        }
        self.count_gap();
        times
    }

    /// Returns the total time of the current task off its CPU. Returns `None` for an idle task, or
    /// if there was no memory for the task's state. Any context.
    #[inline]
    pub(crate) fn off_cpu(&self, task: Task<'_>) -> Option<OffCpu> {
        let times = self.find(task)?;
        Some(OffCpu {
            wait_ns: times.wait_ns.get(),
            block_ns: times.block_ns.get(),
        })
    }

    /// Returns the total time of interrupts on top of the current task up to now, in ns, as far as
    /// it was measured. The difference of two values is the time in between. Returns `None` if it
    /// is not measured now, and in the same cases as [`Accounting::off_cpu`]. Any context;
    /// preemption must be off.
    #[inline]
    pub(crate) fn irq_ns(&self, task: Task<'_>) -> Option<u64> {
        if !irq_time::is_measured() {
            return None;
        }
        let times = self.find(task)?;
        Some(times.irq_ns.get().wrapping_add(irq_time::here_ns()))
    }

    /// Returns whether all waits and blocks of the current task were observed since it had left a
    /// CPU `switches` times.
    pub(crate) fn has_seen_since(&self, task: Task<'_>, switches: u32) -> bool {
        self.find(task)
            .is_some_and(|times| times.current.covers(switches, task.switches()))
    }

    /// Returns the most recent blocked interval of the current task. Any context.
    pub(crate) fn last_block(&self, task: Task<'_>) -> Blocked {
        self.find(task).map_or(Blocked::default(), |times| Blocked {
            state: times.state.get() as u32,
            caller: times.caller.get() as usize,
            waker: times.unblocker.get(),
        })
    }

    /// Sets the start of a task's accounting after the filter decision for it, which may have added
    /// it to the accounted tasks. [`SchedHooks::changes`](sched::SchedHooks::changes) was called
    /// before.
    pub(crate) fn evaluated(&self, task: Task<'_>) {
        if let Some(times) = self.find(task) {
            times.current.follow_from(if follow::follows_everyone() {
                // All tasks are accounted; `all_from_ns` is their start.
                0
            } else if task.is_current() {
                sched::now_ns()
            } else {
                // The CPU that runs the task may switch away from it before it has the new trace
                // mask.
                u64::MAX
            });
        }
    }

    /// Moves the accounting state of the current task to the entry of its new id. The task must not
    /// leave its CPU in between.
    pub(crate) fn move_to_pid(&self, task: Task<'_>) {
        let (Some(old), Some(times)) = (self.find(task), self.tasks.get(task.pid() as u32)) else {
            return;
        };
        if core::ptr::eq(old, times) {
            return;
        }
        times.open(task.tag(), 0);
        times.inherit(old);
        times.partner.set(0);
        old.tag.set(VACATED);
    }

    /// Counts a call whose run, wait and block times are unknown.
    pub(crate) fn count_missing(&self) {
        self.gaps.add(1, Relaxed);
    }

    /// Counts an accounting gap, unless the set of accounted tasks is changing.
    fn count_gap(&self) {
        if self.all_from_ns.get() != u64::MAX {
            self.gaps.add(1, Relaxed);
        }
    }

    /// Returns the duration of the state that ends with a transition, if it is known. `before` is
    /// the result of the transition.
    #[inline]
    pub(crate) fn spent(
        &self,
        times: &TaskTimes,
        kind: StateKind,
        before: Previous,
        now_ns: u64,
        clock: Option<ClockReading>,
    ) -> Option<Spent> {
        let (ns, reported_ns, seen) = match before {
            Previous::Exact(since) => {
                let ns = since.elapsed_ns(now_ns);
                (ns, times.reported.end(kind, clock, ns), Some(since.state))
            }
            before => {
                times.reported.transition(clock);
                let ns = self.elapsed_unseen(before, now_ns)?;
                (ns, ns, None)
            }
        };
        times.sum(kind).add_alone(ns);
        Some(Spent {
            ns,
            reported_ns,
            seen,
        })
    }

    /// Returns the least duration of a state whose start was not observed, if it is known.
    #[cold]
    fn elapsed_unseen(&self, before: Previous, now_ns: u64) -> Option<u64> {
        match before {
            Previous::AtLeast(from_ns) => return Some(now_ns.saturating_sub(from_ns)),
            Previous::Missed => self.count_gap(),
            _ => {}
        }
        None
    }
}

/// Returns whether a task, which must not be an idle task, is accounted. To be called by probes.
pub(crate) fn follows(task: Task<'_>) -> bool {
    follow::follows_everyone() || follow::follows(mask_of::<TaskFilter>(task))
}
