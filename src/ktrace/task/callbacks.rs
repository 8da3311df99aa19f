// SPDX-License-Identifier: GPL-2.0

//! The callbacks of the probes in `task.c`, with which C calls
//! [`TaskHooks`](super::hooks::TaskHooks).

use core::marker::PhantomData;

use kernel::{
    bindings::task_struct,
    prelude::*, //
};

use super::{
    comm::Comm,
    hooks::{
        with_hooks,
        BoundTaskHooks, //
    },
    task_ref::Task, //
};
use crate::ktrace::private::callbacks::ktrace_task_callbacks;

/// The callbacks for a type of hooks.
pub(super) struct TaskCallbacks<T>(PhantomData<T>);

impl<T: BoundTaskHooks> TaskCallbacks<T> {
    pub(super) const TABLE: &'static ktrace_task_callbacks = &ktrace_task_callbacks {
        new_task: Some(new_task::<T>),
        rename: Some(rename::<T>),
        name_written: Some(name_written::<T>),
        prepare_exec: Some(prepare_exec::<T>),
        exec: Some(exec::<T>),
        moved: Some(moved::<T>),
        free: Some(free::<T>),
        reclaim: Some(reclaim::<T>),
    };
}

/// # Safety
///
/// Only for `task.c`: both tasks must be alive until this returns.
unsafe extern "C" fn new_task<T: BoundTaskHooks>(
    parent: *mut task_struct,
    child: *mut task_struct,
) {
    // SAFETY: The caller guarantees that both tasks are alive.
    let (parent, child) = unsafe { (Task::from_raw(parent), Task::from_raw(child)) };
    with_hooks(|hooks: &T| hooks.new_task(parent, child));
}

/// # Safety
///
/// Only for `task.c`: `task` must be alive until this returns, and `comm` must be a C string.
unsafe extern "C" fn rename<T: BoundTaskHooks>(task: *mut task_struct, comm: *const c_char) {
    // SAFETY: The caller guarantees that the task is alive and that `comm` is a C string.
    let (task, comm) = unsafe { (Task::from_raw(task), Comm::from_char_ptr(comm)) };
    with_hooks(|hooks: &T| hooks.renamed(task, comm));
}

/// # Safety
///
/// Only for `name_watch.c`: `task` must be alive until this returns.
unsafe extern "C" fn name_written<T: BoundTaskHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.name_written(task));
}

/// # Safety
///
/// Only for `task.c`: `task` must be alive until this returns.
unsafe extern "C" fn prepare_exec<T: BoundTaskHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.prepare_exec(task));
}

/// # Safety
///
/// Only for `task.c`: `task` must be alive until this returns.
unsafe extern "C" fn exec<T: BoundTaskHooks>(task: *mut task_struct, old_pid: i32) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.executed(task, old_pid));
}

/// # Safety
///
/// Only for `cgroups.c`: `task` must be alive until this returns.
unsafe extern "C" fn moved<T: BoundTaskHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.moved(task));
}

/// # Safety
///
/// Only for `task.c`: `task` must be alive until this returns.
unsafe extern "C" fn free<T: BoundTaskHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.freed(task));
}

extern "C" fn reclaim<T: BoundTaskHooks>() {
    with_hooks(T::reclaim);
}
