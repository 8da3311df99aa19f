// SPDX-License-Identifier: GPL-2.0

//! Sets which trace arrays trace the work that their tasks queue on workqueues.

use kernel::prelude::*;

use super::{
    Array,
    State, //
};
use crate::works::{
    set_followed,
    FollowWork, //
};

impl Array {
    /// Returns whether the trace array traces the work of its tasks.
    pub(crate) fn follows_work(&self) -> bool {
        self.follows_work
    }
}

impl State {
    /// Sets whether the trace array with this serial number traces the work of its tasks. May
    /// sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array; those of [`FollowWork::new`].
    pub(crate) fn set_follow_work(&mut self, serial: usize, on: bool) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        if on && self.works.is_none() {
            self.works = Some(FollowWork::new(self.resolved)?);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.follows_work = on;
        }
        self.publish_followed();
        self.close_works();
        Ok(())
    }

    /// Updates which trace arrays follow work.
    pub(super) fn publish_followed(&self) {
        set_followed(self.slots(|array| array.follows_work && !array.filter.is_empty()));
    }

    /// Stops to follow work, if no trace array needs it. May sleep.
    pub(super) fn close_works(&mut self) {
        if !self.arrays.iter().any(|array| array.follows_work) {
            self.works = None;
        }
    }
}
