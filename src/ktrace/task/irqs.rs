// SPDX-License-Identifier: GPL-2.0

//! Which interrupt or softirq each CPU handles, and its name.
//!
//! The kernel reports the interrupts that devices share with handlers. It does not report those
//! that belong to a CPU on x86, such as that of the local timer: they have no name here.
//!
//! C headers: `include/trace/events/irq.h`, `include/linux/interrupt.h`.

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::comm::{
    Comm,
    COMM_LEN, //
};
use crate::ktrace::private::symbols::Resolved;

extern "C" {
    fn ktrace_watch_irqs() -> c_int;
    fn ktrace_unwatch_irqs();
    fn ktrace_irq_now(is_softirq: bool) -> u16;
    fn ktrace_irq_name(code: u16, name: *mut u8) -> bool;
}

/// The names of softirqs, by their numbers (`include/linux/interrupt.h`).
const SOFTIRQS: [&[u8]; 10] = [
    b"HI",
    b"TIMER",
    b"NET_TX",
    b"NET_RX",
    b"BLOCK",
    b"IRQ_POLL",
    b"TASKLET",
    b"SCHED",
    b"HRTIMER",
    b"RCU",
];

/// An interrupt or softirq, or none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Irq(u16);

impl Irq {
    /// Returns what this CPU handles: the softirq, or the interrupt that has interrupted everything
    /// else. None if it is not known, or there is no [`IrqWatch`]. Preemption must be off.
    #[inline]
    pub fn current(is_softirq: bool) -> Self {
        // SAFETY: Only reads a per-CPU variable; preemption is off.
        Self(unsafe { ktrace_irq_now(is_softirq) })
    }

    /// Returns a number that [`Irq::from_code`] takes.
    pub fn code(self) -> u16 {
        self.0
    }

    /// Returns the interrupt with a result of [`Irq::code`].
    pub fn from_code(code: u16) -> Self {
        Self(code)
    }

    /// Returns the name of the softirq, or that of the first handler of the interrupt, cut to 15
    /// bytes; empty if there is none. Any context.
    pub fn name(self) -> Comm {
        let softirq = usize::from(self.0).checked_sub(1);
        if let Some(name) = softirq.and_then(|number| SOFTIRQS.get(number)) {
            return Comm::new(name);
        }
        let mut name = [0; COMM_LEN];
        // SAFETY: The array has room for `TASK_COMM_LEN` bytes.
        match unsafe { ktrace_irq_name(self.0, name.as_mut_ptr()) } {
            true => Comm::new(&name),
            false => Comm::default(),
        }
    }
}

/// The probes, which are attached while this value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The probes are attached until drop.
pub struct IrqWatch(());

impl IrqWatch {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoints; `EEXIST` if the probes are attached;
    /// `ENOMEM`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probes are static; the kernel refuses to attach them twice.
        to_result(unsafe { ktrace_watch_irqs() })?;
        // INVARIANT: The probes were attached above.
        Ok(Self(()))
    }
}

impl Drop for IrqWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probes are attached. When this returns, none runs.
        unsafe { ktrace_unwatch_irqs() }
    }
}
