// SPDX-License-Identifier: GPL-2.0

//! Notification when work is queued on a workqueue, and when a worker executes it.
//!
//! C headers: `include/trace/events/workqueue.h`, `kernel/workqueue.c`.

use core::marker::PhantomData;

use kernel::{
    error::to_result,
    prelude::*, //
};

use super::task_ref::{
    with_current,
    Task, //
};
use crate::ktrace::private::{
    callbacks::ktrace_work_callbacks,
    symbols::Resolved, //
};

extern "C" {
    fn ktrace_watch_works(callbacks: *const ktrace_work_callbacks) -> c_int;
    fn ktrace_unwatch_works();
}

/// A `struct work_struct`, as a number that is only compared. Another one may get the same number
/// when its memory is used again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WorkId(pub u64);

/// Receives what happens to all work items. The functions are called by probes on tracepoints.
pub trait WorkWatcher: 'static {
    /// Called when work is queued, with a lock of the workqueue held and interrupts off: by a task
    /// if `by` is not `None`, otherwise by an interrupt. Work that is queued with a delay is queued
    /// by the interrupt of its timer.
    fn queued(work: WorkId, by: Option<Task<'_>>);

    /// Called in a worker, before it executes work.
    fn started(work: WorkId, worker: Task<'_>);

    /// Called in the same worker, after it has executed work with `function`. The work may have
    /// been queued again, or freed.
    fn ended(work: WorkId, worker: Task<'_>, function: usize);
}

/// The probes, which are attached while this value exists. There can be one such value at a time.
///
/// # Invariants
///
/// The probes are attached until drop.
pub struct WorkWatch(());

impl WorkWatch {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the kernel has no such tracepoints; `EEXIST` if the probes are attached;
    /// `ENOMEM`.
    pub fn new<T: WorkWatcher>(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The probes are static; the kernel refuses to attach them twice.
        to_result(unsafe { ktrace_watch_works(WorkCallbacks::<T>::TABLE) })?;
        // INVARIANT: The probes were attached above.
        Ok(Self(()))
    }
}

impl Drop for WorkWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the probes are attached. When this returns, none runs.
        unsafe { ktrace_unwatch_works() }
    }
}

/// The callbacks for a type of watchers.
struct WorkCallbacks<T>(PhantomData<T>);

impl<T: WorkWatcher> WorkCallbacks<T> {
    const TABLE: &'static ktrace_work_callbacks = &ktrace_work_callbacks {
        queued: Some(queued::<T>),
        started: Some(started::<T>),
        ended: Some(ended::<T>),
    };
}

/// # Safety
///
/// Only for `works.c`.
unsafe extern "C" fn queued<T: WorkWatcher>(work: c_ulong, in_task: bool) {
    let work = WorkId(work as u64);
    match in_task {
        true => with_current(|task| T::queued(work, Some(task))),
        false => T::queued(work, None),
    }
}

/// # Safety
///
/// Only for `works.c`.
unsafe extern "C" fn started<T: WorkWatcher>(work: c_ulong) {
    with_current(|task| T::started(WorkId(work as u64), task));
}

/// # Safety
///
/// Only for `works.c`.
unsafe extern "C" fn ended<T: WorkWatcher>(work: c_ulong, function: c_ulong) {
    with_current(|task| T::ended(WorkId(work as u64), task, function));
}
