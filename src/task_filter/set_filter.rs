// SPDX-License-Identifier: GPL-2.0

//! The installation of a filter, with which all tasks are evaluated again.

use kernel::sync::{
    atomic::Relaxed,
    Arc, //
};

use super::{
    decisions::TaskFilter,
    task_info::CgroupInfo,
    task_state::Entry, //
};
use crate::{
    filter::decision::{
        self,
        ClearInherited,
        Filter,
        Inherited, //
    },
    ktrace::task::{
        all_tasks,
        comm::idle_comm,
        Task, //
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
        let evaluate = filter.clone();
        let replaced = {
            let mut rules = self.rules.lock();
            rules.generation = rules.generation.wrapping_add(1);
            if clear != ClearInherited::default() {
                self.tasks
                    .for_each(|entry| entry.clear_inherited(bit, clear));
                rules.pending_execs.clear(bit, clear);
            }
            self.filters.replace(slot, filter)
        };
        drop(replaced);
        match evaluate {
            Some(filter) => {
                all_tasks::for_each(|task| self.evaluate_one(slot, &filter, task));
                self.evaluate_idle(slot, &filter);
            }
            None => self.clear_decisions(bit),
        }
    }

    /// Evaluates one filter, which has changed, for a task.
    fn evaluate_one(&self, slot: u32, filter: &Filter, task: Task<'_>) {
        let (mut rules, info, traced) = self.evaluate_with(task, None, |info, cgroup, flags| {
            filter.evaluate(&info.with_cgroup(cgroup), flags.inherited(slot))
        });
        // The id may already belong to another task, whose decision must not be overwritten. If it
        // is reused later, `new_task()` waits for the lock.
        if !task.is_released() {
            let before = self.entry(&info).map_or(0, Entry::mask);
            let mask = before & !(1 << slot) | u32::from(traced) << slot;
            self.store(&mut rules, &info, mask, false);
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
