// SPDX-License-Identifier: GPL-2.0

//! Notification before records are written that are not events: user markers and `trace_printk()`.
//!
//! The kernel gives no notice before it writes such a record, so [`MarkerWatch`] sets kprobes on
//! the functions that write them. The probes cost nothing while none of these functions is called.
//!
//! C headers: `include/linux/kprobes.h`, `kernel/trace/trace_printk.c`.

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::hook::{
    interposed,
    BoundGraphHook, //
};
use crate::ktrace::private::{
    callbacks::ktrace_interposed_t,
    symbols::Resolved, //
};

extern "C" {
    fn ktrace_watch_markers(interposed: ktrace_interposed_t) -> c_int;
    fn ktrace_unwatch_markers();
}

/// The probes, which are registered while this value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The probes are registered until drop.
pub struct MarkerWatch(());

impl MarkerWatch {
    /// Registers the probes. May sleep. From then on, before such a record is written, the current
    /// task's open calls are passed to
    /// [`GraphHook::interposed`](super::GraphHook::interposed).
    ///
    /// # Errors
    ///
    /// Those of `register_kprobes()`: `ENOENT` if the kernel has no such function; `EINVAL` if the
    /// probes are registered already.
    pub fn new<G: BoundGraphHook>(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probes are static; the kernel refuses to register them twice.
        to_result(unsafe { ktrace_watch_markers(Some(interposed::<G>)) })?;
        // INVARIANT: The probes were registered above.
        Ok(Self(()))
    }
}

impl Drop for MarkerWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probes are registered. When this returns, no handler
        // runs.
        unsafe { ktrace_unwatch_markers() }
    }
}
