// SPDX-License-Identifier: GPL-2.0

//! Notices of records that are written without being events: user markers and `trace_printk()`.
//!
//! Nothing tells that such a record may come, so [`Watch`] has probes on the functions that write them. They cost
//! nothing while there is none of it.
//!
//! C headers: `include/linux/kprobes.h`, `kernel/trace/trace_printk.c`.

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::symbols::Resolved;

extern "C" {
    fn ktrace_watch_markers() -> c_int;
    fn ktrace_unwatch_markers();
}

/// The probes, in place as long as this lives. There is one at a time.
///
/// # Invariants
///
/// They are registered until drop.
pub struct Watch(());

impl Watch {
    /// Puts the probes in place. May sleep. The current task's open calls are reported to
    /// [`super::fgraph::GraphHook::interposed`] from then on, before such a record is written.
    ///
    /// # Errors
    ///
    /// Those of `register_kprobes()`: `ENOENT` if the kernel has no such function; `EINVAL` for a second one.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep; the probes are static, and not registered: that is an error.
        to_result(unsafe { ktrace_watch_markers() })?;
        // INVARIANT: Just registered.
        Ok(Self(()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: Registered, by the invariant. Returns when no handler runs any more.
        unsafe { ktrace_unwatch_markers() }
    }
}
