// SPDX-License-Identifier: GPL-2.0

//! The task and the context in which a record is written, and how many arguments of a call it can
//! have.

use kernel::prelude::*;

use crate::ktrace::{
    private::abi,
    task::task_ref::with_current, //
};

extern "C" {
    pub(in crate::ktrace) fn ktrace_context() -> c_uint;
    fn ktrace_enter_level(level: u32) -> bool;
    fn ktrace_leave_level(level: u32);
    pub(in crate::ktrace) fn ktrace_preempt_disable();
    pub(in crate::ktrace) fn ktrace_preempt_enable();
}

/// Maximum number of arguments of a call that can be read: those that are passed in registers
/// (`FTRACE_REGS_MAX_ARGS`).
pub const MAX_ARGS: usize = if cfg!(CONFIG_ARM64) { 8 } else { 6 };

/// The task and the context of a record, which the kernel stores at the beginning of each record.
#[derive(Clone, Copy)]
pub struct Context {
    /// Flags, preemption and migration counts, as the kernel packs them for a record.
    pub(in crate::ktrace) packed: u32,
    /// The current task's PID.
    pub(in crate::ktrace) pid: i32,
}

impl Context {
    /// Creates the context from the packed flags of the kernel (`tracing_gen_ctx()`) and the PID of
    /// the current task.
    #[doc(hidden)]
    #[inline]
    pub fn new(packed: u32, pid: i32) -> Self {
        Self { packed, pid }
    }

    /// Returns whether the record is written in an NMI.
    pub fn is_nmi(&self) -> bool {
        self.has(abi::trace_flag_type_TRACE_FLAG_NMI)
    }

    fn has(&self, flag: u32) -> bool {
        self.packed >> 16 & flag != 0
    }

    /// Returns whether interrupts are off.
    pub fn has_irqs_off(&self) -> bool {
        self.has(abi::trace_flag_type_TRACE_FLAG_IRQS_OFF)
    }

    /// Returns whether softirqs are off.
    pub fn has_softirqs_off(&self) -> bool {
        self.has(abi::trace_flag_type_TRACE_FLAG_BH_OFF)
    }

    /// Returns a number for tasks (0), softirqs, hardirqs and NMIs (3): a higher one interrupts the
    /// lower ones.
    pub fn level(&self) -> u32 {
        if self.is_nmi() {
            3
        } else if self.has(abi::trace_flag_type_TRACE_FLAG_HARDIRQ) {
            2
        } else {
            u32::from(self.has(abi::trace_flag_type_TRACE_FLAG_SOFTIRQ))
        }
    }

    /// Calls `with` with the present context and preemption off. Any context.
    ///
    /// Returns `None`, without the call, within another such call in the same task or interrupt:
    /// the functions that `with` calls may be traced, and lead here again.
    pub fn once<R>(with: impl FnOnce(Self) -> R) -> Option<R> {
        // SAFETY: Enabled again below. With preemption off, all of this is on one CPU, and
        // `ktrace_context()` may be called.
        let (context, is_first) = unsafe {
            ktrace_preempt_disable();
            let context = Self::new(ktrace_context(), with_current(|task| task.pid()));
            (context, ktrace_enter_level(context.level()))
        };
        let result = is_first.then(|| with(context));
        // SAFETY: The level was entered here if this was the first call, and preemption was
        // disabled above.
        unsafe {
            if is_first {
                ktrace_leave_level(context.level());
            }
            ktrace_preempt_enable();
        }
        result
    }
}
