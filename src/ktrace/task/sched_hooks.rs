// SPDX-License-Identifier: GPL-2.0

//! The callbacks for the scheduler's tracepoints, and access to the type that implements them.

use super::{
    Comm,
    Task, //
};
use crate::ktrace::sync::{
    atomic::AtomicPtr,
    read_once::ReadOnce, //
};

/// The task that leaves the CPU in a context switch.
#[derive(Clone, Copy)]
pub struct Leaving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// The state in which the task leaves the CPU, a value of
    /// [`STATE_NAMES`](super::sched_state::STATE_NAMES).
    pub state: u32,
    /// Whether the task is followed ([`super::follow`]).
    pub followed: bool,
}

/// The task that gets the CPU in a context switch.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// Whether the task is followed ([`super::follow`]).
    pub followed: bool,
}

/// Callbacks for the scheduler's tracepoints.
///
/// All are called while `&self` is alive, and until
/// [`SchedRegistration`](super::sched::SchedRegistration) is dropped. None may sleep, except
/// [`SchedHooks::reclaim`]. Times are those of [`now_ns`](super::sched::now_ns).
pub trait SchedHooks: Send + Sync + Sized + 'static {
    /// Called when the CPU switches from `prev` to `next`, if at least one of them is followed
    /// ([`super::follow`]). The probe of a
    /// [`TaskRegistration`](super::registration::TaskRegistration) makes this call, so there must
    /// be one. The run queue's lock is held and interrupts are off; must not allocate.
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64);

    /// Called when the current task, or an interrupt on top of it, starts to wake `task`. `context`
    /// is 0 for the current task itself, 1 for a softirq, 2 for a hardirq and 3 for an NMI. The
    /// lock of `task` is held and interrupts are off, unless the task wakes itself.
    fn waking(&self, task: Task<'_>, context: u32);

    /// Called when `task` has become runnable on `cpu`; `is_new` is true if it is the first time.
    /// The run queue's lock is held and interrupts are off, unless the task wakes itself.
    fn wakeup(&self, task: Task<'_>, cpu: u32, is_new: bool, now_ns: u64);

    /// Called when `task`, which is not running, is moved to another CPU. The lock of the task or
    /// of its run queue is held and interrupts are off.
    fn migrate(&self, task: Task<'_>, from: u32, to: u32);

    /// Called when `parent`, the current task, has created `child`, which has not been woken yet.
    fn fork(&self, parent: Task<'_>, child: Task<'_>);

    /// Called before the current task, `task`, executes a program. It still has its old comm.
    fn prepare_exec(&self, task: Task<'_>);

    /// Called after the current task, `task`, has executed a program; its ID was `old_pid` before.
    /// Preemption is off.
    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]);

    /// Called before the trace mask's bits for `task` may change: at an `execve()` or a rename,
    /// before [`TaskHooks`](super::hooks::TaskHooks) and then [`SchedHooks::exec`] or
    /// [`SchedHooks::rename`] are called, and by [`changes`](super::sched::changes).
    fn changes(&self, task: Task<'_>);

    /// Called before the comm of `task` changes to `comm`.
    fn rename(&self, task: Task<'_>, comm: Comm);

    /// Called when the current task, `task`, exits; `group_dead` is true if it is the last one of
    /// its process. Preemption is off.
    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64);

    /// Called by a worker after [`reclaim_later`](super::sched::reclaim_later), once at a time. May
    /// sleep.
    fn reclaim(&self) {}
}

/// Access for the probes to the only registration of a type; implemented by
/// [`bind_sched_hooks!`](crate::bind_sched_hooks).
///
/// # Safety
///
/// `state()` must always return the same static, and only
/// [`SchedRegistration`](super::sched::SchedRegistration) may write it.
pub unsafe trait BoundSchedHooks: SchedHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

/// Calls `call` with the registered hooks, if there are any. Only for probes and for the worker
/// of the registration.
#[doc(hidden)]
#[inline]
pub fn with_hooks<T: BoundSchedHooks>(call: impl FnOnce(&T)) {
    // SAFETY: The pointer is null or points to live hooks: callers are probes or the worker, and
    // both have finished before `free()` drops the hooks.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}
