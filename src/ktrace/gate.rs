// SPDX-License-Identifier: GPL-2.0

//! The gate: which hooks want the task that runs on this CPU.
//!
//! There is one word per CPU, a bit in it for each of up to [`SLOTS`] hooks. The entry function of
//! a hook (`ftrace_ops.c`) tests its own bit first; if that is clear, that is all a traced function pays.
//! The word follows the task: the scheduler's switch writes it anew from what
//! [`super::task::TaskHooks`] says of the next task. Bits that are wanted whoever runs stand in one
//! mask for all CPUs, and need no probe on the scheduler at all.
//!
//! A switch is told some functions before it happens. Beside the word stands which of its bits are sure
//! meanwhile, since both tasks are wanted; for the others it is looked up who is the current task, until
//! it is one that is wanted (`ktrace_gate_look()`).
//!
//! # Ordering
//!
//! A CPU's word is written by that CPU alone, with interrupts off (the switch, and the function
//! call that a refresh sends), or while the CPU is offline, under the hotplug lock. Whoever changes
//! what a word is computed from first publishes the change and then calls [`refresh`], whose
//! function calls order the two.

use kernel::{
    bindings,
    sync::atomic::{
        Atomic,
        Relaxed,
        Release, //
    }, //
};

use super::{
    once::Once,
    task::Task,
    trace_array::{
        Id,
        TraceArray, //
    },
};

/// How many hooks there can be; `KTRACE_NR_SLOTS` in `shim.h`.
pub const SLOTS: u32 = 32;

/// The trace array that a bit belongs to while that has a filter, as a number that is compared and
/// never followed.
static OWNERS: [Atomic<usize>; SLOTS as usize] = [const { Atomic::new(0) }; SLOTS as usize];

/// The bits that have an owner.
static OWNED: Atomic<u32> = Atomic::new(0);

/// Bits that are wanted for every task.
static ALWAYS: Atomic<u32> = Atomic::new(0);

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_gate_refresh();
    fn ktrace_gate_refresh_current();
    fn ktrace_gate_refresh_of(task: *mut bindings::task_struct) -> bool;
}

/// The mask of the hooks that want every task.
#[inline]
pub fn always() -> u32 {
    ALWAYS.read_once()
}

/// Sets the mask of the hooks that want every task. Takes effect with the next [`refresh`].
pub fn set_always(mask: u32) {
    ALWAYS.store(mask, Relaxed);
}

/// Says which trace array's filter a bit stands for. `None` before the bit is used for another.
pub fn set_owner(slot: u32, owner: Option<Id>) {
    let Some(place) = OWNERS.get(slot as usize) else {
        return;
    };
    let owned = OWNED.load(Relaxed) & !(1 << slot);
    match owner {
        Some(tr) => {
            place.store(tr.as_usize(), Relaxed);
            OWNED.store(owned | 1 << slot, Release);
        }
        None => {
            OWNED.store(owned, Release);
            place.store(0, Relaxed);
        }
    }
}

/// Whether a task with these bits ([`super::task::mask_of`]) is wanted in `tr`: by its filter, or
/// because it has none. Any context.
#[inline]
pub fn wants(tr: &TraceArray, mask: u32) -> bool {
    let mut owned = OWNED.read_once();
    while owned != 0 {
        let slot = owned.trailing_zeros();
        let owner = OWNERS.get(slot as usize).map_or(0, Once::read_once);
        if owner == tr.id().as_usize() {
            return mask & 1 << slot != 0;
        }
        owned &= owned.wrapping_sub(1);
    }
    true
}

/// Computes every CPU's word anew and waits until all have done so. May sleep.
pub fn refresh() {
    // SAFETY: Takes the hotplug lock for reading and calls a function on each CPU; in task context
    // and without that lock, as the doc comment says, nothing else is needed.
    unsafe { ktrace_gate_refresh() }
}

/// Computes this CPU's word anew. Any context but NMI.
pub fn refresh_current() {
    // SAFETY: Turns interrupts off around a computation on per-CPU data.
    unsafe { ktrace_gate_refresh_current() }
}

/// Makes the CPU that runs `task`, or ran it last, recompute its word after the mask of the task
/// has changed. Does not wait. Returns false without doing anything in an interrupt or with
/// interrupts off, where no function call can be sent.
pub fn refresh_of(task: Task<'_>) -> bool {
    // SAFETY: The task is alive by the invariant of its type; the function checks the context and
    // sends at most one function call.
    unsafe { ktrace_gate_refresh_of(task.as_ptr()) }
}
