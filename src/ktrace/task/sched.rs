// SPDX-License-Identifier: GPL-2.0

//! Hooks on the scheduler's tracepoints: the state transitions of every task.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`SchedHooks`] and is passed to
//! [`bind_sched_hooks!`](crate::bind_sched_hooks); a [`SchedRegistration`] of it attaches probes.
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
    sched_callbacks::SchedCallbacks,
    Task, //
};
use crate::ktrace::private::{
    callbacks::ktrace_sched_callbacks,
    cstr_ext::CStrExt,
    symbols::Resolved, //
};

pub use super::sched_hooks::{
    with_hooks,
    Arriving,
    BoundSchedHooks,
    Leaving,
    SchedHooks, //
};

/// Returns the time of the scheduler's clock, in ns. Any context.
#[inline]
pub fn now_ns() -> u64 {
    // SAFETY: The function only reads a clock.
    unsafe { ktrace_sched_now() }
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_find_sched_probes() -> *const c_char;
    fn ktrace_attach_sched_probes(callbacks: *const ktrace_sched_callbacks) -> c_int;
    fn ktrace_detach_sched_probes();
    fn ktrace_sched_reclaim_later();
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
pub struct SchedRegistration<T: BoundSchedHooks> {
    hooks: *mut T,
}

// SAFETY: This owns a `T`, which is `Send`.
unsafe impl<T: BoundSchedHooks> Send for SchedRegistration<T> {}
// SAFETY: This only gives out shared references to a `T`, which is `Sync`.
unsafe impl<T: BoundSchedHooks> Sync for SchedRegistration<T> {}

impl<T: BoundSchedHooks> SchedRegistration<T> {
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
            // SAFETY: The pointer is from `into_raw()` above, and not published.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // SAFETY: `Resolved` shows that the tracepoints were found. Either all probes are attached
        // or none.
        let attached = to_result(unsafe { ktrace_attach_sched_probes(SchedCallbacks::<T>::TABLE) });
        if let Err(error) = attached {
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
        // SAFETY: The pointer is from `into_raw()`; the pointer is cleared, and all its users have
        // finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: BoundSchedHooks> Deref for SchedRegistration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the hooks are alive until drop; they are only shared.
        unsafe { &*self.hooks }
    }
}

impl<T: BoundSchedHooks> Drop for SchedRegistration<T> {
    fn drop(&mut self) {
        // SAFETY: `new()` attached the probes. Detaching waits until no probe runs, which `free()`
        // requires.
        unsafe {
            ktrace_detach_sched_probes();
            Self::free(self.hooks);
        }
    }
}

/// Makes a worker call [`SchedHooks::reclaim`] soon, at least once for any number of calls of this
/// function. Any context except NMI, while there is a [`SchedRegistration`].
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
