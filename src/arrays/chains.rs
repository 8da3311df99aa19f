// SPDX-License-Identifier: GPL-2.0

//! Sets the thresholds from which the causes of blocks and waits are followed.

use kernel::prelude::*;

use super::{
    Array,
    State, //
};
use crate::{
    chain_thresholds,
    ktrace::task::irqs::IrqWatch,
    task_times::runs::RunWatch, //
};

impl Array {
    /// Returns the least duration in ns of a blocked interval whose chain is followed; 0 means
    /// none.
    pub(crate) fn chain_thresh_ns(&self) -> u64 {
        self.chain_thresh_ns
    }
}

impl State {
    /// Sets the threshold in ns of the trace array with this serial number; 0 means none. May
    /// sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array; `ENOSPC` if 32 others have a threshold; those of
    /// [`IrqWatch::new`].
    pub(crate) fn set_chain_thresh(&mut self, serial: usize, ns: u64) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let others = self.arrays.iter().enumerate();
        let others = others.filter(|(n, array)| *n != at && array.chain_thresh_ns != 0);
        if ns != 0 && others.count() >= chain_thresholds::MAX {
            return Err(ENOSPC);
        }
        if ns != 0 && self.irqs.is_none() {
            let runs = RunWatch::new()?;
            self.irqs = Some(IrqWatch::new(self.resolved)?);
            self.runs = Some(runs);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.chain_thresh_ns = ns;
        }
        self.publish_chain_thresholds();
        self.observe_blocks();
        Ok(())
    }

    /// Updates from which durations on chains are followed. May sleep.
    pub(super) fn publish_chain_thresholds(&mut self) {
        let arrays = self
            .arrays
            .iter()
            .filter(|array| array.chain_thresh_ns != 0);
        chain_thresholds::set_thresholds(arrays.map(|array| (array.tr, array.chain_thresh_ns)));
        if !chain_thresholds::are_wanted() {
            self.irqs = None;
            self.runs = None;
        }
    }

    /// Keeps the recent blocked intervals of all existing tasks, if chains are followed.
    pub(super) fn observe_blocks(&self) {
        if let Some(accounting) = self.accounting.as_ref() {
            if chain_thresholds::are_wanted() {
                accounting.recent.open_all();
            }
        }
    }
}
