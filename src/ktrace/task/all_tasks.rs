// SPDX-License-Identifier: GPL-2.0

//! Iteration over all tasks except the idle tasks.

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    pid_map::PidMap,
    task_ref::Task, //
};

extern "C" {
    fn ktrace_visit_tasks(visitor: *mut c_void);
}

/// Calls `visit` with every thread of every process except the idle tasks, in one RCU read-side
/// section: `visit` must not sleep. Tasks that are created or exit concurrently may be missed.
pub fn for_each(mut visit: impl FnMut(Task<'_>)) {
    let mut visitor: &mut dyn FnMut(Task<'_>) = &mut visit;
    // SAFETY: `ktrace_visit_task()` casts the pointer back to its type, and `visitor` is alive
    // until the call returns.
    unsafe { ktrace_visit_tasks(core::ptr::from_mut(&mut visitor).cast()) }
}

/// Frees the values of IDs that no task has any more, if the map has many. Sleeps for several grace
/// periods. There must be only one caller for a map at a time.
pub fn reclaim_if_large<T: Default>(map: &PidMap<T>) {
    if map.is_large() {
        map.reclaim(|| {
            for_each(|task| {
                map.mark(task.pid() as u32);
            });
        });
    }
}

/// Calls the closure that was passed to [`for_each`].
///
/// # Safety
///
/// Only for `task.c`: `visitor` must be the pointer that [`for_each`] passed, and `task` must be
/// alive until this returns.
#[no_mangle]
unsafe extern "C" fn ktrace_visit_task(visitor: *mut c_void, task: *mut bindings::task_struct) {
    // SAFETY: The caller guarantees that `visitor` is from `for_each()`, which does not use it
    // during this call.
    let visit = unsafe { &mut *visitor.cast::<&mut dyn FnMut(Task<'_>)>() };
    // SAFETY: The caller guarantees that `task` is alive until this returns.
    visit(unsafe { Task::from_raw(task) });
}
