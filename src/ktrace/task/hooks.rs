// SPDX-License-Identifier: GPL-2.0

//! The callbacks for events in the life of tasks, and access to the type that implements them.

use super::{
    comm::Comm,
    task_ref::Task, //
};
use crate::ktrace::sync::{
    atomic::AtomicPtr,
    read_once::ReadOnce, //
};

/// Callbacks for events in the life of tasks.
///
/// All are called while `&self` is alive, and until
/// [`TaskRegistration`](super::registration::TaskRegistration) is dropped. Only
/// [`TaskHooks::reclaim`] may sleep, or allocate with other flags than `GFP_ATOMIC`.
pub trait TaskHooks: Send + Sync + Sized + 'static {
    /// Returns the bits of the trace mask for a task that is not an idle task. May be called with
    /// locks of the scheduler held and interrupts off.
    fn mask(&self, pid: i32) -> u32;

    /// Returns the bits of the trace mask for the idle task of `cpu`.
    fn idle_mask(&self, cpu: u32) -> u32;

    /// Called when `parent` has created `child`, which is about to be woken for the first time and
    /// may already be visible to [`for_each`](super::all_tasks::for_each). Task context.
    fn new_task(&self, parent: Task<'_>, child: Task<'_>);

    /// Called before the comm of `task` changes to `comm`. Task context, of `task` or of another
    /// task.
    fn renamed(&self, task: Task<'_>, comm: Comm);

    /// Called after the comm of `task` has changed, while there is a
    /// [`NameWatch`](super::name_watch::NameWatch). Task context, of `task` or of another task.
    fn name_written(&self, task: Task<'_>);

    /// Called before the current task, `task`, executes a program. If it does not have the ID of
    /// its process, it is about to take it over. The task may also be killed instead. Task context.
    fn prepare_exec(&self, task: Task<'_>);

    /// Called after the current task, `task`, has executed a program. Its ID was `old_pid` before
    /// and may have changed. Task context.
    fn executed(&self, task: Task<'_>, old_pid: i32);

    /// Called after `task` has moved to another cgroup of the unified hierarchy, while there is a
    /// [`CgroupWatch`](super::cgroups::CgroupWatch). Task context, of any task, with interrupts
    /// off.
    fn moved(&self, task: Task<'_>);

    /// Called when `task` will never run again and is about to be freed. In an RCU callback, which
    /// is a softirq on most kernels.
    fn freed(&self, task: Task<'_>);

    /// Called by a worker after [`reclaim_later`](super::registration::reclaim_later), once at a
    /// time. May sleep.
    fn reclaim(&self) {}
}

/// Access for the probes to the only registration of a type; implemented by
/// [`bind_task_hooks!`](crate::bind_task_hooks).
///
/// # Safety
///
/// `state()` must always return the same static, and only
/// [`TaskRegistration`](super::registration::TaskRegistration) may write it.
pub unsafe trait BoundTaskHooks: TaskHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

/// Calls `call` with the registered hooks, if there are any. Only for probes and for the worker
/// of the registration.
#[doc(hidden)]
pub fn with_hooks<T: BoundTaskHooks>(call: impl FnOnce(&T)) {
    // SAFETY: The pointer is null or points to live hooks: callers are probes or the worker, and
    // both have finished before `free()` drops the hooks.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}
