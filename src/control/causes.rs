// SPDX-License-Identifier: GPL-2.0

//! The files `chain_thresh` and `follow_work`: from which blocked time on the chain of wakeups is
//! followed, and whether the work of traced tasks is traced.

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print, //
};

use super::Control;
use crate::{
    arrays::STATE,
    filter::input::parse_switch,
    thresholds::parse_us, //
};

impl Control {
    /// Sets the threshold. Empty input or white space clears it if `replace` is set.
    pub(super) fn set_chain_thresh(&mut self, data: &[u8]) -> Result {
        let ns = parse_us(data, self.replace).map_err(|error| self.refuse(data, &error))?;
        let Some(ns) = ns else {
            return Ok(());
        };
        let mut state = STATE.lock();
        let state = state.as_mut().ok_or(ENODEV)?;
        state.set_chain_thresh(self.serial, ns)?;
        self.replace = false;
        Ok(())
    }

    pub(super) fn set_follow_work(&self, data: &[u8]) -> Result {
        let Some(on) = parse_switch(data).map_err(|error| self.refuse(data, &error))? else {
            return Ok(());
        };
        let mut state = STATE.lock();
        let state = state.as_mut().ok_or(ENODEV)?;
        state.set_follow_work(self.serial, on)
    }

    pub(super) fn show_chain_thresh(&self, out: &SeqFile) -> Result {
        let ns = self.with(|_, array| array.chain_thresh_ns())?;
        seq_print!(out, "{}\n", ns / 1000);
        Ok(())
    }
}
