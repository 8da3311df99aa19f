// SPDX-License-Identifier: GPL-2.0

//! Saved cmdlines: a record contains only a task ID, and the kernel saves the comm of each task ID
//! separately.
//!
//! The kernel saves comms at context switches on a CPU if something was recorded there since the
//! last save (`trace_taskinfo_save`, which [`crate::ktrace::record`] sets), from a probe on each
//! context switch and each wakeup ([`CmdlineRecording`]). If ferrotrace has a probe on context
//! switches anyway, which handles only traced tasks, that probe can save the comms instead
//! ([`save_comms`]): then tasks that are not traced have less overhead.
//!
//! Calls that are added to a packed record ([`crate::ktrace::compact`]) do not set this flag, so
//! the old comm of a task that is renamed would be kept until the next packed record. Therefore a
//! rename sets the flag ([`changes`]).
//!
//! C headers: `include/linux/trace_events.h` (`tracing_record_taskinfo_sched_switch()`),
//! `kernel/trace/trace_sched_switch.c`.

use core::ffi::CStr;

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use super::Task;
use crate::ktrace::private::{
    cstr_ext::CStrExt,
    symbols::{
        Data,
        Resolved, //
    },
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
    fn ktrace_name_changes(task: *mut bindings::task_struct, taskinfo_flag: c_ulong);
    fn ktrace_find_name_probe() -> *const c_char;
    fn ktrace_attach_name_probe(user: *mut u8) -> c_int;
    fn ktrace_detach_name_probe(user: *mut u8);
}

/// Returns the name of a required tracepoint that this kernel lacks, if any. May sleep.
pub(in crate::ktrace) fn find_probe() -> Option<&'static CStr> {
    // SAFETY: The function only iterates over the kernel's own tracepoints.
    let name = unsafe { ktrace_find_name_probe() };
    // SAFETY: The pointer is null or points to a constant string in `saved_cmdlines.c`.
    (!name.is_null()).then(|| unsafe { CStr::from_chars(name) })
}

/// A user of the kernel's own cmdline recording, which is active while this value exists.
///
/// # Invariants
///
/// Cmdline recording was started once for this value. The probe on renames is attached with the
/// address in the box as its data.
pub struct CmdlineRecording(KBox<u8>);

impl CmdlineRecording {
    /// Starts cmdline recording. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short; other errors of `tracepoint_probe_register()`.
    pub fn new(_: Resolved) -> Result<Self> {
        let mut user = KBox::new(0, GFP_KERNEL)?;
        // SAFETY: `Resolved` shows that the tracepoint was found. The address is unique to this
        // box.
        to_result(unsafe { ktrace_attach_name_probe(&mut *user) })?;
        // SAFETY: Called in task context; the kernel counts the users of cmdline recording.
        unsafe { ktrace_call_tracing_start_cmdline_record() };
        // INVARIANT: Recording was started and the probe attached above.
        Ok(Self(user))
    }
}

impl Drop for CmdlineRecording {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, recording was started and the probe is attached. This
        // waits until no probe runs.
        unsafe {
            ktrace_call_tracing_stop_cmdline_record();
            ktrace_detach_name_probe(&mut *self.0);
        }
    }
}

/// Has the comm of `task` saved at its next context switch, even if nothing is recorded until then.
/// For probes on renames while the comm is not saved by [`CmdlineRecording`].
pub fn changes(task: Task<'_>) {
    // SAFETY: `task` is alive. The flag is a per-CPU `bool` of the kernel, found by its name, and
    // may be set from any CPU: if another CPU clears it at the same time, that CPU is about to save
    // comms anyway.
    unsafe { ktrace_name_changes(task.as_ptr(), Data::TaskinfoSave.address() as c_ulong) };
}

/// # Safety
///
/// Only for `saved_cmdlines.c`: `task` must be alive until this returns.
#[no_mangle]
unsafe extern "C" fn ktrace_comm_changes(task: *mut bindings::task_struct) {
    // SAFETY: The caller guarantees that `task` is alive until this returns.
    changes(unsafe { Task::from_raw(task) });
}

/// Saves the comms of two tasks if something was recorded on this CPU since the last save. For a
/// probe on the context switch from `prev` to `next`.
#[inline]
pub fn save_comms(prev: Task<'_>, next: Task<'_>) {
    // SAFETY: Both tasks are alive, and this is the context in which the kernel's own probe calls
    // the function: it only tries to take its lock.
    unsafe {
        ktrace_call_tracing_record_taskinfo_sched_switch(prev.as_ptr(), next.as_ptr(), CMDLINE);
    }
}
