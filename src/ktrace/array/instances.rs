// SPDX-License-Identifier: GPL-2.0

//! Detection of changes in the kernel's tracing: trace arrays that are created and removed, events
//! that are enabled and disabled, functions that are written to `set_graph_function` and
//! `set_graph_notrace`.
//!
//! The kernel notifies no module of these changes, so kprobes are set on functions that each of
//! them calls. A kprobe runs where sleeping is not allowed and with the kernel's locks held, so it
//! only records the change; the same task handles it on its way back to user space. So when a
//! `mkdir` that creates an instance returns, the instance is complete, and when a write to `enable`
//! returns, the change has been handled. Changes made by kernel threads, including those of
//! io_uring, are handled soon after.

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::private::{
    callbacks::ktrace_instances_changed_t,
    symbols::Resolved, //
};

extern "C" {
    fn ktrace_take_changes() -> u32;
    fn ktrace_watch_instances(changed: ktrace_instances_changed_t) -> c_int;
    fn ktrace_unwatch_instances();
    fn ktrace_look_at_instances();
}

/// Has [`InstancesChanged::changed`] called before this system call returns. The probes miss
/// instances that are created while kprobes are turned off, so call this whenever the module is
/// used. Any context except NMI.
pub fn look_again() {
    // SAFETY: Callable from any task; does nothing unless the probes are registered.
    unsafe { ktrace_look_at_instances() }
}

/// The changes since the last call of [`Changed::take`].
#[derive(Clone, Copy)]
pub struct Changed(u32);

impl Changed {
    /// Returns the recorded changes and clears the record. Callers must hold a lock that they all
    /// share, so that each task returns to user space only after the changes that it recorded are
    /// handled.
    pub fn take() -> Self {
        // SAFETY: The function atomically exchanges one word.
        Self(unsafe { ktrace_take_changes() })
    }

    /// Returns whether trace arrays were created or removed (`KTRACE_CHANGED_INSTANCES` in
    /// `helpers.h`).
    pub fn has_instances(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns whether events were enabled or disabled (`KTRACE_CHANGED_EVENTS`).
    pub fn has_events(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns whether `set_graph_function` or `set_graph_notrace` was written
    /// (`KTRACE_CHANGED_FUNCTIONS`).
    pub fn has_functions(self) -> bool {
        self.0 & 4 != 0
    }
}

/// A callback for the changes that [`Changed`] reports.
pub trait InstancesChanged {
    /// Handles changes. Called in task context, without locks, any number of times, and by several
    /// tasks concurrently.
    fn changed();
}

/// The probes, which are registered while this value exists.
///
/// # Invariants
///
/// The probes are registered until drop.
pub struct InstanceWatch(());

impl InstanceWatch {
    /// Registers the probes. May sleep. Changes before this returns may be missed.
    ///
    /// # Errors
    ///
    /// The errors of `register_kprobes()` and `register_kretprobe()`.
    pub fn new<T: InstancesChanged>(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probes are static and not registered yet: a module has only one
        // `InstanceWatch` at a time, which the kernel enforces (`EINVAL` for a second
        // registration).
        to_result(unsafe { ktrace_watch_instances(Some(changed::<T>)) })?;
        // INVARIANT: The probes were registered above.
        Ok(Self(()))
    }
}

impl Drop for InstanceWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probes are registered. When this returns, no call of
        // `changed()` is running or will start.
        unsafe { ktrace_unwatch_instances() }
    }
}

extern "C" fn changed<T: InstancesChanged>() {
    T::changed();
}
