// SPDX-License-Identifier: GPL-2.0

//! The trace mask: which hooks trace the task that runs on this CPU.
//!
//! There is one mask per CPU, with a bit for each of up to [`SLOTS`] hooks. The entry function of a
//! hook (`ftrace_ops.c`) first tests its own bit; if the bit is clear, it returns at once. The mask
//! follows the task: at each context switch, the probe on `sched_switch` rewrites it with the bits
//! that [`TaskHooks`](super::hooks::TaskHooks) returns for the next task. Bits of hooks that trace
//! every task are kept in one global mask ([`always`]) and need no probe on the scheduler.
//!
//! `sched_switch` fires before `current` changes. The second word next to the mask, `sure`, has the
//! bits that are set for both tasks and are valid in between. For the other bits,
//! `ktrace_mask_check_current()` checks whether `current` is traced, until the switch is complete.
//!
//! # Ordering
//!
//! The mask of a CPU is written only by that CPU, with interrupts off (at a context switch, and in
//! the function call that a refresh sends), or while the CPU is offline, under the hotplug lock.
//! Code that changes what a mask is computed from first publishes the change and then calls
//! [`refresh`], whose function calls order the two.

use kernel::{
    sync::atomic::{
        Atomic,
        Relaxed,
        Release, //
    }, //
};

use crate::ktrace::{
    array::trace_array::{
        Id,
        TraceArray, //
    },
    sync::read_once::ReadOnce, //
};

/// The maximum number of hooks; `KTRACE_NR_SLOTS` in `helpers.h`.
pub const SLOTS: u32 = 32;

/// For each bit, the trace array whose filter it represents, as a number that is only compared and
/// never used as a pointer; 0 if there is none.
static OWNERS: [Atomic<usize>; SLOTS as usize] = [const { Atomic::new(0) }; SLOTS as usize];

/// The mask of bits that have an owner in [`OWNERS`].
static OWNED: Atomic<u32> = Atomic::new(0);

/// The mask of bits that are set for every task.
static ALWAYS: Atomic<u32> = Atomic::new(0);

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_mask_refresh();
    fn ktrace_mask_refresh_current();
}

/// Returns the mask of the hooks that trace every task.
#[inline]
pub fn always() -> u32 {
    ALWAYS.read_once()
}

/// Sets the mask of the hooks that trace every task. Takes effect at the next [`refresh`].
pub fn set_always(mask: u32) {
    ALWAYS.store(mask, Relaxed);
}

/// Sets the trace array whose filter the bit `slot` represents. Call this with `None` before the
/// bit is used for another trace array.
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

/// Returns whether `tr` traces a task that has the bits `mask`
/// ([`mask_of`](super::task_mask::mask_of)): because its filter selects the task, or because it has
/// no filter. Any context.
#[inline]
pub fn wants(tr: &TraceArray, mask: u32) -> bool {
    let mut owned = OWNED.read_once();
    while owned != 0 {
        let slot = owned.trailing_zeros();
        let owner = OWNERS.get(slot as usize).map_or(0, ReadOnce::read_once);
        if owner == tr.id().as_usize() {
            return mask & 1 << slot != 0;
        }
        owned &= owned.wrapping_sub(1);
    }
    true
}

/// Recomputes the trace mask of every CPU and waits until all CPUs have done so. May sleep.
pub fn refresh() {
    // SAFETY: This takes the hotplug lock for reading and calls a function on each CPU. Callers may
    // sleep and do not hold that lock.
    unsafe { ktrace_mask_refresh() }
}

/// Recomputes the trace mask of this CPU. Any context except NMI.
pub fn refresh_current() {
    // SAFETY: This only accesses per-CPU data, with interrupts disabled.
    unsafe { ktrace_mask_refresh_current() }
}
