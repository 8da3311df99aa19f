// SPDX-License-Identifier: GPL-2.0

//! Notes the longest stretches with interrupts and with preemption off while the options of a trace
//! array want it.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State, //
};
use crate::{
    ktrace::task::cpu_events::SwitchWatch,
    latency::Latency,
    option,
    triggers, //
};

impl Array {
    /// Returns the longest stretches, from when they were first noted until they are cleared.
    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.latency.as_deref()
    }
}

impl State {
    /// Makes the array at `at`, which begins to record, note the longest stretches if its options
    /// want it. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; those of [`SwitchWatch::new`].
    pub(super) fn open_latency(&mut self, at: usize, flags: u32) -> Result {
        if flags & option::LATENCY == 0 {
            return Ok(());
        }
        if self.switches.is_none() {
            self.switches = Some(SwitchWatch::new(self.resolved)?);
        }
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let latency = match &array.latency {
            Some(latency) => Arc::clone(latency),
            None => Arc::new(Latency::new(triggers::stretch_seen)?, GFP_KERNEL)?,
        };
        latency.restart();
        array.latency = Some(Arc::clone(&latency));
        array.has_latency = true;
        drop(array.recorder.set_latency(Some(latency)));
        Ok(())
    }

    /// Stops to count context switches, if no trace array notes stretches. May sleep.
    pub(super) fn close_latency(&mut self) {
        if !self.arrays.iter().any(|array| array.has_latency) {
            self.switches = None;
        }
    }

    /// Clears the longest stretches of the trace array with this serial number, and frees their
    /// memory unless they are still noted.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array.
    pub(crate) fn clear_latency(&mut self, serial: usize) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        match &array.latency {
            Some(latency) if array.has_latency => latency.clear(),
            _ => array.latency = None,
        }
        self.clear_gone();
        Ok(())
    }
}
