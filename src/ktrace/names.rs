// SPDX-License-Identifier: GPL-2.0

//! Names of tasks, which the kernel keeps by their ids so that a record has only the id.
//!
//! The kernel notes them when tasks are switched, if something was recorded on that CPU since
//! (`trace_taskinfo_save`, which [`super::records`] sets), by a probe of its own on each switch and each wakeup
//! ([`Names`]). Where there is a probe on the switch already, which is told of tasks that are recorded and of no
//! others, that can have it done ([`keep`]): what others do then costs less.
//!
//! C headers: `include/linux/trace_events.h` (`tracing_record_taskinfo_sched_switch()`),
//! `kernel/trace/trace_sched_switch.c`.

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    symbols::Resolved,
    task::Task, //
};

/// `TRACE_RECORD_CMDLINE`.
const CMDLINE: c_int = 1 << 0;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_tracing_start_cmdline_record();
    fn ktrace_call_tracing_stop_cmdline_record();
    fn ktrace_call_tracing_record_taskinfo_sched_switch(
        prev: *mut bindings::task_struct,
        next: *mut bindings::task_struct,
        flags: c_int,
    );
}

/// As long as this lives, the kernel notes names by itself.
///
/// # Invariants
///
/// It was told to start once, and is told to stop when this is dropped.
pub struct Names(());

impl Names {
    /// Lets it begin. May sleep.
    pub fn new(_: Resolved) -> Self {
        // SAFETY: Task context; the kernel counts those who want it.
        unsafe { ktrace_call_tracing_start_cmdline_record() };
        // INVARIANT: Just told.
        Self(())
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: Told to start, by the invariant.
        unsafe { ktrace_call_tracing_stop_cmdline_record() };
    }
}

/// Notes the names of two tasks if something was recorded here since that was last done. For a probe on the
/// switch from the one to the other.
#[inline]
pub fn keep(prev: Task<'_>, next: Task<'_>) {
    // SAFETY: Live tasks, in the context that the kernel's own probe calls it in: it takes a lock only if that is
    // free.
    unsafe {
        ktrace_call_tracing_record_taskinfo_sched_switch(prev.as_ptr(), next.as_ptr(), CMDLINE);
    }
}
