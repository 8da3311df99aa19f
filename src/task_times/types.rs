// SPDX-License-Identifier: GPL-2.0

//! Times of tasks and calls, as events, records and the accounting share them.

use super::runs::Runner;
use crate::ktrace::task::Comm;

/// The task or interrupt that woke a task. Probes on the events may read it: see `events.c`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Waker {
    /// The task that was running. If `context` is not 0, an interrupt on top of it is the waker,
    /// which need not be related to this task.
    pub(crate) comm: Comm,
    /// The id of that task.
    pub(crate) pid: i32,
    /// 0: that task itself; 1 to 3: a softirq, hardirq or NMI on top of it.
    pub(crate) context: u8,
    /// The interrupt, a result of [`Irq::code`](crate::ktrace::task::irqs::Irq::code), if it is
    /// known.
    pub(crate) irq: u16,
}

/// A blocked interval of a task. Probes on the events may read it: see `events.c`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Block {
    /// The duration in ns.
    pub(crate) ns: u64,
    /// The state in which the task was blocked, a value of
    /// [`STATE_NAMES`](crate::ktrace::task::sched_state::STATE_NAMES).
    pub(crate) state: u32,
}

/// The most recent blocked interval of a task.
#[derive(Clone, Copy, Default)]
pub(crate) struct Blocked {
    /// The state in which the task was blocked, a value of
    /// [`STATE_NAMES`](crate::ktrace::task::sched_state::STATE_NAMES).
    pub(crate) state: u32,
    /// The address in the function that blocked, as in `/proc/PID/wchan`; 0 if unknown.
    pub(crate) caller: usize,
    /// The waker.
    pub(crate) waker: Waker,
}

/// A waker in a chain. Probes on the event may read it: see `events.c`.
#[repr(C)]
pub(crate) struct ChainLink {
    /// The duration of the blocked interval that the chain explains, in ns.
    pub(crate) block_ns: u64,
    /// The waker of the task before it in the chain.
    pub(crate) waker: Waker,
    /// The name of the interrupt or softirq, if this waker is one and it is known.
    pub(crate) irq: Comm,
    /// The place in the chain, from 1 on.
    pub(crate) hop: u8,
    /// Whether it is known if this waker was blocked itself.
    pub(crate) is_known: bool,
    /// The state in which it was blocked; 0 if it was not, or not long.
    pub(crate) state: u32,
    /// For how much of the interval it was blocked, in ns.
    pub(crate) waker_block_ns: u64,
    /// The address in the function in which it was blocked; 0 if unknown.
    pub(crate) caller: usize,
}

/// A task that had the CPU while another one waited for it. Probes on the event may read it: see
/// `events.c`.
#[repr(C)]
pub(crate) struct WaitBehind {
    /// The duration of the wait, in ns.
    pub(crate) wait_ns: u64,
    /// The place in the order of `runner.ns`, from 1 on.
    pub(crate) rank: u8,
    /// Whether all tasks that had the CPU are reported.
    pub(crate) is_complete: bool,
    pub(crate) runner: Runner,
}

/// Work that a worker has executed for a task. Probes on the event may read it: see `events.c`.
#[repr(C)]
pub(crate) struct Work {
    /// The address of its function.
    pub(crate) function: usize,
    /// The name of the task that has queued it.
    pub(crate) comm: Comm,
    /// The id of that task.
    pub(crate) pid: i32,
    /// How long it was queued, in ns.
    pub(crate) queued_ns: u64,
    /// How long the worker ran, waited for a CPU and was blocked while it executed the work, in ns.
    pub(crate) run_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
}

/// The total time of a task off its CPU up to now. The difference of two values is the time in
/// between.
#[derive(Clone, Copy, Default)]
pub(crate) struct OffCpu {
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
}

/// The total times of a task since it was first observed. Probes on the events may read it: see
/// `events.c`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Totals {
    pub(crate) run_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
}

/// The run, wait and block times of a call that lost the CPU or was interrupted.
pub(crate) struct CallTimes {
    pub(crate) func: usize,
    pub(crate) depth: i32,
    pub(crate) run_ns: u64,
    /// The part of `run_ns` that was the time of interrupts; 0 if it was not measured.
    pub(crate) irq_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
    pub(crate) switches: u32,
    pub(crate) blocked: Blocked,
}
