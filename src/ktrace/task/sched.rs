// SPDX-License-Identifier: GPL-2.0

//! Hooks on the scheduler's tracepoints: the state transitions of every task.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`SchedHooks`] and is passed to
//! [`bind_sched_hooks!`](crate::bind_sched_hooks); a [`Registration`] of it attaches probes.
//!
//! # Ordering of calls
//!
//! For one task, a switch away from it, a wakeup and a switch to it are called in this order, one
//! after the other: the scheduler makes a task runnable only after it has completely left its CPU
//! (`p->on_cpu`, see `try_to_wake_up()` in kernel/sched/core.c). All three are called with the lock
//! of a run queue or of the task held, except when a task that has not gone to sleep wakes itself.
//! Only [`SchedHooks::waking`] may be called while the task is still leaving its CPU.

use core::{
    ffi::CStr,
    ops::Deref, //
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::{
        atomic::{
            Full,
            Release, //
        },
        rcu, //
    },
};

use super::{
    Comm,
    Task, //
};
use crate::ktrace::{
    private::{
        cstr_ext::CStrExt,
        symbols::Resolved, //
    },
    sync::{
        atomic::AtomicPtr,
        read_once::ReadOnce, //
    },
};

/// Returns the time of the scheduler's clock, in ns. Any context.
#[inline]
pub fn now_ns() -> u64 {
    // SAFETY: The function only reads a clock.
    unsafe { ktrace_sched_now() }
}

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
/// All are called while `&self` is alive, and until [`Registration`] is dropped. None may sleep,
/// except [`SchedHooks::reclaim`]. Times are those of [`now_ns`].
pub trait SchedHooks: Send + Sync + Sized + 'static {
    /// Called when the CPU switches from `prev` to `next`, if at least one of them is followed
    /// ([`super::follow`]). The probe of a [`Registration`](super::registration::Registration)
    /// makes this call, so there must be one. The run queue's lock is held and interrupts are off;
    /// must not allocate.
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
    /// [`SchedHooks::rename`] are called, and by [`changes`].
    fn changes(&self, task: Task<'_>);

    /// Called before the comm of `task` changes to `comm`.
    fn rename(&self, task: Task<'_>, comm: Comm);

    /// Called when the current task, `task`, exits; `group_dead` is true if it is the last one of
    /// its process. Preemption is off.
    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64);

    /// Called by a worker after [`reclaim_later`], once at a time. May sleep.
    fn reclaim(&self) {}
}

/// Access for the probes to the only registration of a type; implemented by
/// [`bind_sched_hooks!`](crate::bind_sched_hooks).
///
/// # Safety
///
/// `state()` must always return the same static, and only [`Registration`] may write it.
pub unsafe trait Bound: SchedHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_find_sched_probes() -> *const c_char;
    fn ktrace_attach_sched_probes() -> c_int;
    fn ktrace_detach_sched_probes();
    fn ktrace_sched_reclaim_later();
    // Defined by `bind_sched_hooks!`.
    fn ktrace_sched_changes(task: *mut bindings::task_struct);
    fn ktrace_sched_now() -> u64;
}

/// Returns the name of a required tracepoint that this kernel lacks, if any. May sleep.
pub(in crate::ktrace) fn find_probes() -> Option<&'static CStr> {
    // SAFETY: The function only iterates over the kernel's own tracepoints.
    let name = unsafe { ktrace_find_sched_probes() };
    // SAFETY: The pointer is null or points to one of the constant strings in `sched.c`.
    (!name.is_null()).then(|| unsafe { CStr::from_chars(name) })
}

/// Probes on the scheduler's tracepoints, which are attached while this value exists.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct Registration<T: Bound> {
    hooks: *mut T,
}

// SAFETY: This owns a `T`, which is `Send`.
unsafe impl<T: Bound> Send for Registration<T> {}
// SAFETY: This only gives out shared references to a `T`, which is `Sync`.
unsafe impl<T: Bound> Sync for Registration<T> {}

impl<T: Bound> Registration<T> {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise the errors of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: KBox<T>) -> Result<Self> {
        let hooks = KBox::into_raw(hooks);
        if T::state()
            .cmpxchg(core::ptr::null_mut(), hooks, Full)
            .is_err()
        {
            // SAFETY: From `into_raw()` above, and not published.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // SAFETY: `Resolved` shows that the tracepoints were found. Either all probes are attached
        // or none.
        if let Err(error) = to_result(unsafe { ktrace_attach_sched_probes() }) {
            // SAFETY: No probe is attached, and the failed attempt has waited for those that were.
            unsafe { Self::free(hooks) };
            return Err(error);
        }
        // INVARIANT: `cmpxchg` stored it.
        Ok(Self { hooks })
    }

    /// Clears the pointer to the hooks, waits until nothing uses them, and frees them.
    ///
    /// # Safety
    ///
    /// No probe may be attached or running any more, and `hooks` must be the pointer in
    /// `T::state()`.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // A caller of [`changes`] may still use the hooks.
        // SAFETY: Registrations are created and dropped where sleeping is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()`; the pointer is cleared, and all its users have finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: Bound> Deref for Registration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the hooks are alive until drop; they are only shared.
        unsafe { &*self.hooks }
    }
}

impl<T: Bound> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: `new()` attached the probes. Detaching waits until no probe runs, which `free()`
        // requires.
        unsafe {
            ktrace_detach_sched_probes();
            Self::free(self.hooks);
        }
    }
}

#[doc(hidden)]
#[inline]
pub fn with_hooks<T: Bound>(call: impl FnOnce(&T)) {
    // SAFETY: Null or alive: callers are probes or the worker, and both have finished before
    // `free()` drops the hooks.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}

/// Makes a worker call [`SchedHooks::reclaim`] soon, at least once for any number of calls of this
/// function. Any context except NMI, while there is a [`Registration`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_sched_reclaim_later() }
}

/// Calls [`SchedHooks::changes`] if there is a registration. Call this before the trace mask's bits
/// for `task` change for a reason other than an action of the task itself. Any context except NMI.
pub fn changes(task: Task<'_>) {
    let _reader = rcu::read_lock();
    // SAFETY: The task is alive. `free()` waits for RCU readers before the hooks go.
    unsafe { ktrace_sched_changes(task.as_ptr()) }
}

/// Returns the bytes of a C string.
///
/// # Safety
///
/// `string` must be a C string that stays valid during the lifetime that the caller chooses.
#[doc(hidden)]
pub unsafe fn bytes<'a>(string: *const c_char) -> &'a [u8] {
    // SAFETY: The caller guarantees that `string` is a C string that stays valid.
    unsafe { CStr::from_chars(string) }.to_bytes()
}
