// SPDX-License-Identifier: GPL-2.0

//! Selections that a task gets for a while, because it works for another task.

use super::{
    decisions::TaskFilter,
    task_info::TaskInfo, //
};
use crate::ktrace::task::{
    hooks::{
        with_hooks,
        TaskHooks, //
    },
    Task, //
};

impl TaskFilter {
    /// Makes the trace arrays with these bits trace `task`, unless their `set_notrace_*` lists
    /// exclude it. Returns the bits that it did not have before, for [`TaskFilter::take_back`]. For
    /// probes, in the context of a task.
    pub(crate) fn lend(task: Task<'_>, bits: u32) -> u32 {
        let mut lent = 0;
        with_hooks::<Self>(|this| {
            let before = TaskHooks::mask(this, task.pid());
            let wanted = bits & !before;
            if wanted != 0 && this.change_inherited(task, |traced| traced | wanted) {
                lent = wanted;
            }
        });
        lent
    }

    /// Ends what [`TaskFilter::lend`] began, with its result.
    pub(crate) fn take_back(task: Task<'_>, lent: u32) {
        if lent != 0 {
            with_hooks::<Self>(|this| {
                this.change_inherited(task, |traced| traced & !lent);
            });
        }
    }

    /// Changes the inherited selection of a task, and evaluates the task again. Returns false if
    /// there was no memory for it, which is counted.
    fn change_inherited(&self, task: Task<'_>, change: impl FnOnce(u32) -> u32) -> bool {
        let info = TaskInfo::new(task, task.comm());
        {
            let mut rules = self.rules.lock();
            let now = TaskHooks::mask(self, info.pid);
            let Some(entry) = self.store(&mut rules, &info, now, true) else {
                return false;
            };
            let mut flags = entry.inherited();
            flags.traced = change(flags.traced);
            entry.set_inherited(flags);
        }
        self.update(task, None);
        true
    }
}
