// SPDX-License-Identifier: GPL-2.0

//! Which tasks had the CPU while a task waited for it.
//!
//! For a wait of at least the threshold of a trace array (`chain_thresh`), there is one event
//! `task_wait_behind` for each of the tasks that have run on this CPU in between, at most
//! [`MAX_REPORTED`]. While the event has no listener, this costs one static branch in a switch.

use crate::{
    chain_thresholds::least_ns,
    events,
    ktrace::task::Task,
    task_times::{
        runs::{
            runners,
            task_switches,
            Runner, //
        },
        types::WaitBehind, //
    },
};

/// How many tasks are reported for a wait.
const MAX_REPORTED: u8 = 8;

/// Keeps which task ends its run, for waits that end later. For the probe on context switches,
/// before [`task_waited`].
#[inline]
pub(crate) fn run_ends(prev: Task<'_>, next: Task<'_>, now_ns: u64) {
    if events::task_wait_behind::is_enabled() {
        task_switches(prev, next, now_ns);
    }
}

/// Reports the tasks that `task` has waited for, for `wait_ns` until now. For the probe on context
/// switches.
#[inline]
pub(crate) fn task_waited(task: Task<'_>, wait_ns: u64, now_ns: u64) {
    if events::task_wait_behind::is_enabled() && wait_ns >= least_ns() {
        report(task, wait_ns, now_ns);
    }
}

#[cold]
#[inline(never)]
fn report(task: Task<'_>, wait_ns: u64, now_ns: u64) {
    let Some(mut found) = runners(now_ns.saturating_sub(wait_ns), now_ns) else {
        return;
    };
    let reports = found.tasks.iter().filter(|task| task.runs != 0).count();
    let is_complete = found.is_complete && reports <= usize::from(MAX_REPORTED);
    for rank in 1..=MAX_REPORTED {
        let tasks = found.tasks.iter_mut().filter(|task| task.runs != 0);
        let Some(runner) = tasks.max_by_key(|task| task.ns) else {
            return;
        };
        let behind = WaitBehind {
            wait_ns,
            rank,
            is_complete,
            runner: core::mem::take::<Runner>(runner),
        };
        events::task_wait_behind::trace(task, &behind);
    }
}
