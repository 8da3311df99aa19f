// SPDX-License-Identifier: GPL-2.0

//! Work that is done for traced tasks: what a traced task queues on a workqueue is traced while a
//! worker executes it.
//!
//! A task that queues work and whose filter decision has a bit of a trace array with `follow_work`
//! leaves an entry in a table. When a worker starts to execute this work, it is traced by these
//! trace arrays until it has finished ([`TaskFilter::lend`]). Then the event `task_work` reports
//! how long the work was queued, and how long it ran, waited and was blocked.

use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Full,
        Relaxed,
        Release, //
    },
};

use crate::{
    atomic_comm::AtomicComm,
    events,
    ktrace::{
        private::symbols::Resolved,
        sync::read_once::ReadOnce,
        task::{
            all_tasks,
            sched,
            task_mask::mask_of,
            works::{
                WorkId,
                WorkWatch,
                WorkWatcher, //
            },
            Task, //
        },
        time::clock::local_ns, //
    },
    relaxed_u64::RelaxedU64,
    task_filter::TaskFilter,
    task_times::{
        accounting::Accounting,
        types::{
            OffCpu,
            Work, //
        },
    },
    time_split::Split, //
};

/// The number of entries, a power of two, and how many of them are searched for one work.
const ENTRIES: usize = 512;
const TRIES: usize = 16;

/// [`TracedWork::work`] of an entry that is free, and of one that is being changed. No work has
/// these addresses.
const FREE: u64 = 0;
const BUSY: u64 = 1;

/// Work that was queued by a traced task, or is being executed for it.
struct TracedWork {
    work: Atomic<u64>,
    /// The worker that executes it; 0 while it is queued.
    worker: RelaxedU64,
    /// The trace arrays that trace it; once it is executed, those that the worker was lent to.
    mask: RelaxedU64,
    task_pid: RelaxedU64,
    task_comm: AtomicComm,
    queued_ns: RelaxedU64,
    started_ns: RelaxedU64,
    wait_ns: RelaxedU64,
    block_ns: RelaxedU64,
}

impl TracedWork {
    const fn new() -> Self {
        Self {
            work: Atomic::new(FREE),
            worker: RelaxedU64::new(0),
            mask: RelaxedU64::new(0),
            task_pid: RelaxedU64::new(0),
            task_comm: AtomicComm::new(),
            queued_ns: RelaxedU64::new(0),
            started_ns: RelaxedU64::new(0),
            wait_ns: RelaxedU64::new(0),
            block_ns: RelaxedU64::new(0),
        }
    }

    /// Takes the entry from `work`, which it must have, so that only the caller changes it.
    fn take(&self, work: u64) -> bool {
        self.work.cmpxchg(work, BUSY, Full).is_ok()
    }

    /// Releases the entry, with this content of `work`.
    fn release(&self, work: u64) {
        self.work.store(work, Release);
    }
}

static TABLE: [TracedWork; ENTRIES] = [const { TracedWork::new() }; ENTRIES];

/// The trace arrays with `follow_work`, by slot.
static FOLLOWED: Atomic<u32> = Atomic::new(0);

/// Work that was not followed because there were too many entries, or was cancelled.
static LOST: Atomic<u64> = Atomic::new(0);

/// Returns the number of work items of traced tasks that were not followed.
pub(crate) fn lost() -> u64 {
    LOST.load(Relaxed)
}

/// The entries in which a work may be.
fn places(work: u64) -> impl Iterator<Item = &'static TracedWork> {
    // The lowest bits of the addresses are equal.
    let hash = (work >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..TRIES).filter_map(move |n| TABLE.get((hash as usize + n) % ENTRIES))
}

/// Takes the entry of a work that is queued, if there is one.
fn take_queued(work: u64) -> Option<&'static TracedWork> {
    places(work).find(|entry| {
        if entry.work.load(Acquire) != work || entry.worker.get() != 0 || !entry.take(work) {
            return false;
        }
        // It may have been started and queued again in between.
        let is_queued = entry.worker.get() == 0;
        if !is_queued {
            entry.release(work);
        }
        is_queued
    })
}

/// Takes a free entry for a work. If there is none, takes the one of the work that has been queued
/// for the longest time: that work may have been cancelled, which is not reported.
fn take_free(work: u64) -> Option<&'static TracedWork> {
    let free = places(work).find(|entry| entry.work.load(Relaxed) == FREE && entry.take(FREE));
    free.or_else(|| {
        let queued = places(work).filter(|entry| entry.worker.get() == 0);
        let oldest = queued.min_by_key(|entry| entry.queued_ns.get())?;
        let former = oldest.work.load(Acquire);
        let is_taken = former > BUSY && oldest.worker.get() == 0 && oldest.take(former);
        is_taken.then(|| {
            LOST.add(1, Relaxed);
            oldest
        })
    })
}

