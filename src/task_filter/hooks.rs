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
    sync::read_once::ReadOnce,
    task::{
        all_tasks,
        bind::bind_task_hooks,
        hooks::TaskHooks,
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
        let guard = rcu::read_lock();
        let parent_cgroup = self.cgroup_of(parent, &guard);
        // The child is already in the task lists, so it may be moved, and another thread of its
        // process may rename it.
        let (mut rules, info, (flags, mask)) =
            self.evaluate_with(child, None, |info, cgroup, _| {
                let parent_flags = self.entry(&of_parent).map(Entry::inherited);
                let parent_flags = parent_flags.unwrap_or_default();
                let as_parent = of_parent.with_cgroup(&parent_cgroup);
                let as_child = info.with_cgroup(cgroup);
                let (mut flags, mut mask) = (InheritedFlags::default(), 0u32);
                self.filters.for_each(|slot, filter| {
                    let inherited = filter.child(&as_parent, parent_flags.inherited(slot));
                    flags.add(slot, inherited);
                    mask |= u32::from(filter.evaluate(&as_child, inherited)) << slot;
                });
                (flags, mask)
            });
        // Discards the entry of a killed thread that had the same tag.
        rules.pending_execs.take(info.tag);
        // If there is an entry, it is always overwritten: it may belong to a former owner of the
        // id.
        if let Some(entry) = self.store(&mut rules, &info, mask, !flags.is_empty()) {
            entry.set_inherited(flags);
        }
    }

    fn renamed(&self, task: Task<'_>, comm: Comm) {
        // If a filter is being installed at this moment, `set_filter()` evaluates the task after
        // this rename.
        if !self.filters.need_comm() {
            return;
        }
        self.update(task, Some(comm));
    }

    fn name_written(&self, task: Task<'_>) {
        let (tag, comm) = (task.tag(), task.comm());
        if !self.rules.lock().reported_names.contains(tag, comm) {
            self.update(task, None);
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
        {
            let (mut rules, info, mask) = self.decide(task, None);
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
        self.update(task, None);
    }

    fn freed(&self, task: Task<'_>) {
        if let Some(entry) = self.tasks.get(task.pid() as u32) {
            entry.free(task.tag());
        }
    }

    fn reclaim(&self) {
        all_tasks::reclaim_if_large(&self.tasks);
    }
}
