// SPDX-License-Identifier: GPL-2.0

//! Names of tasks, which the kernel keeps by their ids so that a record has only the id.
//!
//! The kernel notes them when tasks are switched, if something was recorded on that CPU since
//! (`trace_taskinfo_save`, which [`super::records`] sets), by a probe of its own on each switch and each wakeup
//! ([`Names`]). Where there is a probe on the switch already, which is told of tasks that are recorded and of no
//! others, that can have it done ([`keep`]): what others do then costs less.
//!
//! What is added to a pack ([`super::compact`]) sets no flag, so that a task which is renamed would keep its old name until
//! the next pack: a rename sets it ([`changes`]).
//!
//! C headers: `include/linux/trace_events.h` (`tracing_record_taskinfo_sched_switch()`),
//! `kernel/trace/trace_sched_switch.c`.

use core::ffi::CStr;

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use super::{
    cstr::Chars,
    symbols::{
        Data,
        Resolved, //
    },
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
    fn ktrace_name_changes(task: *mut bindings::task_struct, taskinfo_flag: c_ulong);
    fn ktrace_find_name_probe() -> *const c_char;
    fn ktrace_attach_name_probe(user: *mut u8) -> c_int;
    fn ktrace_detach_name_probe(user: *mut u8);
}

/// The name of a tracepoint that this kernel does not have, if there is one. May sleep.
pub(super) fn find_probe() -> Option<&'static CStr> {
    // SAFETY: Walks the kernel's own tracepoints.
    let name = unsafe { ktrace_find_name_probe() };
    // SAFETY: Null, or a constant string in `task.c`.
    (!name.is_null()).then(|| unsafe { CStr::from_chars(name) })
}

/// As long as this lives, the kernel notes names by itself.
///
/// # Invariants
///
/// It was told to start once, and is told to stop when this is dropped. The probe on renames is attached for whom the
/// address in here stands.
pub struct Names(KBox<u8>);

impl Names {
    /// Lets it begin. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(_: Resolved) -> Result<Self> {
        let mut user = KBox::new(0, GFP_KERNEL)?;
        // SAFETY: The tracepoint was found, as `Resolved` shows; nobody else has this address.
        to_result(unsafe { ktrace_attach_name_probe(&mut *user) })?;
        // SAFETY: Task context; the kernel counts those who want it.
        unsafe { ktrace_call_tracing_start_cmdline_record() };
        // INVARIANT: Just told, and attached.
        Ok(Self(user))
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: Told to start, and attached, by the invariant. This waits until no probe runs any more.
        unsafe {
            ktrace_call_tracing_stop_cmdline_record();
            ktrace_detach_name_probe(&mut *self.0);
        }
    }
}

/// Has the name of a task noted at its next switch, whether something is recorded until then or not. For probes on
/// renames, where its name is not kept by [`Names`].
pub fn changes(task: Task<'_>) {
    // SAFETY: A live task. The flag is a per-CPU `bool` of the kernel, found by its name, and set from anywhere: whoever
    // lowers it at the same time is about to note names on that CPU, as it would have without this.
    unsafe { ktrace_name_changes(task.as_ptr(), Data::TaskinfoSave.address() as c_ulong) };
}

/// # Safety
///
/// For `task.c`: the task lives until this returns.
#[no_mangle]
unsafe extern "C" fn ktrace_name_of_changes(task: *mut bindings::task_struct) {
    // SAFETY: By the precondition.
    changes(unsafe { Task::from_raw(task) });
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
