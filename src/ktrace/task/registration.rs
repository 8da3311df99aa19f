// SPDX-License-Identifier: GPL-2.0

//! The registration of the hooks on the life of tasks, and the requests to the worker that calls
//! some of these hooks.

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::atomic::Release, //
};

use super::{
    callbacks::TaskCallbacks,
    hooks::BoundTaskHooks, //
};
use crate::ktrace::private::{
    callbacks::ktrace_task_callbacks,
    symbols::Resolved, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_attach_task_probes(callbacks: *const ktrace_task_callbacks) -> c_int;
    fn ktrace_detach_task_probes();
    fn ktrace_reclaim_later();
}

/// Probes on the kernel's tracepoints, which are attached while this value exists.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct TaskRegistration<T: BoundTaskHooks> {
    hooks: *mut T,
}

// SAFETY: This owns a `T`, which is `Send`.
unsafe impl<T: BoundTaskHooks> Send for TaskRegistration<T> {}

impl<T: BoundTaskHooks> TaskRegistration<T> {
    /// Attaches the probes. May sleep. From then on, the hooks are called, and
    /// [`TaskHooks::mask`](super::hooks::TaskHooks::mask) determines the trace mask.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise the errors of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: Pin<KBox<T>>) -> Result<Self> {
        // SAFETY: The pinned value is not moved any more: it is only accessed through this pointer
        // until it is dropped in place.
        let hooks = KBox::into_raw(unsafe { Pin::into_inner_unchecked(hooks) });
        let state = T::state();
        if state
            .cmpxchg(core::ptr::null_mut(), hooks, kernel::sync::atomic::Full)
            .is_err()
        {
            // SAFETY: The pointer is from `into_raw()` above, and not published.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // INVARIANT: `cmpxchg` stored it.
        let this = Self { hooks };
        // SAFETY: `Resolved` shows that the tracepoints were found. Sleeping is allowed here. If
        // this fails, no probe is attached.
        let attached = to_result(unsafe { ktrace_attach_task_probes(TaskCallbacks::<T>::TABLE) });
        if let Err(error) = attached {
            this.retire();
            return Err(error);
        }
        Ok(this)
    }

    /// Clears the pointer to the hooks, waits until no CPU uses them, and frees them.
    fn retire(self) {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: The probes are not attached, and `this` is not used any more.
        unsafe { Self::free(this.hooks) }
    }

    /// Clears the pointer to the hooks, waits until no CPU uses them, and frees them.
    ///
    /// # Safety
    ///
    /// The probes must be detached, and `hooks` must be the pointer of a registration that is not
    /// used any more.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // A refresh of the trace mask may still run on another CPU, with interrupts off.
        // SAFETY: Registrations are created and dropped where sleeping is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: The pointer is from `into_raw()` by the type invariant. The caller guarantees
        // that the probes are detached, and CPUs that read the pointer for a refresh before it was
        // cleared have finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: BoundTaskHooks> core::ops::Deref for TaskRegistration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the hooks are alive until drop; they are only shared.
        unsafe { &*self.hooks }
    }
}

impl<T: BoundTaskHooks> Drop for TaskRegistration<T> {
    fn drop(&mut self) {
        // SAFETY: `new()` attached the probes. This waits until no probe and no worker runs.
        unsafe { ktrace_detach_task_probes() };
        // SAFETY: The probes are detached, and this is the end of the registration.
        unsafe { Self::free(self.hooks) }
    }
}

/// Makes a worker call [`TaskHooks::reclaim`](super::hooks::TaskHooks::reclaim) soon, at least once
/// for any number of calls of this function. Any context except NMI, while there is a
/// [`TaskRegistration`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_reclaim_later() }
}
