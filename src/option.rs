// SPDX-License-Identifier: GPL-2.0

//! Options of the tracer, as bits of its flags.

use core::ffi::CStr;

macro_rules! options {
    ($($(#[$meta:meta])* $name:ident = $text:literal, $default:literal;)*) => {
        options! { @bits 0; $($(#[$meta])* $name;)* }

        /// Names of the options below `options/`, in the order of their bits.
        pub(crate) const NAMES: &[&CStr] = &[$($text),*];

        /// Options that are on by default.
        pub(crate) const DEFAULT: u32 = $(($name * $default))|*;
    };
    (@bits $bit:expr;) => {};
    (@bits $bit:expr; $(#[$meta:meta])* $name:ident; $($rest:tt)*) => {
        $(#[$meta])*
        pub(crate) const $name: u32 = 1 << $bit;
        options! { @bits $bit + 1; $($rest)* }
    };
}

options! {
    /// Records the arguments of each call.
    ARGS = c"ferro-args", 0;
    /// Records a stack trace with each call, if only entries are recorded.
    STACKTRACE = c"ferro-stacktrace", 0;
    /// Records calls and returns instead of entries alone.
    GRAPH = c"ferro-graph", 1;
    /// Records the run, wait and block times of calls that lost the CPU.
    TIMES = c"ferro-offcpu", 1;
    /// Adds up the times of functions and tasks in `ferrotrace/profile`, without recording
    /// calls.
    PROFILE = c"ferro-profile", 0;
    /// Records the return values of functions.
    RETVAL = c"ferro-retval", 0;
    /// Shows return values in hexadecimal.
    RETVAL_HEX = c"ferro-retval-hex", 0;
    /// Records the return addresses of calls.
    RETADDR = c"ferro-retaddr", 0;
    /// Records calls of hardware interrupts.
    IRQS = c"ferro-irqs", 1;
    /// Shows the CPU column. This and the following options up to `OVERRUN` control the output.
    CPU = c"ferro-cpu", 1;
    OVERHEAD = c"ferro-overhead", 1;
    PROC = c"ferro-proc", 1;
    DURATION = c"ferro-duration", 1;
    ABSTIME = c"ferro-abstime", 0;
    RELTIME = c"ferro-reltime", 0;
    TAIL = c"ferro-tail", 0;
    OVERRUN = c"ferro-overrun", 0;
    /// Records several calls in one ring-buffer record (packed records).
    COMPACT = c"ferro-compact", 0;
    /// Copies what the tasks write to `trace_marker` of the top trace array.
    MARKERS = c"ferro-markers", 0;
    /// With `PROFILE`, adds up the times by path, too.
    PATHS = c"ferro-profile-paths", 0;
    /// Notes the longest stretches with interrupts and with preemption off.
    LATENCY = c"ferro-latency", 0;
    /// Stores the deepest kernel stack of each task.
    MAX_STACK = c"ferro-max-stack", 0;
    /// Measures the time of interrupts on top of the tasks.
    IRQ_TIME = c"ferro-irq-time", 0;
}

/// Options that need to see each call, so that none takes a fast path.
pub(crate) const SEES_CALLS: u32 = LATENCY | MAX_STACK;

/// Options whose data is known only when the call begins and is written with its entry.
pub(crate) const MORE_AT_CALL: u32 = ARGS | RETADDR;
