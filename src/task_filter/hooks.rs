// SPDX-License-Identifier: GPL-2.0

//! The hooks on the life of tasks, which keep the filter decisions up to date.

use kernel::sync::{
    atomic::Relaxed,
    rcu, //
};

use super::{
    decisions::TaskFilter,
    inherited::InheritedFlags,
    task_info::TaskInfo,
    task_state::Entry, //
};
use crate::ktrace::{
    sync::{
        quiesce,
        read_once::ReadOnce, //
    },
    task::{
        all_tasks,
        bind::bind_task_hooks,
        hooks::TaskHooks,
        registration::schedule_recheck,
        sched,
        task_mask::refresh_trace_mask,
        trace_mask,
        Comm,
        Task, //
    },
};

bind_task_hooks!(TaskFilter);

impl TaskHooks for TaskFilter {
    #[inline]
    fn mask(&self, pid: i32) -> u32 {
        self.tasks.get(pid as u32).map_or(0, Entry::mask)
    }

    fn idle_mask(&self, cpu: u32) -> u32 {
        self.idle.get(cpu as usize).map_or(0, ReadOnce::read_once)
    }

    fn new_task(&self, parent: Task<'_>, child: Task<'_>) {
        if child.pid() == 0 {
            return;
        }
        let of_parent = TaskInfo::new(parent, parent.comm());
        let info = TaskInfo::new(child, child.comm());
        let guard = rcu::read_lock();
        loop {
            let (generation, parent_flags) = {
                let rules = self.rules.lock();
                (rules.generation, self.inherited(&rules, &of_parent))
            };
            let parent_cgroup = self.cgroup_of(parent, &guard);
            let cgroup = self.cgroup_of(child, &guard);
            let as_parent = of_parent.with_cgroup(&parent_cgroup);
            let as_child = info.with_cgroup(&cgroup);
            let (mut flags, mut mask) = (InheritedFlags::default(), 0u32);
            self.filters.for_each(|slot, filter| {
                let inherited = filter.child(&as_parent, parent_flags.inherited(slot));
                flags.add(slot, inherited);
                mask |= u32::from(filter.evaluate(&as_child, inherited)) << slot;
            });
            let mut rules = self.rules.lock();
            if rules.generation != generation || self.cgroup_of(child, &guard) != cgroup {
                continue;
            }
            // Discards the entry of a killed thread that had the same tag.
            rules.pending_execs.take(info.tag);
            // The child is already in the task lists, so another thread of its process may be
            // renaming it. If such a rename was reported but is not yet written, the worker must
            // recheck the child.
            let before = self.entry(&info);
            let pending_recheck = before.is_some_and(|entry| entry.pending_recheck.get() != 0);
            let overruled = pending_recheck && before.is_some_and(|entry| entry.mask() != mask);
            // If there is an entry, it is always overwritten: it may belong to a former owner of
            // the id.
            if let Some(entry) = self.store(&mut rules, &info, mask, !flags.is_empty()) {
                entry.set_inherited(flags);
                entry.decided_gen.set(0);
                entry.pending_recheck.set(match pending_recheck {
                    true => rules.generation,
                    false => 0,
                });
            }
            drop(rules);
            if overruled {
                schedule_recheck();
            }
            return;
        }
    }

    fn renamed(&self, task: Task<'_>, comm: Comm) {
        // If a filter is being installed at this moment, `set_filter()` evaluates the task after
        // this rename.
        if !self.filters.need_comm() {
            return;
        }
        let info = TaskInfo::new(task, comm);
        let by_itself = task.is_current();
        let (mut rules, mask) = self.decide(task, &info);
        // If another task renames this one: the id may already belong to another task; see
        // `evaluate_one()`.
        if task.is_released() {
            return;
        }
        let changed = mask != TaskHooks::mask(self, info.pid);
        let must_exist = rules.scanning || !by_itself;
        let mut pending_recheck = false;
        if let Some(entry) = self.store(&mut rules, &info, mask, must_exist) {
            entry.decided_gen.set(rules.generation);
            if !by_itself {
                entry.pending_recheck.set(rules.generation);
            }
            pending_recheck = entry.pending_recheck.get() != 0;
        }
        drop(rules);
        if !changed {
            // The order of two concurrent renames matters only if their masks differ. In that case
            // the rename that is reported last changes the mask.
            return;
        }
        if pending_recheck {
            schedule_recheck();
        }
        if by_itself {
            trace_mask::refresh_current();
        } else {
            refresh_trace_mask(task);
        }
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let info = TaskInfo::new(task, task.comm());
        if info.pid == info.tgid {
            return;
        }
        let mut rules = self.rules.lock();
        let flags = self.inherited(&rules, &info);
        if !flags.is_empty() && !rules.pending_execs.insert(info.tag, flags) {
            self.lost.add(1, Relaxed);
        }
    }

    fn executed(&self, task: Task<'_>, old_pid: i32) {
        let info = TaskInfo::new(task, task.comm());
        {
            let (mut rules, mask) = self.decide(task, &info);
            let old = self.tasks.get(old_pid as u32);
            let old = old.filter(|entry| old_pid != info.pid && entry.is_of(info.tag));
            if let Some(old) = old {
                old.clear();
            }
            self.store(&mut rules, &info, mask, false);
        }
        trace_mask::refresh_current();
    }

    fn moved(&self, task: Task<'_>) {
        // If a filter is being installed at this moment, `set_filter()` evaluates the task after
        // this move.
        if !self.filters.need_cgroups() {
            return;
        }
        let info = TaskInfo::new(task, task.comm());
        let (mut rules, mask) = self.decide(task, &info);
        if task.is_released() || mask == TaskHooks::mask(self, info.pid) {
            return;
        }
        sched::changes(task);
        let must_exist = rules.scanning || self.filters.need_comm();
        let mut pending_recheck = false;
        if let Some(entry) = self.store(&mut rules, &info, mask, must_exist) {
            // A rename may have been reported that is not written yet: then this decision is by
            // the old name, and the worker must recheck the task.
            pending_recheck = self.filters.need_comm();
            if pending_recheck {
                entry.pending_recheck.set(rules.generation);
            }
        }
        drop(rules);
        if pending_recheck {
            schedule_recheck();
        }
        if task.is_current() {
            trace_mask::refresh_current();
        } else {
            refresh_trace_mask(task);
        }
    }

    fn freed(&self, task: Task<'_>) {
        if let Some(entry) = self.tasks.get(task.pid() as u32) {
            entry.free(task.tag());
        }
    }

    fn reclaim(&self) {
        all_tasks::reclaim_if_large(&self.tasks);
    }

    fn recheck(&self) {
        let last = {
            let mut rules = self.rules.lock();
            let last = rules.round;
            rules.round = rules.begin();
            last
        };
        quiesce::synchronize_tasks();
        let mut left = false;
        all_tasks::for_each(|task| left |= self.recheck_one(task, last));
        if left {
            schedule_recheck();
        }
    }
}
