// SPDX-License-Identifier: GPL-2.0

//! The states of tasks that are not running, and the function in which a task sleeps.

use kernel::{
    bindings,
    prelude::*, //
};

use super::task_ref::Task;
use crate::ktrace::value_names::ValueNames;

/// The names of the states in which a task leaves its CPU, as in `sched_switch`.
///
/// `R` is a task that gave up its CPU but is still runnable, `R+` a task that was preempted.
pub const STATE_NAMES: ValueNames = &[
    (0, c"R"),
    (0x1, c"S"),
    (0x2, c"D"),
    (0x4, c"T"),
    (0x8, c"t"),
    (0x10, c"X"),
    (0x20, c"Z"),
    (0x40, c"P"),
    (0x80, c"I"),
    (0x100, c"R+"),
];

/// The state of a task that was preempted (`TASK_REPORT_MAX`).
pub const PREEMPTED: u32 = 0x100;

/// The state of a task that gave up its CPU but is still runnable.
pub const RUNNABLE: u32 = 0;

/// The states of a task that will never run again (`EXIT_DEAD`, `EXIT_ZOMBIE`).
pub const ENDED: u32 = 0x30;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_task_blocked(task: *mut bindings::task_struct, state: *mut u32) -> bool;
    fn ktrace_call___get_wchan(task: *mut bindings::task_struct) -> c_ulong;
}

/// Returns the address of the function in which `task` sleeps, as in `/proc/PID/wchan`; 0 if it is
/// unknown. For [`SchedHooks::wakeup`](super::sched::SchedHooks::wakeup), with the task that is
/// woken: it has left its CPU and cannot be on another one yet. For a running task, the result is
/// meaningless.
pub fn caller_of(task: Task<'_>) -> usize {
    // SAFETY: `task` is alive. The function unwinds its stack from where it was switched out, holds
    // a reference to the stack during this, and reads nothing outside of it.
    unsafe { ktrace_call___get_wchan(task.as_ptr()) as usize }
}

/// Returns the state in which `task` is blocked, a value of [`STATE_NAMES`], or `None` if it is not
/// blocked. The state may change at any time.
pub fn blocked_in(task: Task<'_>) -> Option<u32> {
    let mut state = 0;
    // SAFETY: `task` is alive; the function only reads single words of it.
    let blocked = unsafe { ktrace_task_blocked(task.as_ptr(), &mut state) };
    blocked.then_some(state)
}
