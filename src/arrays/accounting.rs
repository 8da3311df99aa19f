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
    ktrace::task::{
        irq_time::IrqTimeWatch,
        sched, //
    },
    option,
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
        if let Some(accounting) = self.accounting.clone() {
            self.open_irq_times()?;
            return Ok(accounting);
        }
        self.open_watch()?;
        // Before the first call is recorded.
        self.open_irq_times().inspect_err(|_| self.close_watch())?;
        let accounting = Accounting::new()
            .and_then(|accounting| sched::SchedRegistration::new(self.resolved, accounting))
            .and_then(|accounting| Ok(Arc::new(accounting, GFP_KERNEL)?))
            .inspect_err(|_| {
                self.close_irq_times();
                self.close_watch();
            })?;
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
        self.close_irq_times();
    }

    /// Returns whether the options of a trace array want the time of interrupts, for its calls or
    /// for events.
    fn wants_irq_times(&self) -> bool {
        let wants = |array: &Array| array.recorder.flags() & option::IRQ_TIME != 0;
        let is_used = |array: &Array| array.needs_accounting || self.listened;
        let mut arrays = self.arrays.iter();
        arrays.any(|array| wants(array) && is_used(array))
    }

    /// Starts to measure the time of interrupts, if it is wanted. May sleep.
    ///
    /// # Errors
    ///
    /// Those of [`IrqTimeWatch::new`].
    fn open_irq_times(&mut self) -> Result {
        if self.irq_times.is_none() && self.wants_irq_times() {
            self.irq_times = Some(IrqTimeWatch::new(self.resolved)?);
        }
        Ok(())
    }

    /// Stops to measure it, if it is not wanted or no tasks are accounted. May sleep.
    pub(super) fn close_irq_times(&mut self) {
        if self.accounting.is_none() || !self.wants_irq_times() {
            self.irq_times = None;
        }
    }

    /// Follows a change of options while tasks are accounted, perhaps because of events. May sleep.
    ///
    /// # Errors
    ///
    /// Those of [`IrqTimeWatch::new`].
    pub(super) fn sync_irq_times(&mut self) -> Result {
        if self.accounting.is_some() {
            self.open_irq_times()?;
        }
        self.close_irq_times();
        Ok(())
    }
}
