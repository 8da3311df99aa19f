// SPDX-License-Identifier: GPL-2.0

//! The filter decisions for all tasks: how they are stored, and how one task is evaluated.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    cpu::nr_cpu_ids,
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        lock::{
            spinlock::SpinLockBackend,
            Guard, //
        },
        rcu,
        SpinLock, //
    },
};

use super::{
    filter_updates::FilterUpdates,
    filters::Filters,
    inherited::InheritedFlags,
    task_info::{
        CgroupInfo,
        TaskInfo, //
    },
    task_state::Entry, //
};
use crate::ktrace::{
    sync::published::Published,
    task::{
        cgroups::Cgroup,
        hooks::TaskHooks,
        pid_map::PidMap,
        registration::reclaim_later,
        sched,
        task_mask::refresh_trace_mask,
        trace_mask::{
            self,
            SLOTS, //
        },
        Comm,
        Task, //
    },
};

/// Number of attempts to evaluate a task without holding the lock.
const UNLOCKED_ATTEMPTS: u32 = 3;

/// The filter decisions for all tasks.
#[pin_data]
pub(crate) struct TaskFilter {
    pub(super) tasks: PidMap<Entry>,
    /// The masks of the idle tasks, indexed by CPU, because idle tasks share the id 0.
    pub(super) idle: KVec<Atomic<u32>>,
    pub(super) filters: Filters,
    #[pin]
    pub(super) rules: SpinLock<FilterUpdates>,
    /// Filter updates that were lost: decisions that could not be stored because memory was short,
    /// and inherited selections that were replaced in `pending_execs`.
    pub(super) lost: Atomic<u64>,
}

