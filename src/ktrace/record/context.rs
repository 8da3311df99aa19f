// SPDX-License-Identifier: GPL-2.0

//! The task and the context in which a record is written, and how many arguments of a call it can
//! have.

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
    #[doc(hidden)]
    #[inline]
    pub fn new(packed: u32, pid: i32) -> Self {
        Self { packed, pid }
    }
}
