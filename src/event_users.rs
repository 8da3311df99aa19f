// SPDX-License-Identifier: GPL-2.0

//! Turns task accounting on and off as events in `events/ferrotrace/` get and lose listeners.

use kernel::prelude::*;

use crate::{
    arrays::STATE,
    ktrace::event::users::EventUsers, //
};

/// Receives notifications about listeners of the events in `events/ferrotrace/`.
pub(crate) struct EventUserCount;

impl EventUsers for EventUserCount {
    fn changed(any: bool) -> Result {
        let mut state = STATE.lock();
        let Some(state) = state.as_mut() else {
            return Ok(());
        };
        // BPF programs and other modules do not wait for the result, so it is logged as well.
        state
            .set_listened(any)
            .inspect_err(|error| pr_err!("failed to attach scheduler probes: {:?}\n", error))
    }
}
