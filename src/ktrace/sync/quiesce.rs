// SPDX-License-Identifier: GPL-2.0

//! Waiting until code that runs now has finished, before what it uses is freed.

use kernel::bindings;

extern "C" {
    fn ktrace_synchronize();
}

/// Waits until all code that runs with preemption off now has finished. Callbacks of hooks do. May
/// sleep, and must not be called with the hotplug lock held.
pub fn synchronize() {
    // SAFETY: No preconditions in task context, where sleeping is allowed.
    unsafe { ktrace_synchronize() }
}

/// Waits until every task that was executing kernel code, and may have been preempted there, has
/// given up its CPU voluntarily or returned to user space. May sleep, for tens of milliseconds.
pub fn synchronize_tasks() {
    // SAFETY: No preconditions in task context, where sleeping is allowed.
    unsafe { bindings::synchronize_rcu_tasks() }
}
