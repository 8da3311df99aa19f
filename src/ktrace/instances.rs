// SPDX-License-Identifier: GPL-2.0

//! Notices of what changes in the kernel's tracing: trace arrays that are made and removed, events that are enabled
//! and disabled, functions that are written to `set_graph_function` and `set_graph_notrace`.
//!
//! The kernel notifies no module of these, so probes sit on functions that each of them goes through. It is
//! where no sleeping is allowed and the kernel's locks are held, so a probe only leaves a note: the work
//! is done by the same task on its way back to user space. A `mkdir` that makes an instance returns when that is
//! complete, and a write to `enable` when it is known; what kernel threads do, io_uring's too, is known soon after.

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::symbols::Resolved;

extern "C" {
    fn ktrace_take_changes() -> u32;
    fn ktrace_watch_instances() -> c_int;
    fn ktrace_unwatch_instances();
    fn ktrace_look_at_instances();
}

/// Has [`InstancesChanged::changed`] called before this system call returns. The probes miss instances
/// that are made while kprobes are turned off, so this is to be called whenever the module is used.
/// Any context but NMI.
pub fn look_again() {
    // SAFETY: Callable from any task; does nothing unless the probes are in place.
    unsafe { ktrace_look_at_instances() }
}

/// What changed since [`Changed::take`] was called before.
#[derive(Clone, Copy)]
pub struct Changed(u32);

impl Changed {
    /// Returns what changed, and forgets it. With a lock that the callers share, so that each of them returns to user
    /// space after what it noted is done.
    pub fn take() -> Self {
        // SAFETY: Exchanges one word.
        Self(unsafe { ktrace_take_changes() })
    }

    /// Trace arrays were made or removed (`KTRACE_CHANGED_INSTANCES` in `shim.h`).
    pub fn has_instances(self) -> bool {
        self.0 & 1 != 0
    }

    /// Events were enabled or disabled (`KTRACE_CHANGED_EVENTS`).
    pub fn has_events(self) -> bool {
        self.0 & 2 != 0
    }

    /// `set_graph_function` or `set_graph_notrace` was written (`KTRACE_CHANGED_FUNCTIONS`).
    pub fn has_functions(self) -> bool {
        self.0 & 4 != 0
    }
}

/// What to do when something changed that [`Changed`] has.
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
