// SPDX-License-Identifier: GPL-2.0

//! No packs while the system is suspended: their times are counts of a counter that goes on then, or
//! is set back, and a trace clock that stops. `compact.c` says why it is done in this way.
//!
//! C header: `include/linux/suspend.h` (`register_pm_notifier()`).

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::symbols::Resolved;

extern "C" {
    fn ktrace_is_suspended() -> bool;
    fn ktrace_watch_suspend() -> c_int;
    fn ktrace_unwatch_suspend();
}

/// Returns whether the system is suspended, about to be, or not quite resumed. Any context, with
/// preemption off: packs are closed when all CPUs that have read the former value have it on again.
#[inline]
pub(super) fn is_under_way() -> bool {
    // SAFETY: Reads a word.
    unsafe { ktrace_is_suspended() }
}

/// As long as this lives, all packs are closed when the system is about to be suspended, and none is
/// begun until it has resumed.
///
/// # Invariants
///
/// The notifier is registered.
pub struct Watch(());

impl Watch {
    /// Registers the notifier. May sleep.
    ///
    /// # Errors
    ///
    /// Those of `register_pm_notifier()`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: A module makes one of these, when it is loaded.
        to_result(unsafe { ktrace_watch_suspend() })?;
        // INVARIANT: Just registered.
        Ok(Self(()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: Registered, by the invariant. Waits until it does not run any more.
        unsafe { ktrace_unwatch_suspend() };
    }
}
