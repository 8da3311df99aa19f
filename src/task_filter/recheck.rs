// SPDX-License-Identifier: GPL-2.0

//! The recheck of one task by the worker.

use super::{
    decisions::TaskFilter,
    filter_updates::is_since,
    task_info::TaskInfo,
    task_state::Entry, //
};
use crate::ktrace::task::{
    sched,
    task_mask::refresh_trace_mask,
    Task, //
};

impl TaskFilter {
    /// Rechecks one task. `last` is the generation with which the previous round began. Returns
    /// whether the next round must check the task again.
    pub(super) fn recheck_one(&self, task: Task<'_>, last: u32) -> bool {
        let info = TaskInfo::new(task, task.comm());
        let in_doubt = |entry: &&Entry| entry.pending_recheck.get() != 0;
        if self.entry(&info).filter(in_doubt).is_none() {
            return false;
        }
        let (mut rules, mask) = self.decide(task, &info);
        if task.is_released() {
            return false;
        }
        let Some(entry) = self.entry(&info).filter(in_doubt) else {
            return false;
        };
        let mut changed = false;
        if !is_since(entry.decided_gen.get(), rules.round) {
            changed = mask != entry.mask();
            if changed {
                sched::changes(task);
            }
            self.store(&mut rules, &info, mask, true);
        } else if is_since(entry.pending_recheck.get(), last) {
            return true;
        }
        entry.pending_recheck.set(0);
        drop(rules);
        if changed {
            refresh_trace_mask(task);
        }
        false
    }
}
