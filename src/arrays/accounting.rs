// SPDX-License-Identifier: GPL-2.0

//! Starts the task accounting when a call graph is recorded or an event has a listener, and stops
//! it afterwards. Returns the counters of the task accounting and the size of the per-task tables.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State, //
};
use crate::{
    ktrace::task::sched,
    task_times::accounting::Accounting, //
};

impl State {
    /// Returns the memory of the per-task tables in bytes.
    pub(crate) fn tables_size(&self) -> usize {
        let decisions = self
            .task_filter
            .as_ref()
            .map_or(0, |task_filter| task_filter.size());
        let accounting = self
            .accounting
            .as_ref()
            .map_or(0, |accounting| accounting.size());
        decisions.saturating_add(accounting)
    }

    /// Returns the number of accounted tasks.
    pub(crate) fn accounted_tasks(&self) -> u64 {
        self.accounting
            .as_ref()
            .map_or(0, |accounting| accounting.len())
    }

    /// Returns the number of accounting gaps since the module was loaded.
    pub(crate) fn time_gaps(&self) -> u64 {
        let now = self
            .accounting
            .as_ref()
            .map_or(0, |accounting| accounting.gaps());
        self.past_gaps.wrapping_add(now)
    }

    /// Sets whether an event that depends on task accounting has a listener. If it has, all tasks
    /// are accounted. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; tasks are not accounted then.
    pub(crate) fn set_listened(&mut self, any: bool) -> Result {
        self.listened = any;
        if any {
            self.open_sections()?;
        } else {
            self.close_accounting();
        }
        self.update_trace_masks();
        Ok(())
    }

    /// Returns the task accounting, which is started if necessary.
    pub(super) fn open_accounting(&mut self) -> Result<Arc<sched::SchedRegistration<Accounting>>> {
        if let Some(accounting) = &self.accounting {
            return Ok(Arc::clone(accounting));
        }
        self.open_watch()?;
        let accounting = Accounting::new()
            .and_then(|accounting| sched::SchedRegistration::new(self.resolved, accounting))
            .and_then(|accounting| Ok(Arc::new(accounting, GFP_KERNEL)?))
            .inspect_err(|_| self.close_watch())?;
        accounting.open_all();
        self.accounting = Some(Arc::clone(&accounting));
        self.observe_blocks();
        Ok(accounting)
    }

    /// Stops the task accounting, if it is no longer needed.
    pub(super) fn close_accounting(&mut self) {
        self.close_sections();
        let graphs = self.arrays.iter().any(|array| array.needs_accounting);
        let any = self.arrays.iter().any(Array::is_accounted);
        if !any && !self.listened {
            self.past_gaps = self.time_gaps();
            self.past_sections_lost = self.sections_lost();
            self.accounting = None;
            self.close_watch();
        } else if let Some(accounting) = &self.accounting {
            accounting.set_callers(graphs);
        }
    }
}
