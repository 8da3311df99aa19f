// SPDX-License-Identifier: GPL-2.0

//! Notification when a signal is delivered to a task.
//!
//! C headers: `include/trace/events/signal.h` (`signal_deliver`), `include/linux/signal.h`.

use kernel::{
    bindings::task_struct,
    error::to_result,
    prelude::*, //
};

use super::task_ref::Task;
use crate::ktrace::private::{
    callbacks::ktrace_signal_t,
    symbols::Resolved, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_watch_signals(signal: ktrace_signal_t) -> c_int;
    fn ktrace_unwatch_signals();
}

/// Receives the signals of all tasks.
pub trait SignalWatcher: 'static {
    /// Called in the task to which a signal is delivered, before its handler or the default action
    /// runs, with preemption off and the task's `siglock` held. `is_fatal` means that the signal
    /// ends the process: because nothing handles it, or because the process is ending already
    /// (`SIGKILL` to its other threads).
    fn delivered(task: Task<'_>, signal: i32, is_fatal: bool);
}

/// The probe, which is attached while this value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The probe is attached until drop.
pub struct SignalWatch(());

impl SignalWatch {
    /// Attaches the probe. May sleep.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoint; `EEXIST` if the probe is attached;
    /// `ENOMEM`.
    pub fn new<T: SignalWatcher>(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probe is static; the kernel refuses to attach it twice.
        to_result(unsafe { ktrace_watch_signals(Some(delivered::<T>)) })?;
        // INVARIANT: The probe was attached above.
        Ok(Self(()))
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probe is attached. When this returns, it does not run.
        unsafe { ktrace_unwatch_signals() }
    }
}

/// # Safety
///
/// Only for `signals.c`: `task` must be alive until this returns.
unsafe extern "C" fn delivered<T: SignalWatcher>(
    task: *mut task_struct,
    signal: c_int,
    is_fatal: bool,
) {
    // SAFETY: The task is alive, as the caller guarantees.
    T::delivered(unsafe { Task::from_raw(task) }, signal, is_fatal);
}
