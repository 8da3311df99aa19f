// SPDX-License-Identifier: GPL-2.0

//! The callbacks of the probes in `sched.c`, with which C calls
//! [`SchedHooks`](super::sched_hooks::SchedHooks), except for those at
//! switches and wakeups (`sched_bind.rs`).

use core::{
    ffi::CStr,
    marker::PhantomData, //
};

use kernel::{
    bindings::task_struct,
    prelude::*, //
};

use super::{
    sched_hooks::{
        with_hooks,
        BoundSchedHooks, //
    },
    Comm,
    Task, //
};
use crate::ktrace::private::{
    callbacks::ktrace_sched_callbacks,
    cstr_ext::CStrExt, //
};

/// The callbacks for a type of hooks.
pub(super) struct SchedCallbacks<T>(PhantomData<T>);

impl<T: BoundSchedHooks> SchedCallbacks<T> {
    pub(super) const TABLE: &'static ktrace_sched_callbacks = &ktrace_sched_callbacks {
        fork: Some(fork::<T>),
        prepare_exec: Some(prepare_exec::<T>),
        exec: Some(exec::<T>),
        changes: Some(changes::<T>),
        rename: Some(rename::<T>),
        exit: Some(exit::<T>),
        reclaim: Some(reclaim::<T>),
    };
}

/// # Safety
///
/// Only for `sched.c`: both tasks must be alive until this returns.
unsafe extern "C" fn fork<T: BoundSchedHooks>(parent: *mut task_struct, child: *mut task_struct) {
    // SAFETY: The caller guarantees that both tasks are alive.
    let (parent, child) = unsafe { (Task::from_raw(parent), Task::from_raw(child)) };
    with_hooks(|hooks: &T| hooks.fork(parent, child));
}

/// # Safety
///
/// Only for `sched.c`: `task` must be alive until this returns.
unsafe extern "C" fn prepare_exec<T: BoundSchedHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.prepare_exec(task));
}

/// # Safety
///
/// Only for `sched.c`: `task` must be alive and `filename` a valid C string until this returns.
unsafe extern "C" fn exec<T: BoundSchedHooks>(
    task: *mut task_struct,
    old_pid: i32,
    filename: *const c_char,
) {
    // SAFETY: The caller guarantees that the task is alive and the string valid.
    let (task, filename) = unsafe { (Task::from_raw(task), CStr::from_chars(filename)) };
    with_hooks(|hooks: &T| hooks.exec(task, old_pid, filename.to_bytes()));
}

/// # Safety
///
/// Only for `sched.c`: `task` must be alive until this returns.
unsafe extern "C" fn changes<T: BoundSchedHooks>(task: *mut task_struct) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.changes(task));
}

/// # Safety
///
/// Only for `sched.c`: `task` must be alive until this returns, and `comm` must be a C string.
unsafe extern "C" fn rename<T: BoundSchedHooks>(task: *mut task_struct, comm: *const c_char) {
    // SAFETY: The caller guarantees that the task is alive and that `comm` is a C string.
    let (task, comm) = unsafe { (Task::from_raw(task), Comm::from_char_ptr(comm)) };
    with_hooks(|hooks: &T| hooks.rename(task, comm));
}

/// # Safety
///
/// Only for `sched.c`: `task` must be alive until this returns.
unsafe extern "C" fn exit<T: BoundSchedHooks>(task: *mut task_struct, group_dead: bool, now: u64) {
    // SAFETY: The caller guarantees that the task is alive.
    let task = unsafe { Task::from_raw(task) };
    with_hooks(|hooks: &T| hooks.exit(task, group_dead, now));
}

extern "C" fn reclaim<T: BoundSchedHooks>() {
    with_hooks(T::reclaim);
}
