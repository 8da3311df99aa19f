// SPDX-License-Identifier: GPL-2.0

//! The installation of a filter, with which all tasks are evaluated again.

use kernel::sync::{
    atomic::Relaxed,
    rcu,
    Arc, //
};

use super::{
    decisions::TaskFilter,
    filter_updates::is_since,
    task_info::{
        CgroupInfo,
        TaskInfo, //
    },
};
use crate::{
    filter::decision::{
        self,
        ClearInherited,
        Filter,
        Inherited, //
    },
    ktrace::{
        sync::quiesce,
        task::{
            all_tasks,
            comm::idle_comm,
            registration::schedule_recheck,
            Task, //
        },
    },
};

impl TaskFilter {
    /// Installs a filter and evaluates it for every task; with `None`, removes the filter and its
    /// decisions. May sleep.
    ///
    /// The parts of inherited selections in `clear` are cleared. The trace masks of the CPUs are
    /// not updated; the caller must do that.
    pub(crate) fn set_filter(&self, slot: u32, filter: Option<Arc<Filter>>, clear: ClearInherited) {
        let bit = 1 << slot;
        let by_name = filter.as_ref().is_some_and(|filter| filter.needs_comm());
        let evaluate = filter.clone();
        let (replaced, since) = {
            let mut rules = self.rules.lock();
            let since = rules.begin();
            rules.scanning = true;
            if clear != ClearInherited::default() {
                self.tasks
                    .for_each(|entry| entry.clear_inherited(bit, clear));
                rules.pending_execs.clear(bit, clear);
            }
            (self.filters.replace(slot, filter), since)
        };
        drop(replaced);
        if by_name {
            quiesce::synchronize_tasks();
        }
        match evaluate {
            Some(filter) => {
                let mut pending_recheck = false;
                all_tasks::for_each(|task| {
                    pending_recheck |= self.evaluate_one(slot, &filter, since, task)
                });
                self.evaluate_idle(slot, &filter);
                if pending_recheck {
                    schedule_recheck();
                }
            }
            None => self.clear_decisions(bit),
        }
        self.rules.lock().scanning = false;
    }

    /// Evaluates one filter, which has changed with generation `since`, for a task. Returns whether
    /// the worker must recheck the decision.
    fn evaluate_one(&self, slot: u32, filter: &Filter, since: u32, task: Task<'_>) -> bool {
        let guard = rcu::read_lock();
        loop {
            let info = TaskInfo::new(task, task.comm());
            let flags = self.inherited(&self.rules.lock(), &info);
            let cgroup = self.cgroup_of(task, &guard);
            let traced = filter.evaluate(&info.with_cgroup(&cgroup), flags.inherited(slot));
            let mut rules = self.rules.lock();
            // The id may already belong to another task, whose decision must not be overwritten. If
            // it is reused later, `new_task()` waits for the lock.
            if task.is_released() {
                return false;
            }
            if task.pid() != info.pid
                || self.inherited(&rules, &info) != flags
                || self.cgroup_of(task, &guard) != cgroup
            {
                // The task has executed a program, or has moved, in between.
                continue;
            }
            let mut before = 0;
            if let Some(entry) = self.entry(&info) {
                if is_since(entry.decided_gen.get(), since) {
                    // A hook has evaluated the task by a name that may still be overwritten by a
                    // rename that was reported before the filter changed.
                    let pending_recheck = filter.needs_comm();
                    if pending_recheck {
                        entry.pending_recheck.set(rules.generation);
                    }
                    return pending_recheck;
                }
                before = entry.mask();
            }
            let mask = before & !(1 << slot) | u32::from(traced) << slot;
            self.store(&mut rules, &info, mask, false);
            return false;
        }
    }

    fn evaluate_idle(&self, slot: u32, filter: &Filter) {
        for (mask, cpu) in self.idle.iter().zip(0u32..) {
            let comm = idle_comm(cpu);
            let task = decision::TaskAttributes {
                pid: 0,
                tgid: 0,
                comm: comm.as_bytes(),
                cgroups: &CgroupInfo::Root,
            };
            let before = mask.load(Relaxed) & !(1 << slot);
            let traced = filter.evaluate(&task, Inherited::default());
            mask.store(before | u32::from(traced) << slot, Relaxed);
        }
    }

    fn clear_decisions(&self, bit: u32) {
        self.tasks.for_each(|entry| {
            let _rules = self.rules.lock();
            entry.clear_bit(bit);
        });
        for mask in &self.idle {
            mask.store(mask.load(Relaxed) & !bit, Relaxed);
        }
    }
}
