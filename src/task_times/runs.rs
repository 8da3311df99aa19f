// SPDX-License-Identifier: GPL-2.0

//! The most recent tasks that each CPU has run. They show which tasks had it while another one
//! waited.
//!
//! Only the probe on context switches writes and reads them, those of its own CPU and with
//! interrupts off. So there are no concurrent accesses.

use kernel::{
    alloc::KVVec,
    cpu::{
        nr_cpu_ids,
        CpuId, //
    },
    prelude::*,
    sync::{
        rcu,
        Arc, //
    },
};

use crate::{
    atomic_comm::AtomicComm,
    ktrace::{
        sync::published::Published,
        task::{
            Comm,
            Task, //
        },
    },
    relaxed_u64::RelaxedU64,
};

/// How many runs are kept for each CPU.
const KEPT: usize = 64;

/// How many tasks are distinguished in one wait.
const MAX_TASKS: usize = 16;

static RUNS: Published<RecentRuns> = Published::none();

/// A task that had a CPU, and from when to when, in ns of the scheduler's clock.
struct StoredRun {
    from_ns: RelaxedU64,
    until_ns: RelaxedU64,
    pid: RelaxedU64,
    comm: AtomicComm,
}

impl StoredRun {
    const fn new() -> Self {
        Self {
            from_ns: RelaxedU64::new(0),
            until_ns: RelaxedU64::new(0),
            pid: RelaxedU64::new(0),
            comm: AtomicComm::new(),
        }
    }
}

/// The runs of one CPU.
struct CpuRuns {
    /// In the order of time; the next one replaces that at `count % KEPT`.
    runs: [StoredRun; KEPT],
    count: RelaxedU64,
    /// The task that has the CPU, how often it had left a CPU before, and since when it has it, in
    /// ns.
    now_pid: RelaxedU64,
    now_switches: RelaxedU64,
    since_ns: RelaxedU64,
}

impl CpuRuns {
    const fn new() -> Self {
        Self {
            runs: [const { StoredRun::new() }; KEPT],
            count: RelaxedU64::new(0),
            now_pid: RelaxedU64::new(u64::MAX),
            now_switches: RelaxedU64::new(0),
            since_ns: RelaxedU64::new(0),
        }
    }

    fn switch(&self, prev: Task<'_>, next: Task<'_>, now_ns: u64) {
        let switches = u64::from(prev.switches().wrapping_sub(1));
        // Switches are not observed while neither task is accounted.
        let is_seen =
            self.now_pid.get() == prev.pid() as u64 && self.now_switches.get() == switches;
        let count = self.count.get();
        if let Some(run) = self.runs.get(count as usize % KEPT) {
            let from_ns = self.since_ns.get();
            run.from_ns.set(if is_seen { from_ns } else { now_ns });
            run.until_ns.set(now_ns);
            run.pid.set(prev.pid() as u64);
            run.comm.set(prev.comm());
        }
        self.count.set(count + 1);
        self.now_pid.set(next.pid() as u64);
        self.now_switches.set(u64::from(next.switches()));
        self.since_ns.set(now_ns);
    }

    fn between(&self, from_ns: u64, until_ns: u64) -> Runners {
        let mut runners = Runners::default();
        let mut seen_from_ns = until_ns;
        let count = self.count.get();
        let latest = (count.saturating_sub(KEPT as u64)..count).rev();
        for run in latest.filter_map(|index| self.runs.get(index as usize % KEPT)) {
            // There is a gap, or the rest was before that time.
            if run.until_ns.get() != seen_from_ns || seen_from_ns <= from_ns {
                break;
            }
            seen_from_ns = run.from_ns.get();
            let ns = run.until_ns.get() - seen_from_ns.max(from_ns).min(run.until_ns.get());
            runners.add(run, ns);
        }
        runners.is_complete &= seen_from_ns <= from_ns;
        runners
    }
}

/// A task that had a CPU while another one waited for it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Runner {
    pub(crate) comm: Comm,
    pub(crate) pid: i32,
    /// How often it got the CPU; 0 if this is not a task.
    pub(crate) runs: u32,
    /// For how much of the wait it had it, in ns.
    pub(crate) ns: u64,
}

/// The tasks that had a CPU while another one waited for it.
pub(crate) struct Runners {
    pub(crate) tasks: [Runner; MAX_TASKS],
    /// Whether these are all tasks of the whole wait.
    pub(crate) is_complete: bool,
}

impl Default for Runners {
    fn default() -> Self {
        Self {
            tasks: [Runner::default(); MAX_TASKS],
            is_complete: true,
        }
    }
}

impl Runners {
    fn add(&mut self, run: &StoredRun, ns: u64) {
        let pid = run.pid.get() as i32;
        let mut tasks = self.tasks.iter_mut();
        let Some(task) = tasks.find(|task| task.runs == 0 || task.pid == pid) else {
            self.is_complete = false;
            return;
        };
        if task.runs == 0 {
            task.pid = pid;
            task.comm = run.comm.get();
        }
        task.ns = task.ns.saturating_add(ns);
        task.runs += 1;
    }
}

struct RecentRuns(KVVec<CpuRuns>);

/// Keeps runs while it exists. There must be only one.
pub(crate) struct RunWatch(());

impl RunWatch {
    /// Provides the memory. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new() -> Result<Self> {
        let mut cpus = KVVec::with_capacity(nr_cpu_ids() as usize, GFP_KERNEL)?;
        for _ in 0..nr_cpu_ids() {
            cpus.push(CpuRuns::new(), GFP_KERNEL)?;
        }
        drop(RUNS.replace(Some(Arc::new(RecentRuns(cpus), GFP_KERNEL)?)));
        Ok(Self(()))
    }
}

impl Drop for RunWatch {
    /// Frees the memory. May sleep.
    fn drop(&mut self) {
        drop(RUNS.replace(None));
    }
}

fn with_own<R>(with: impl FnOnce(&CpuRuns) -> R) -> Option<R> {
    let guard = rcu::read_lock();
    let cpus = &RUNS.get(&guard)?.0;
    cpus.get(CpuId::current().as_u32() as usize).map(with)
}

/// Keeps the run of `prev`, which ends now, if there is a [`RunWatch`]. For the probe on context
/// switches.
pub(crate) fn task_switches(prev: Task<'_>, next: Task<'_>, now_ns: u64) {
    with_own(|cpu| cpu.switch(prev, next, now_ns));
}

/// Returns the tasks that had this CPU since `from_ns`; `None` without a [`RunWatch`]. For the
/// probe on context switches, after [`task_switches`] with the same `now_ns`.
pub(crate) fn runners(from_ns: u64, now_ns: u64) -> Option<Runners> {
    with_own(|cpu| cpu.between(from_ns, now_ns))
}
