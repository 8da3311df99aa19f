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
    task_times::accounting::Accounts, //
};

impl State {
    /// Returns the memory of the per-task tables in bytes.
    pub(crate) fn tables_size(&self) -> usize {
        let decisions = self
            .task_filter
            .as_ref()
            .map_or(0, |task_filter| task_filter.size());
        let accounts = self.accounts.as_ref().map_or(0, |accounts| accounts.size());
        decisions.saturating_add(accounts)
    }

    /// Returns the number of accounted tasks.
    pub(crate) fn accounts(&self) -> u64 {
        self.accounts.as_ref().map_or(0, |accounts| accounts.len())
    }

    /// Returns the number of accounting gaps since the module was loaded.
    pub(crate) fn time_gaps(&self) -> u64 {
        let now = self.accounts.as_ref().map_or(0, |accounts| accounts.gaps());
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
            self.close_accounts();
        }
        self.update_trace_masks();
        Ok(())
    }

    /// Returns the task accounting, which is started if necessary.
    pub(super) fn open_accounts(&mut self) -> Result<Arc<sched::Registration<Accounts>>> {
        if let Some(accounts) = &self.accounts {
            return Ok(Arc::clone(accounts));
        }
        self.open_watch()?;
        let accounts = Accounts::new()
            .and_then(|accounts| sched::Registration::new(self.resolved, accounts))
            .and_then(|accounts| Ok(Arc::new(accounts, GFP_KERNEL)?))
            .inspect_err(|_| self.close_watch())?;
        accounts.open_all();
        self.accounts = Some(Arc::clone(&accounts));
        self.observe_blocks();
        Ok(accounts)
    }

    /// Stops the task accounting, if it is no longer needed.
    pub(super) fn close_accounts(&mut self) {
        self.close_sections();
        let graphs = self.arrays.iter().any(|array| array.needs_accounting);
        let any = self.arrays.iter().any(Array::is_accounted);
        if !any && !self.listened {
            self.past_gaps = self.time_gaps();
            self.past_sections_lost = self.sections_lost();
            self.accounts = None;
            self.close_watch();
        } else if let Some(accounts) = &self.accounts {
            accounts.set_callers(graphs);
        }
    }
}
