// SPDX-License-Identifier: GPL-2.0

//! Allocates the bits of the trace mask to trace arrays, and updates the trace masks of all CPUs.

use kernel::prelude::*;

use super::{
    Array,
    State, //
};
use crate::ktrace::task::{
    follow,
    trace_mask, //
};

impl State {
    /// Returns the slot of the array at `at`, which is allocated if it has none.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if all bits of the trace mask are in use.
    pub(super) fn take_slot(&mut self, at: usize) -> Result<u32> {
        let array = self.arrays.get(at).ok_or(ENODEV)?;
        if let Some(slot) = array.slot {
            return Ok(slot);
        }
        let used = |slot: &u32| self.arrays.iter().any(|array| array.slot == Some(*slot));
        let Some(slot) = (0..trace_mask::SLOTS).find(|slot| !used(slot)) else {
            pr_err!(
                "{} trace arrays are filtered or recording already\n",
                trace_mask::SLOTS
            );
            return Err(ENOSPC);
        };
        if let Some(array) = self.arrays.get_mut(at) {
            array.slot = Some(slot);
        }
        Ok(slot)
    }

    /// Frees the slot of the array at `at` if it has no filter and no rules, and does not record.
    pub(super) fn drop_idle_slot(&mut self, at: usize) {
        if let Some(array) = self.arrays.get_mut(at) {
            if array.hook.is_none() && array.rules.is_none() && array.filter.is_empty() {
                array.slot = None;
            }
        }
    }

    /// Returns the slots of the trace arrays that `of` selects, as a mask.
    pub(super) fn slots(&self, of: impl Fn(&&Array) -> bool) -> u32 {
        let slots = self.arrays.iter().filter(of);
        slots
            .filter_map(|array| array.slot)
            .fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Announces that filter decisions are about to change. Until [`State::update_trace_masks`],
    /// the set of accounted tasks is undefined.
    pub(super) fn begin_account_update(&self) {
        if let Some(accounting) = &self.accounting {
            accounting.begin_update();
        }
    }

    /// Updates which trace arrays trace every task and which tasks are accounted, and makes every
    /// CPU recompute its trace mask. May sleep.
    pub(super) fn update_trace_masks(&self) {
        self.begin_account_update();
        trace_mask::set_always(self.slots(|array| array.filter.is_empty()));
        if self.accounting.is_some() {
            follow::follow(self.slots(|array| array.is_accounted()), self.listened);
        }
        self.publish_followed();
        trace_mask::refresh();
        if let Some(accounting) = &self.accounting {
            accounting.end_update();
        }
    }
}
