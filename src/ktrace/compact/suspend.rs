// SPDX-License-Identifier: GPL-2.0

//! Prevents packs while the system is suspended: their times are values of a counter that then
//! continues or is set back, while the trace clock stops. `compact.c` explains the solution.
//!
//! C header: `include/linux/suspend.h` (`register_pm_notifier()`).

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::private::symbols::Resolved;

extern "C" {
    fn ktrace_is_suspended() -> bool;
    fn ktrace_watch_suspend() -> c_int;
    fn ktrace_unwatch_suspend();
}

/// Returns whether the system is suspended, about to be suspended, or not completely resumed.
///
/// Any context, with preemption off: packs are closed once all CPUs that may have read the former
/// value have enabled preemption again.
#[inline]
pub(super) fn is_under_way() -> bool {
    // SAFETY: `ktrace_is_suspended()` has no preconditions; it reads a word.
    unsafe { ktrace_is_suspended() }
}

/// A registered PM notifier: while it exists, all packs are closed before the system is suspended,
/// and none is begun until it has resumed.
///
/// # Invariants
///
/// The notifier is registered.
pub struct SuspendWatch(());

impl SuspendWatch {
    /// Registers the notifier. May sleep.
    ///
    /// # Errors
    ///
    /// Those of `register_pm_notifier()`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: Not registered yet: the module creates only one of these, when it is loaded.
        to_result(unsafe { ktrace_watch_suspend() })?;
        // INVARIANT: Just registered.
        Ok(Self(()))
    }
}

impl Drop for SuspendWatch {
    fn drop(&mut self) {
        // SAFETY: The notifier is registered, by the type invariant. This waits until it does not
        // run any more.
        unsafe { ktrace_unwatch_suspend() };
    }
}
