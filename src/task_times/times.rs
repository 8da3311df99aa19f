// SPDX-License-Identifier: GPL-2.0

//! The accounting state of one task: its current state and the sums of its times.

use super::{
    clock_times::{
        ClockAdjusted,
        StateKind, //
    },
    transition::StateTracker,
    types::{
        Totals,
        Waker, //
    },
};
use crate::{
    atomic_comm::AtomicComm,
    relaxed_u64::RelaxedU64, //
};

/// [`TaskTimes::tag`] of an unused entry.
pub(crate) const UNUSED: u64 = 0;

/// [`TaskTimes::tag`] of an entry whose task has changed its id. It matches no task: tags of tasks
/// have 32 bits.
pub(crate) const VACATED: u64 = u64::MAX;

/// [`TaskTimes::asleep`] of a task that is not blocked.
pub(crate) const AWAKE: u64 = u64::MAX;

/// A [`Waker`], stored in words that other contexts may read while it changes.
#[derive(Default)]
pub(crate) struct StoredWaker {
    /// The id in bits 0 to 31, the context in bits 32 to 39, the interrupt in bits 40 to 55.
    pid_context: RelaxedU64,
    comm: AtomicComm,
}

impl StoredWaker {
    pub(crate) fn set(&self, waker: &Waker) {
        let pid = u64::from(waker.pid as u32);
        let bits = pid | u64::from(waker.context) << 32 | u64::from(waker.irq) << 40;
        self.pid_context.set(bits);
        self.comm.set(waker.comm);
    }

    pub(crate) fn get(&self) -> Waker {
        let bits = self.pid_context.get();
        Waker {
            comm: self.comm.get(),
            pid: bits as i32,
            context: (bits >> 32) as u8,
            irq: (bits >> 40) as u16,
        }
    }
}

/// The accounting state of a task.
#[derive(Default)]
pub(crate) struct TaskTimes {
    pub(crate) tag: RelaxedU64,
    pub(crate) current: StateTracker,
    /// The state in which the task is or was last blocked, and the function that blocked, if it was
    /// looked up.
    pub(crate) state: RelaxedU64,
    pub(crate) caller: RelaxedU64,
    pub(crate) waker: StoredWaker,
    /// The state in which the task was found blocked when it was about to be woken, or [`AWAKE`].
    /// Used if it was not observed when the task left its CPU.
    pub(crate) asleep: RelaxedU64,
    /// The task's mask before its last rename, `execve()` or other filter update, and when it was
    /// last blocked.
    pub(crate) old_mask: RelaxedU64,
    pub(crate) blocked_mask: RelaxedU64,
    /// The waker that ended the most recent blocked interval.
    pub(crate) unblocker: StoredWaker,
    /// The task's name before it executed a program.
    pub(crate) old_comm: AtomicComm,
    pub(crate) run_ns: RelaxedU64,
    /// The time of interrupts on top of the task, up to its latest switch; the task may have none
    /// because it was not measured.
    pub(crate) irq_ns: RelaxedU64,
    pub(crate) wait_ns: RelaxedU64,
    pub(crate) block_ns: RelaxedU64,
    pub(crate) reported: ClockAdjusted,
    /// The id with which the task may be about to exchange its own: for a thread that executes a
    /// program, the id of its process leader; for the leader, the id of that thread.
    pub(crate) partner: RelaxedU64,
}

impl TaskTimes {
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            run_ns: self.run_ns.get(),
            wait_ns: self.wait_ns.get(),
            block_ns: self.block_ns.get(),
        }
    }

    /// Resets the state for a new task, which is accounted since `from_ns`
    /// ([`StateTracker::follow_from`]).
    pub(crate) fn open(&self, tag: u32, from_ns: u64) {
        self.current.reset(from_ns);
        self.state.set(0);
        self.caller.set(0);
        self.waker.set(&Waker::default());
        self.asleep.set(AWAKE);
        self.old_mask.set(0);
        self.blocked_mask.set(0);
        self.unblocker.set(&Waker::default());
        self.run_ns.set(0);
        self.irq_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
        self.reported.open();
        self.tag.set(u64::from(tag));
    }

    /// Copies the state of another task.
    pub(crate) fn inherit(&self, from: &Self) {
        self.current.inherit(&from.current);
        self.state.set(from.state.get());
        self.caller.set(from.caller.get());
        self.waker.set(&from.waker.get());
        self.asleep.set(from.asleep.get());
        self.old_mask.set(from.old_mask.get());
        self.blocked_mask.set(from.blocked_mask.get());
        self.unblocker.set(&from.unblocker.get());
        self.old_comm.set(from.old_comm.get());
        self.run_ns.set(from.run_ns.get());
        self.irq_ns.set(from.irq_ns.get());
        self.wait_ns.set(from.wait_ns.get());
        self.block_ns.set(from.block_ns.get());
        self.reported.inherit(&from.reported);
    }

    pub(crate) fn sum(&self, kind: StateKind) -> &RelaxedU64 {
        match kind {
            StateKind::Run => &self.run_ns,
            StateKind::Wait => &self.wait_ns,
            StateKind::Block => &self.block_ns,
        }
    }
}
