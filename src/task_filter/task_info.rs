// SPDX-License-Identifier: GPL-2.0

//! The attributes of a task that an evaluation of the filters uses.

use crate::{
    filter::decision,
    ktrace::task::{
        cgroups::{
            root_id,
            Cgroup, //
        },
        Comm,
        Task, //
    },
};

/// The cgroup of a task, as far as an evaluation needs it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CgroupInfo<'a> {
    /// The root: of an idle task.
    Root,
    /// A cgroup and those above it.
    Own(Cgroup<'a>),
    /// No filter depends on cgroups.
    NotNeeded,
}

impl decision::Cgroups for CgroupInfo<'_> {
    fn any(&self, test: &dyn Fn(u64) -> bool) -> bool {
        match self {
            Self::Root => test(root_id()),
            Self::Own(cgroup) => cgroup.ids().any(test),
            Self::NotNeeded => false,
        }
    }
}

/// The attributes of a task that an evaluation uses.
pub(super) struct TaskInfo {
    pub(super) pid: i32,
    pub(super) tgid: i32,
    pub(super) comm: Comm,
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

    pub(super) fn with_cgroup<'a>(
        &'a self,
        cgroup: &'a CgroupInfo<'_>,
    ) -> decision::TaskAttributes<'a> {
        decision::TaskAttributes {
            pid: self.pid,
            tgid: self.tgid,
            comm: self.comm.as_bytes(),
            cgroups: cgroup,
        }
    }
}
