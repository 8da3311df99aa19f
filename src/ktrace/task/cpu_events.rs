// SPDX-License-Identifier: GPL-2.0

//! Evidence that interrupts or preemption were on between two moments of a CPU: context switches,
//! interrupts, and entries to the kernel.
//!
//! C headers: `include/trace/events/sched.h` (`sched_switch`), `include/linux/kernel_stat.h`,
//! `include/linux/instrumentation.h`.

use kernel::{
    error::to_result,
    prelude::*, //
};

use crate::ktrace::{
    private::symbols::{
        Data,
        Resolved, //
    },
    sync::published::PreemptionOff,
};

extern "C" {
    fn ktrace_watch_switches() -> c_int;
    fn ktrace_unwatch_switches();
    fn ktrace_switches_here() -> u32;
    fn ktrace_irqs_handled() -> u64;
}

/// The probe that counts context switches, which is attached while this value exists. There can be
/// one such value at a time.
///
/// # Invariants
///
/// The probe is attached until drop.
pub struct SwitchWatch(());

impl SwitchWatch {
    /// Attaches the probe. May sleep.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoint; `EEXIST` if the probe is attached;
    /// `ENOMEM`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probe is static; the kernel refuses to attach it twice.
        to_result(unsafe { ktrace_watch_switches() })?;
        // INVARIANT: The probe was attached above.
        Ok(Self(()))
    }
}

impl Drop for SwitchWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probe is attached. When this returns, it does not run.
        unsafe { ktrace_unwatch_switches() }
    }
}

/// Returns the number of context switches of this CPU, modulo 2^32, without one that is not yet
/// complete. It does not change without a [`SwitchWatch`]. Any context.
#[inline]
pub fn switches(_: PreemptionOff<'_>) -> u32 {
    // SAFETY: The argument shows that preemption is off.
    unsafe { ktrace_switches_here() }
}

/// Returns a number that changes with each timer interrupt and each device interrupt that this CPU
/// handles. Any context.
#[inline]
pub fn irqs_handled(_: PreemptionOff<'_>) -> u64 {
    // SAFETY: The argument shows that preemption is off.
    unsafe { ktrace_irqs_handled() }
}

/// Returns whether `address` is in code that enters the kernel, from user space or by an interrupt
/// or exception, or leaves it (`noinstr`): such code cannot be traced, but calls functions that
/// can.
#[inline]
pub fn is_entry_code(address: usize) -> bool {
    (Data::NoinstrTextStart.address()..Data::NoinstrTextEnd.address()).contains(&address)
}
