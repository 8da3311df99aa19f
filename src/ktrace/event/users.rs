// SPDX-License-Identifier: GPL-2.0

//! Whether anybody listens to events that need something to be going on before they can fire:
//! those that are declared `counted`.
//!
//! Listeners of all kinds count: trace arrays, perf, BPF's raw tracepoints, other modules.

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::symbols::Resolved;

/// What has to be going on while there are users.
pub trait EventUsers {
    /// There are users, or there are none any more. Called in task context, without locks but those
    /// of the kernel's that guard turning events on and off, by one at a time, and only as
    /// long as there is a [`Counting`].
    ///
    /// Who turns an event on by its files or by perf goes on when this has returned; BPF and other
    /// modules do not wait for it.
    ///
    /// # Errors
    ///
    /// What they need cannot be had. Who waited is refused with it, and the next one who listens has
    /// this called again. That there are no users any more cannot be refused.
    fn changed(any: bool) -> Result;
}

extern "C" {
    fn ktrace_event_users_start() -> c_int;
    fn ktrace_event_users_stop();
}

/// Evidence that the users are counted: to be kept as long as the module is loaded.
pub struct Counting(());

impl Counting {
    /// Calls [`EventUsers::changed`] as things are, and from now on whenever they change. May
    /// sleep.
    ///
    /// # Errors
    ///
    /// That of the call: an event was on before, and would be silent.
    pub fn new(_: Resolved) -> Result<Self> {
        // Before the call: dropped, it waits for work that others queue.
        let this = Self(());
        // SAFETY: May sleep; queues the work and waits for it.
        to_result(unsafe { ktrace_event_users_start() })?;
        Ok(this)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        // SAFETY: May sleep: modules are unloaded where that is allowed. No work is queued after this,
        // not even by those who do not hold the module and stop to listen when it goes.
        unsafe { ktrace_event_users_stop() }
    }
}

/// Names the one type whose [`EventUsers`] is called.
#[macro_export]
macro_rules! bind_event_users {
    ($type:ty) => {
        const _: () = {
            #[no_mangle]
            extern "C" fn ktrace_event_users_changed(any: bool) -> ::kernel::ffi::c_int {
                match <$type as $crate::ktrace::event::users::EventUsers>::changed(any) {
                    Ok(()) => 0,
                    Err(error) => error.to_errno(),
                }
            }
        };
    };
}
pub use bind_event_users;