/// Follows work, as long as it exists. There can be one such value at a time.
pub(crate) struct FollowWork {
    /// Only taken in `drop()`.
    watch: Option<WorkWatch>,
}

impl FollowWork {
    /// Starts to follow the work of tasks. May sleep.
    ///
    /// # Errors
    ///
    /// Those of [`WorkWatch::new`].
    pub(crate) fn new(resolved: Resolved) -> Result<Self> {
        let watch = Some(WorkWatch::new::<Works>(resolved)?);
        Ok(Self { watch })
    }
}

impl Drop for FollowWork {
    fn drop(&mut self) {
        FOLLOWED.store(0, Relaxed);
        self.watch = None;
        // No probe runs any more. Workers that are still executing work are not traced any more.
        all_tasks::for_each(|task| {
            let pid = task.pid() as u64;
            let own = |entry: &&TracedWork| pid != 0 && entry.worker.get() == pid;
            if let Some(entry) = TABLE.iter().find(own) {
                TaskFilter::take_back(task, entry.mask.get() as u32);
            }
        });
        for entry in &TABLE {
            entry.worker.set(0);
            entry.release(FREE);
        }
    }
}

/// Sets the trace arrays that follow work, by slot. Callers must hold the lock of
/// [`crate::arrays::STATE`].
pub(crate) fn set_followed(slots: u32) {
    FOLLOWED.store(slots, Relaxed);
}

/// Returns the total times of a task off its CPU.
fn off_cpu(task: Task<'_>) -> OffCpu {
    let mut off_cpu = OffCpu::default();
    sched::with_hooks::<Accounting>(|accounting| {
        off_cpu = accounting.off_cpu(task).unwrap_or_default();
    });
    off_cpu
}

struct Works;

impl WorkWatcher for Works {
    fn queued(work: WorkId, by: Option<Task<'_>>) {
        let WorkId(work) = work;
        // A former entry of this address: that work was cancelled.
        let former = take_queued(work);
        let mask = by.map_or(0, |task| mask_of::<TaskFilter>(task) & FOLLOWED.read_once());
        let Some(task) = by.filter(|_| mask != 0) else {
            if let Some(former) = former {
                former.release(FREE);
            }
            return;
        };
        let Some(entry) = former.or_else(|| take_free(work)) else {
            LOST.add(1, Relaxed);
            return;
        };
        entry.worker.set(0);
        entry.mask.set(u64::from(mask));
        entry.task_pid.set(task.pid() as u64);
        entry.task_comm.set(task.comm());
        entry.queued_ns.set(local_ns());
        entry.release(work);
    }

    fn started(work: WorkId, worker: Task<'_>) {
        let WorkId(work) = work;
        let Some(entry) = take_queued(work) else {
            return;
        };
        let mask = entry.mask.get() as u32 & FOLLOWED.read_once();
        if mask == 0 {
            return entry.release(FREE);
        }
        entry.mask.set(u64::from(TaskFilter::lend(worker, mask)));
        sched::with_hooks::<Accounting>(|accounting| accounting.evaluated(worker));
        let before = off_cpu(worker);
        entry.wait_ns.set(before.wait_ns);
        entry.block_ns.set(before.block_ns);
        entry.started_ns.set(local_ns());
        entry.worker.set(worker.pid() as u64);
        entry.release(work);
    }

    fn ended(work: WorkId, worker: Task<'_>, function: usize) {
        let WorkId(work) = work;
        let own = |entry: &&TracedWork| {
            entry.work.load(Acquire) == work && entry.worker.get() == worker.pid() as u64
        };
        let Some(entry) = places(work).find(own).filter(|entry| entry.take(work)) else {
            return;
        };
        let now_ns = local_ns();
        let after = off_cpu(worker);
        let total_ns = now_ns.saturating_sub(entry.started_ns.get());
        let wait_ns = after.wait_ns.saturating_sub(entry.wait_ns.get());
        let block_ns = after.block_ns.saturating_sub(entry.block_ns.get());
        let split = Split::new(total_ns, wait_ns, block_ns);
        let started_ns = entry.started_ns.get();
        let report = Work {
            function,
            comm: entry.task_comm.get(),
            pid: entry.task_pid.get() as i32,
            queued_ns: started_ns.saturating_sub(entry.queued_ns.get()),
            run_ns: split.run,
            wait_ns: split.wait,
            block_ns: split.block,
        };
        events::task_work::trace(worker, &report);
        TaskFilter::take_back(worker, entry.mask.get() as u32);
        sched::with_hooks::<Accounting>(|accounting| accounting.evaluated(worker));
        entry.worker.set(0);
        entry.release(FREE);
    }
}
