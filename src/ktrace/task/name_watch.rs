// SPDX-License-Identifier: GPL-2.0

//! Notification after a task was renamed.
//!
//! The tracepoint `task_rename` is hit before the new comm is written. After the write,
//! `__set_task_comm()` (fs/exec.c) calls `perf_event_comm()` as its last act, on which
//! [`NameWatch`] sets a hook. If the kernel was built with link-time optimization, it may inline
//! this function; then nothing is reported.
//!
//! C header: `include/linux/ftrace.h`.

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use super::{
    callbacks::TaskCallbacks,
    hooks::BoundTaskHooks,
    registration::TaskRegistration, //
};
use crate::ktrace::private::{
    callbacks::ktrace_task_callbacks,
    symbols::this_module, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_watch_names(callbacks: *const ktrace_task_callbacks) -> c_int;
    fn ktrace_unwatch_names() -> bool;
}

/// A hook that calls [`TaskHooks::name_written`](super::hooks::TaskHooks::name_written) while this
/// value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The hook is registered until drop.
pub struct NameWatch(());

impl NameWatch {
    /// Registers the hook. When this returns, no name is written without a call of the hook. May
    /// sleep. `_hooks` must be kept until this value is dropped: without them, the hook does
    /// nothing.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such function (`CONFIG_PERF_EVENTS`), or it cannot be
    /// traced; `EBUSY` if the hook is registered; other errors of `register_ftrace_function()`.
    pub fn new<T: BoundTaskHooks>(_hooks: &TaskRegistration<T>) -> Result<Self> {
        // SAFETY: May sleep. The table of callbacks is a constant. The hook is static; ftrace
        // refuses to register it twice.
        to_result(unsafe { ktrace_watch_names(TaskCallbacks::<T>::TABLE) })?;
        // INVARIANT: The hook was registered above.
        Ok(Self(()))
    }
}

impl Drop for NameWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the hook is registered. It is in this module's memory, so
        // ftrace waits until no callback runs any more (`ftrace_shutdown()`).
        if !unsafe { ktrace_unwatch_names() } {
            pr_err!(
                "ftrace is disabled after an internal error (ftrace_kill); refusing to unload\n"
            );
            // SAFETY: This module has a reference, or is not being removed yet: its filters are.
            unsafe { bindings::__module_get(this_module()) };
        }
    }
}
