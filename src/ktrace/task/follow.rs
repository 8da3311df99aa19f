// SPDX-License-Identifier: GPL-2.0

//! Which tasks are followed: those whose context switches are reported.

extern "C" {
    // Defined in `sched.c`, which reads it in probes.
    static mut ktrace_sched_followed: u64;
}

/// Sets the tasks that are followed, whose context switches are reported: those that have one of
/// `bits` in their trace mask, or all tasks if `everyone` is set. Before the first call, and after
/// a [`super::sched::SchedRegistration`] is dropped, no task is followed. A context switch that is
/// in progress may still use the previous setting. After the next [`super::trace_mask::refresh`],
/// none does, because context switches run with interrupts off.
pub fn follow(bits: u32, everyone: bool) {
    let followed = u64::from(bits) | u64::from(everyone) << u32::BITS;
    // SAFETY: This writes one aligned word, which the C code reads as a whole.
    unsafe { (&raw mut ktrace_sched_followed).write_volatile(followed) }
}

/// Returns whether tasks with these bits in their trace mask are followed. Any context.
#[inline]
pub fn follows(bits: u32) -> bool {
    // SAFETY: This reads one aligned word, which `follow()` writes as a whole.
    let followed = unsafe { (&raw const ktrace_sched_followed).read_volatile() };
    followed & (u64::from(bits) | 1 << u32::BITS) != 0
}

/// Returns whether all tasks are followed.
pub fn follows_everyone() -> bool {
    follows(0)
}
