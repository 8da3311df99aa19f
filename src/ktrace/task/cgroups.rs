// SPDX-License-Identifier: GPL-2.0

//! The cgroups of tasks in the unified hierarchy (version 2), and notification when a task moves to
//! another one.
//!
//! C headers: `include/linux/cgroup.h`, `include/trace/events/cgroup.h`.

use core::{
    ffi::CStr,
    marker::PhantomData,
    ptr::NonNull, //
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::rcu, //
};

use super::{
    callbacks::TaskCallbacks,
    hooks::BoundTaskHooks,
    registration::TaskRegistration,
    task_ref::Task, //
};
use crate::ktrace::private::{
    callbacks::ktrace_task_callbacks,
    cstr_ext::CStrExt, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_task_cgroup(task: *mut bindings::task_struct) -> *mut c_void;
    fn ktrace_cgroup_id(cgroup: *mut c_void, up: c_uint) -> u64;
    fn ktrace_cgroup_root_id() -> u64;
    fn ktrace_cgroup_find(path: *const c_char) -> u64;
    fn ktrace_cgroup_path(id: u64, path: *mut c_char, size: usize) -> c_int;
    fn ktrace_watch_cgroups(callbacks: *const ktrace_task_callbacks) -> c_int;
    fn ktrace_unwatch_cgroups(callbacks: *const ktrace_task_callbacks);
}

/// A cgroup that is not freed during `'a`. Two values are equal if they are the same cgroup.
///
/// # Invariants
///
/// The pointer is to a `struct cgroup` that is not freed during `'a`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cgroup<'a>(NonNull<c_void>, PhantomData<&'a ()>);

impl<'a> Cgroup<'a> {
    /// Returns the cgroup of a task; `None` if the kernel has no cgroups. The task may move to
    /// another cgroup concurrently. Any context.
    pub fn of(task: Task<'_>, _: &'a rcu::Guard) -> Option<Self> {
        // SAFETY: By the invariant of `Task`, the task is alive, and the argument shows that this
        // is an RCU read-side section.
        let cgroup = unsafe { ktrace_task_cgroup(task.as_ptr()) };
        // INVARIANT: The set of cgroups of a living task refers to its cgroup. After a move, both
        // are freed after a grace period (`css_set` by `kfree_rcu()`, the cgroup by an `rcu_work`).
        NonNull::new(cgroup).map(|cgroup| Self(cgroup, PhantomData))
    }

    /// Returns the id of this cgroup, and of each one above it, up to the root. Any context.
    pub fn ids(self) -> impl Iterator<Item = u64> + 'a {
        (0..)
            // SAFETY: By the type invariant, the cgroup is alive, and it refers to those above it.
            .map(move |up| unsafe { ktrace_cgroup_id(self.0.as_ptr(), up) })
            .take_while(|id| *id != 0)
    }
}

/// Returns the id of the root; 0 if the kernel has no cgroups. Any context.
pub fn root_id() -> u64 {
    // SAFETY: This only reads the root, which always exists.
    unsafe { ktrace_cgroup_root_id() }
}

/// Returns the id of the cgroup with this path, which is relative to the root of the current task's
/// cgroup namespace. May sleep.
pub fn find(path: &CStr) -> Option<u64> {
    // SAFETY: The path is a C string. Sleeping is allowed here.
    let id = unsafe { ktrace_cgroup_find(path.as_chars()) };
    (id != 0).then_some(id)
}

/// Writes the path of the cgroup with this id to `buffer`, relative to the root of the current
/// task's cgroup namespace. Returns `None` if there is no such cgroup in this namespace, or the
/// path is too long. May sleep; takes `cgroup_mutex`.
pub fn path(id: u64, buffer: &mut [u8]) -> Option<&[u8]> {
    // SAFETY: The pointer and the size are those of `buffer`. Sleeping is allowed here.
    let len = unsafe { ktrace_cgroup_path(id, buffer.as_mut_ptr().cast(), buffer.len()) };
    buffer.get(..usize::try_from(len).ok()?)
}

/// A probe that calls [`TaskHooks::moved`](super::hooks::TaskHooks::moved) while this value exists.
/// There can be one such value at a time.
///
/// # Invariants
///
/// The probe is attached with `callbacks` until drop.
pub struct CgroupWatch {
    callbacks: &'static ktrace_task_callbacks,
}

impl CgroupWatch {
    /// Attaches the probe. May sleep. `_hooks` must be kept until this value is dropped: without
    /// them, the probe does nothing.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoint; `EEXIST` if the probe is attached;
    /// `ENOMEM`.
    pub fn new<T: BoundTaskHooks>(_hooks: &TaskRegistration<T>) -> Result<Self> {
        let callbacks = TaskCallbacks::<T>::TABLE;
        // SAFETY: May sleep. The table of callbacks is a constant. The probe is static; the kernel
        // refuses to attach it twice.
        to_result(unsafe { ktrace_watch_cgroups(callbacks) })?;
        // INVARIANT: The probe was attached above.
        Ok(Self { callbacks })
    }
}

impl Drop for CgroupWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probe is attached. When this returns, it does not run.
        unsafe { ktrace_unwatch_cgroups(self.callbacks) }
    }
}
