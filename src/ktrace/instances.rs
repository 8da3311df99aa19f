// SPDX-License-Identifier: GPL-2.0

//! Hearing of trace arrays that are made and removed.
//!
//! The kernel tells nobody, so a probe sits on a function that each of the two goes through. It is
//! where no sleeping is allowed and the kernel's locks are held, so it only leaves a note: the work
//! is done by the same task on its way back to user space. Whoever made an instance by `mkdir`
//! finds it complete when that returns; what kernel threads make, io_uring's too, is complete soon after.

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::symbols::Resolved;

extern "C" {
    fn ktrace_watch_instances() -> c_int;
    fn ktrace_unwatch_instances();
}

/// What to do when trace arrays may have been made or removed.
pub trait InstancesChanged {
    /// Called in task context, without locks, any number of times, by several tasks at once.
    fn changed();
}

/// The probes, in place as long as this lives.
///
/// # Invariants
///
/// They are registered until drop.
pub struct Watch(());

impl Watch {
    /// Puts the probes in place. May sleep. Changes from before may have gone unnoticed.
    ///
    /// # Errors
    ///
    /// Those of `register_kprobes()`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep; the probes are static and not registered yet: a module has one `Watch`
        // at a time, which the probes themselves enforce (`EINVAL` for a second registration).
        to_result(unsafe { ktrace_watch_instances() })?;
        // INVARIANT: Just registered.
        Ok(Self(()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: Registered, by the invariant. Returns when no call of `changed()` is under way or
        // still to come.
        unsafe { ktrace_unwatch_instances() }
    }
}

/// Names the one type whose [`InstancesChanged`] is called.
#[macro_export]
macro_rules! bind_instances_changed {
    ($type:ty) => {
        const _: () = {
            #[no_mangle]
            extern "C" fn ktrace_deferred() {
                <$type as $crate::ktrace::instances::InstancesChanged>::changed();
            }
        };
    };
}
pub use bind_instances_changed;
