// SPDX-License-Identifier: GPL-2.0

//! The attributes of a task that an evaluation of the filters uses.

use crate::{
    filter::decision,
    ktrace::task::{
        Comm,
        Task, //
    },
};

/// The attributes of a task that an evaluation uses.
pub(super) struct TaskInfo {
    pub(super) pid: i32,
    pub(super) tgid: i32,
    comm: Comm,
    pub(super) tag: u32,
}

impl TaskInfo {
    pub(super) fn new(task: Task<'_>, comm: Comm) -> Self {
        Self {
            pid: task.pid(),
            tgid: task.tgid(),
            comm,
            tag: task.tag(),
        }
    }

    pub(super) fn as_task(&self) -> decision::Task<'_> {
        decision::Task {
            pid: self.pid,
            tgid: self.tgid,
            comm: self.comm.as_bytes(),
        }
    }
}