impl TaskFilter {
    /// Creates the state without any filter. May sleep.
    pub(crate) fn new() -> Result<Pin<KBox<Self>>> {
        let tasks = PidMap::new()?;
        let mut idle = KVec::new();
        for _ in 0..nr_cpu_ids() {
            idle.push(Atomic::new(0), GFP_KERNEL)?;
        }
        KBox::pin_init(
            pin_init!(Self {
                tasks,
                idle,
                filters: Filters {
                    places: [const { Published::none() }; SLOTS as usize],
                    used: Atomic::new(0),
                    by_name: Atomic::new(0),
                    by_cgroup: Atomic::new(0),
                },
                rules <- new_spinlock!(FilterUpdates::default()),
                lost: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }

    /// Returns the number of lost filter updates.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn size(&self) -> usize {
        self.tasks.size()
    }

    /// Returns the number of tasks that the filter of `slot` selects, idle tasks included.
    pub(crate) fn matched(&self, slot: u32) -> u64 {
        let mut n = 0u64;
        let mut count = |mask: u32| n = n.wrapping_add(u64::from(mask >> slot & 1));
        self.tasks.for_each(|entry| count(entry.mask()));
        self.idle.iter().for_each(|mask| count(mask.load(Relaxed)));
        n
    }

    /// Returns the entry of a task, if there is one.
    pub(super) fn entry(&self, info: &TaskInfo) -> Option<&Entry> {
        let entry = self.tasks.get(info.pid as u32);
        entry.filter(|entry| entry.is_of(info.tag))
    }

    /// Returns the inherited selection of a task. `rules` must be held; the argument is the
    /// evidence.
    pub(super) fn inherited(&self, rules: &FilterUpdates, info: &TaskInfo) -> InheritedFlags {
        let entry = self.entry(info).map(Entry::inherited);
        entry
            .or_else(|| rules.pending_execs.get(info.tag))
            .unwrap_or_default()
    }

    /// Returns the cgroup of a task, if any filter depends on it. Any context.
    pub(super) fn cgroup_of<'a>(&self, task: Task<'_>, guard: &'a rcu::Guard) -> CgroupInfo<'a> {
        match self.filters.need_cgroups() {
            true => Cgroup::of(task, guard).map_or(CgroupInfo::NotNeeded, CgroupInfo::Own),
            false => CgroupInfo::NotNeeded,
        }
    }

    /// Calls `evaluate` with the attributes of a task, its cgroup and its inherited selection. Its
    /// name is `reported`, which is about to be written, or the task's own. Returns the attributes
    /// and the result, with `rules` held, and still valid.
    ///
    /// `rules` is not held during `evaluate`, unless the attributes have changed each time in
    /// between, as they do for a task that is renamed all the time.
    pub(super) fn evaluate_with<T>(
        &self,
        task: Task<'_>,
        reported: Option<Comm>,
        evaluate: impl Fn(&TaskInfo, &CgroupInfo<'_>, InheritedFlags) -> T,
    ) -> (Guard<'_, FilterUpdates, SpinLockBackend>, TaskInfo, T) {
        let guard = rcu::read_lock();
        let info = || TaskInfo::new(task, reported.unwrap_or(task.comm()));
        for _ in 0..UNLOCKED_ATTEMPTS {
            let info = info();
            let (generation, flags) = {
                let rules = self.rules.lock();
                (rules.generation, self.inherited(&rules, &info))
            };
            let cgroup = self.cgroup_of(task, &guard);
            let result = evaluate(&info, &cgroup, flags);
            let rules = self.rules.lock();
            if rules.generation == generation
                && task.pid() == info.pid
                && (reported.is_some() || task.comm() == info.comm)
                && self.inherited(&rules, &info) == flags
                && self.cgroup_of(task, &guard) == cgroup
            {
                return (rules, info, result);
            }
        }
        let rules = self.rules.lock();
        let info = info();
        let flags = self.inherited(&rules, &info);
        let result = evaluate(&info, &self.cgroup_of(task, &guard), flags);
        (rules, info, result)
    }

    /// Evaluates all filters for a task, as [`evaluate_with`](Self::evaluate_with) does. Returns
    /// the mask.
    pub(super) fn decide(
        &self,
        task: Task<'_>,
        reported: Option<Comm>,
    ) -> (Guard<'_, FilterUpdates, SpinLockBackend>, TaskInfo, u32) {
        self.evaluate_with(task, reported, |info, cgroup, flags| {
            let task = info.with_cgroup(cgroup);
            let mut mask = 0;
            self.filters.for_each(|slot, filter| {
                let traced = filter.evaluate(&task, flags.inherited(slot));
                mask |= u32::from(traced) << slot;
            });
            mask
        })
    }

    /// Evaluates all filters for a task, as [`decide`](Self::decide) does, stores the decision, and
    /// refreshes the trace mask of the CPU that runs the task. Task context, of any task.
    pub(super) fn update(&self, task: Task<'_>, reported: Option<Comm>) {
        let (mut rules, info, mask) = self.decide(task, reported);
        // If the task is not the current one, its id may already belong to another one.
        if task.is_released() {
            return;
        }
        let changes = mask != TaskHooks::mask(self, info.pid);
        if changes {
            sched::changes(task);
        }
        self.store(&mut rules, &info, mask, false);
        if let Some(comm) = reported {
            rules.reported_names.set(info.tag, comm);
        }
        drop(rules);
        match changes {
            true if task.is_current() => trace_mask::refresh_current(),
            true => refresh_trace_mask(task),
            false => (),
        }
    }

    /// Stores a filter decision. `rules` must be held. With `must_exist`, an entry is created even
    /// for a mask of 0.
    pub(super) fn store(
        &self,
        rules: &mut FilterUpdates,
        info: &TaskInfo,
        mask: u32,
        must_exist: bool,
    ) -> Option<&Entry> {
        rules.reported_names.clear(info.tag);
        let id = info.pid as u32;
        let entry = match self.tasks.mark(id) {
            Some(entry) => entry,
            None if mask == 0 && !must_exist && rules.pending_execs.get(info.tag).is_none() => {
                return None;
            }
            None => match self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN) {
                Ok(entry) => entry,
                Err(_) => {
                    self.lost.add(1, Relaxed);
                    return None;
                }
            },
        };
        if self.tasks.is_large() {
            reclaim_later();
        }
        if !entry.is_of(info.tag) {
            entry.clear();
            if let Some(flags) = rules.pending_execs.take(info.tag) {
                entry.set_inherited(flags);
            }
        }
        entry.set_decision(mask, info.tag);
        Some(entry)
    }
}
