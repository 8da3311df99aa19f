// SPDX-License-Identifier: GPL-2.0

//! How long each CPU handles interrupts and softirqs, which is no time of the task below them.
//!
//! Of nested interrupts, the outermost one counts. A softirq that a task runs on its own CPU, or
//! that runs when an interrupt ends, counts; one in `ksoftirqd` does not, nor any on `PREEMPT_RT`,
//! because there it is what a task does.
//!
//! C headers: `include/trace/events/irq.h`, `arch/x86/include/asm/trace/irq_vectors.h`,
//! `include/linux/jump_label.h`.

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use crate::ktrace::private::symbols::Resolved;

/// `struct ktrace_irq_time_key` in `irq_time.c`.
#[repr(C)]
struct Key {
    key: bindings::static_key_false,
}

extern "C" {
    static ktrace_irq_time_on: Key;

    fn ktrace_watch_irq_time() -> c_int;
    fn ktrace_unwatch_irq_time();
    fn ktrace_irq_time_here() -> u64;
    fn ktrace_irq_time_of_last_run() -> u64;
    fn ktrace_irq_time_is_in_irq() -> bool;
}

/// The probes, which are attached while this value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The probes are attached until drop.
pub struct IrqTimeWatch(());

impl IrqTimeWatch {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoints; `EEXIST` if the probes are attached;
    /// `ENOMEM`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probes are static; the kernel refuses to attach them twice.
        to_result(unsafe { ktrace_watch_irq_time() })?;
        // INVARIANT: The probes were attached above.
        Ok(Self(()))
    }
}

impl Drop for IrqTimeWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probes are attached. When this returns, none runs.
        unsafe { ktrace_unwatch_irq_time() }
    }
}

/// Returns whether there is an [`IrqTimeWatch`]. If not, this is a no-op instruction. Any context.
#[inline(always)]
pub fn is_measured() -> bool {
    // SAFETY: `key` is a static key, which C defines.
    unsafe { kernel::jump_label::static_branch_unlikely!(ktrace_irq_time_on, Key, key) }
}

/// Returns how long this CPU has handled interrupts since its latest context switch, in ns. It does
/// not change while an interrupt is handled. Any context; preemption must be off.
#[inline]
pub fn here_ns() -> u64 {
    // SAFETY: Only reads per-CPU variables; preemption is off.
    unsafe { ktrace_irq_time_here() }
}

/// Returns whether this CPU handles an interrupt whose time counts. Any context; preemption must be
/// off.
#[inline]
pub fn is_in_irq() -> bool {
    // SAFETY: Only reads a per-CPU variable; preemption is off.
    unsafe { ktrace_irq_time_is_in_irq() }
}

/// Returns how long this CPU has handled interrupts between its two latest context switches, in ns.
/// During [`SchedHooks::switch`](super::sched::SchedHooks::switch), that is the time on top of the
/// task that leaves the CPU. Preemption must be off.
#[inline]
pub fn last_run_ns() -> u64 {
    // SAFETY: Only reads a per-CPU variable; preemption is off.
    unsafe { ktrace_irq_time_of_last_run() }
}
