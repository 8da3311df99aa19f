// SPDX-License-Identifier: GPL-2.0

//! Installs and removes the filters of trace arrays, and registers the task hooks that keep the
//! filter decisions up to date.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State, //
};
use crate::{
    filter::decision::{
        ClearInherited, //
        Filter,
    },
    ktrace::task::{
        cgroups::CgroupWatch,
        name_watch::NameWatch,
        registration::TaskRegistration,
        trace_mask, //
    },
    task_filter::TaskFilter, //
};

impl State {
    /// Returns the number of tasks that the filter of `array` selects; `None` if it has no filter.
    pub(crate) fn matched(&self, array: &Array) -> Option<u64> {
        if array.filter.is_empty() {
            return None;
        }
        Some(self.task_filter.as_ref()?.matched(array.slot?))
    }

    /// Returns the number of filter updates that were lost since the module was loaded.
    pub(crate) fn filter_updates_lost(&self) -> u64 {
        let now = self
            .task_filter
            .as_ref()
            .map_or(0, |task_filter| task_filter.lost());
        self.past_lost.wrapping_add(now)
    }

    /// Registers the task hooks, if they are not registered.
    pub(super) fn open_watch(&mut self) -> Result {
        if self.task_filter.is_none() {
            self.task_filter = Some(TaskRegistration::new(self.resolved, TaskFilter::new()?)?);
        }
        Ok(())
    }

    /// Attaches the probe on moves to other cgroups, and the hook on names that were written, if
    /// `filter` needs them. The task hooks must be registered.
    fn open_filter_watches(&mut self, filter: &Filter) -> Result {
        if let (true, None, Some(task_filter)) =
            (filter.needs_comm(), &self.name_watch, &self.task_filter)
        {
            self.name_watch = Some(NameWatch::new(task_filter)?);
        }
        if let (true, None, Some(task_filter)) = (
            filter.needs_cgroups(),
            &self.cgroup_watch,
            &self.task_filter,
        ) {
            self.cgroup_watch = Some(CgroupWatch::new(task_filter)?);
        }
        Ok(())
    }

    /// Detaches the probes on moves and on names, and unregisters the task hooks, if they are no
    /// longer needed.
    pub(super) fn close_watch(&mut self) {
        let filtered = self.arrays.iter().any(|array| !array.filter.is_empty());
        if !self.arrays.iter().any(|array| array.filter.needs_cgroups()) {
            self.cgroup_watch = None;
        }
        if !self.arrays.iter().any(|array| array.filter.needs_comm()) {
            self.name_watch = None;
        }
        if !filtered && self.accounting.is_none() {
            self.past_lost = self.filter_updates_lost();
            self.task_filter = None;
        }
    }

    /// Replaces the filter of the trace array with this serial number. May sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array; `ENOSPC` or `ENOMEM`, with the old filter still in
    /// effect.
    pub(crate) fn set_filter(
        &mut self,
        serial: usize,
        filter: Filter,
        clear: ClearInherited,
    ) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let filter = Arc::new(filter, GFP_KERNEL)?;
        self.install_filter(at, filter, clear)
    }

    fn install_filter(&mut self, at: usize, filter: Arc<Filter>, clear: ClearInherited) -> Result {
        if filter.is_empty() {
            self.remove_filter(at, filter);
            return Ok(());
        }
        let slot = self.take_slot(at)?;
        if let Err(error) = self
            .open_watch()
            .and_then(|()| self.open_filter_watches(&filter))
        {
            self.drop_idle_slot(at);
            self.close_watch();
            return Err(error);
        }
        self.begin_account_update();
        if let Some(task_filter) = &self.task_filter {
            task_filter.set_filter(slot, Some(Arc::clone(&filter)), clear);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.filter = filter;
            trace_mask::set_owner(slot, Some(array.tr));
        }
        self.close_watch();
        self.update_trace_masks();
        Ok(())
    }

    /// Removes a filter by installing an empty one: every task is traced, which needs no filter
    /// decisions.
    pub(super) fn remove_filter(&mut self, at: usize, empty: Arc<Filter>) {
        self.begin_account_update();
        let Some(array) = self.arrays.get_mut(at) else {
            return;
        };
        array.filter = empty;
        let slot = array.slot;
        if let Some(slot) = slot {
            trace_mask::set_owner(slot, None);
        }
        if array.hook.is_none() && array.rules.is_none() {
            array.slot = None;
        }
        // First trace every task, then remove the decisions, so that a selected task is traced
        // throughout.
        self.update_trace_masks();
        if let (Some(task_filter), Some(slot)) = (&self.task_filter, slot) {
            task_filter.set_filter(slot, None, ClearInherited::ALL);
        }
        self.close_watch();
        self.update_trace_masks();
    }
}
