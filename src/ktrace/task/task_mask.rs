// SPDX-License-Identifier: GPL-2.0

//! The trace mask for one task: its bits, and the probe on a context switch that writes them.

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    follow,
    hooks::BoundTaskHooks,
    task_ref::Task,
    trace_mask, //
};
use crate::ktrace::sync::read_once::ReadOnce;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_mask_refresh_of(task: *mut bindings::task_struct);
    fn ktrace_on_switch(
        preempt: bool,
        prev: *mut bindings::task_struct,
        next: *mut bindings::task_struct,
        prev_state: c_uint,
        prev_bits: u32,
        next_bits: u32,
    );
}

/// Returns the bits of the trace mask for `task`, whether it runs or not. Callers must be probes,
/// have preemption off, or be called by [`for_each`](super::all_tasks::for_each).
#[inline]
pub fn mask_of<T: BoundTaskHooks>(task: Task<'_>) -> u32 {
    mask_of_next::<T>(task.pid(), || task.cpu())
}

/// Handles a context switch from `prev` to `next`: writes the trace mask of this CPU, and calls
/// [`SchedHooks::switch`](super::sched::SchedHooks::switch) if one of the tasks is followed.
///
/// # Safety
///
/// Only for the probe on `sched_switch`: both tasks must be alive until this returns, and
/// interrupts must be off. `mask` must be the trace mask of this CPU: two words, the mask and its
/// bits that are valid for both tasks.
#[doc(hidden)]
#[inline]
pub unsafe fn switched<T: BoundTaskHooks>(
    mask: *mut u32,
    preempt: bool,
    prev: *mut bindings::task_struct,
    next: *mut bindings::task_struct,
    prev_state: c_uint,
) {
    // SAFETY: The caller guarantees that `next` is alive.
    let next_bits = mask_of::<T>(unsafe { Task::from_raw(next) });
    // SAFETY: The caller guarantees that `mask` points to this CPU's two words; each is written as
    // a whole, because an NMI may read them. Between the two writes, `prev` still runs, and the old
    // second word is valid for it.
    let prev_bits = unsafe {
        let prev_bits = mask.read_volatile();
        mask.write_volatile(next_bits);
        mask.add(1).write_volatile(next_bits & prev_bits);
        prev_bits
    };
    if follow::follows(prev_bits | next_bits) {
        // SAFETY: The caller guarantees that both tasks are alive and interrupts are off.
        unsafe { ktrace_on_switch(preempt, prev, next, prev_state, prev_bits, next_bits) }
    }
}

/// Returns the trace mask for a task that a CPU is about to run, from its thread id: the bits of
/// the trace arrays that trace it. `cpu` returns the number of the CPU, which is needed for idle
/// tasks. Only for probes, or with preemption off.
#[doc(hidden)]
#[inline]
pub fn mask_of_next<T: BoundTaskHooks>(pid: i32, cpu: impl FnOnce() -> u32) -> u32 {
    let always = trace_mask::always();
    let hooks = T::state().read_once();
    // SAFETY: The pointer is null or points to live hooks: callers are probes or have preemption
    // off, and `free()` waits for both after it has cleared the pointer.
    match unsafe { hooks.as_ref() } {
        None => always,
        Some(hooks) if pid == 0 => always | hooks.idle_mask(cpu()),
        Some(hooks) => always | hooks.mask(pid),
    }
}

/// Makes the CPU that runs `task`, or ran it last, recompute its trace mask after the bits of the
/// task have changed. Does not wait. Any context except NMI.
pub fn refresh_trace_mask(task: Task<'_>) {
    // SAFETY: By the invariant of `Task`, the task is alive. The function sends at most one
    // function call.
    unsafe { ktrace_mask_refresh_of(task.as_ptr()) }
}
