// SPDX-License-Identifier: GPL-2.0

//! Accounts are kept while somebody listens to an event that is made of them.

use kernel::prelude::*;

use crate::{
    arrays::STATE,
    ktrace::event::users::{
        bind_event_users,
        EventUsers, //
    }, //
};

/// Who listens to the events in `events/ferrotrace/`.
pub(crate) struct Users;

bind_event_users!(Users);

impl EventUsers for Users {
    fn changed(any: bool) -> Result {
        let mut state = STATE.lock();
        let Some(state) = state.as_mut() else {
            return Ok(());
        };
        // Not all who listen are told.
        state
            .set_listened(any)
            .inspect_err(|error| pr_err!("cannot watch the scheduler: {:?}\n", error))
    }
}
