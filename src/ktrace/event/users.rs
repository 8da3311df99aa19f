// SPDX-License-Identifier: GPL-2.0

//! The use of events that need other probes before they can fire: those declared as `counted`.
//!
//! Listeners of all kinds count as users: trace arrays, perf, BPF's raw tracepoints, other modules.

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::private::{
    callbacks::ktrace_event_users_changed_t,
    symbols::Resolved, //
};

/// A callback that provides what counted events need while they have users.
pub trait EventUsers {
    /// Called when the first user has appeared (`any` is true) or the last one is gone. Runs in
    /// task context, in one task at a time, and only while there is a [`UserCountGuard`]. No locks
    /// are held except those of the kernel that serialize the enabling of events.
    ///
    /// A user that enables an event in tracefs or with perf waits until this has returned; BPF and
    /// other modules do not wait.
    ///
    /// # Errors
    ///
    /// Any error if the events cannot be provided with what they need. The users that wait get this
    /// error, and this is called again when the next listener is attached. An error has no effect
    /// if `any` is false.
    fn changed(any: bool) -> Result;
}

extern "C" {
    fn ktrace_event_users_start(changed: ktrace_event_users_changed_t) -> c_int;
    fn ktrace_event_users_stop();
}

/// Evidence that the users are counted, which must be kept while the module is loaded.
pub struct UserCountGuard(());

impl UserCountGuard {
    /// Calls [`EventUsers::changed`] with the present state, and from now on after each change. May
    /// sleep.
    ///
    /// # Errors
    ///
    /// The error of this call of [`EventUsers::changed`]: an event had been enabled before and
    /// would not fire.
    pub fn new<T: EventUsers>(_: Resolved) -> Result<Self> {
        // Created before the call: on an error, its drop waits for work that other callers have
        // queued.
        let this = Self(());
        // SAFETY: Queues the work and waits for it; sleeping is allowed here.
        to_result(unsafe { ktrace_event_users_start(Some(changed::<T>)) })?;
        Ok(this)
    }
}

impl Drop for UserCountGuard {
    fn drop(&mut self) {
        // SAFETY: Sleeping is allowed where modules are unloaded. No work is queued after this, not
        // even by listeners without a reference to the module that are detached when it is
        // unloaded.
        unsafe { ktrace_event_users_stop() }
    }
}

extern "C" fn changed<T: EventUsers>(any: bool) -> c_int {
    match T::changed(any) {
        Ok(()) => 0,
        Err(error) => error.to_errno(),
    }
}
