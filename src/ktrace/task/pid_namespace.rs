// SPDX-License-Identifier: GPL-2.0

//! Ids of tasks in the PID namespace of the current task.
//!
//! C header: `include/linux/pid.h`.

extern "C" {
    fn ktrace_pid_from_namespace(id: i32) -> i32;
    fn ktrace_pid_to_namespace(id: i32) -> i32;
}

/// Returns the global ID of the task that has the ID `id` in the PID namespace of the current task.
/// In the initial PID namespace, and for the idle tasks (0), it is `id` itself, whether there is
/// such a task or not. Returns `None` if there is no such task in another namespace. Task context.
pub fn from_namespace(id: i32) -> Option<i32> {
    // SAFETY: This only reads, under RCU.
    let id = unsafe { ktrace_pid_from_namespace(id) };
    (id >= 0).then_some(id)
}

/// Returns the ID that the task with the global ID `id` has in the PID namespace of the current
/// task. In the initial PID namespace, and for the idle tasks (0), it is `id` itself. Returns
/// `None` if the task is not in the namespace or does not exist. Task context.
pub fn to_namespace(id: i32) -> Option<i32> {
    // SAFETY: This only reads, under RCU.
    let id = unsafe { ktrace_pid_to_namespace(id) };
    (id >= 0).then_some(id)
}
