// SPDX-License-Identifier: GPL-2.0

//! The filter decision: whether a task is traced.
//!
//! See [the parent module](super) for the meaning of the lists.

use kernel::prelude::*;

use super::{
    ids::IdSet,
    list::GlobSet, //
};

/// The cgroups that a task is in: its own, and all above it.
pub(crate) trait Cgroups {
    /// Returns whether `test` returns true for the id of one of them. May be called from any
    /// context if `test` may.
    fn any(&self, test: &dyn Fn(u64) -> bool) -> bool;
}

/// The attributes of a task that the filter decision depends on.
#[derive(Clone, Copy)]
pub(crate) struct TaskAttributes<'a> {
    /// Thread id, in the initial PID namespace.
    pub(crate) pid: i32,
    /// Process id, in the initial PID namespace.
    pub(crate) tgid: i32,
    /// The task's name; it ends at the first NUL.
    pub(crate) comm: &'a [u8],
    /// The task's cgroups.
    pub(crate) cgroups: &'a dyn Cgroups,
}

/// The selection that a task inherited from its parent; see [`Filter::child`].
///
/// It results from the lists that were in effect when the task was forked. Its owner must clear it
/// when these lists are replaced or cleared, because the new lists do not imply it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// Treat the task as if a `set_*` list matched it.
    pub(crate) traced: bool,
    /// Treat the task as if a `set_notrace_*` list matched it.
    pub(crate) excluded: bool,
}

/// The parts of [`Inherited`] that become invalid because the lists that they result from have
/// changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClearInherited {
    /// Clear [`Inherited::traced`].
    pub(crate) traced: bool,
    /// Clear [`Inherited::excluded`].
    pub(crate) excluded: bool,
}

impl ClearInherited {
    /// Clears both parts.
    pub(crate) const ALL: Self = Self {
        traced: true,
        excluded: true,
    };
}

/// The lists and the `follow_fork` option of one trace array.
///
/// A published filter is immutable: to change it, a modified copy is published.
#[derive(Default)]
pub(crate) struct Filter {
    /// `set_pid`
    pub(crate) pid: IdSet,
    /// `set_notrace_pid`
    pub(crate) notrace_pid: IdSet,
    /// `set_tgid`
    pub(crate) tgid: IdSet,
    /// `set_notrace_tgid`
    pub(crate) notrace_tgid: IdSet,
    /// `set_comm`
    pub(crate) comm: GlobSet,
    /// `set_notrace_comm`
    pub(crate) notrace_comm: GlobSet,
    /// `set_cgroup`
    pub(crate) cgroup: IdSet<u64>,
    /// `set_notrace_cgroup`
    pub(crate) notrace_cgroup: IdSet<u64>,
    /// `follow_fork`
    pub(crate) follow_fork: bool,
}

impl Filter {
    /// Returns a copy, which can be modified and published. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            pid: self.pid.try_clone()?,
            notrace_pid: self.notrace_pid.try_clone()?,
            tgid: self.tgid.try_clone()?,
            notrace_tgid: self.notrace_tgid.try_clone()?,
            comm: self.comm.try_clone()?,
            notrace_comm: self.notrace_comm.try_clone()?,
            cgroup: self.cgroup.try_clone()?,
            notrace_cgroup: self.notrace_cgroup.try_clone()?,
            follow_fork: self.follow_fork,
        })
    }

    /// Returns whether all lists are empty, so that every task is traced. `follow_fork` alone has
    /// no effect.
    ///
    /// This function and the following ones may be called from any context.
    pub(crate) fn is_empty(&self) -> bool {
        !self.selects() && !self.excludes()
    }

    /// Returns whether a rename can change the filter decision for a task.
    pub(crate) fn needs_comm(&self) -> bool {
        !self.comm.is_empty() || !self.notrace_comm.is_empty()
    }

    /// Returns whether a move to another cgroup can change the filter decision for a task.
    pub(crate) fn needs_cgroups(&self) -> bool {
        !self.cgroup.is_empty() || !self.notrace_cgroup.is_empty()
    }

    /// Returns whether a task is traced, given the selection that it inherited.
    pub(crate) fn evaluate(&self, task: &TaskAttributes<'_>, inherited: Inherited) -> bool {
        let selected = !self.selects() || self.selected(task, inherited);
        selected && !self.excluded(task, inherited)
    }

    /// Returns the selection that a child inherits if `parent` forks now.
    ///
    /// It depends on the parent's name at the time of the fork. The child keeps it through renames
    /// and `execve()`.
    pub(crate) fn child(&self, parent: &TaskAttributes<'_>, inherited: Inherited) -> Inherited {
        if !self.follow_fork {
            return Inherited::default();
        }
        Inherited {
            traced: self.selected(parent, inherited),
            excluded: self.excluded(parent, inherited),
        }
    }

    /// Returns whether a `set_*` list is set, so that only matching tasks are traced.
    fn selects(&self) -> bool {
        !self.pid.is_empty()
            || !self.tgid.is_empty()
            || !self.comm.is_empty()
            || !self.cgroup.is_empty()
    }

    /// Returns whether a `set_notrace_*` list is set, so that matching tasks are not traced.
    fn excludes(&self) -> bool {
        !self.notrace_pid.is_empty()
            || !self.notrace_tgid.is_empty()
            || !self.notrace_comm.is_empty()
            || !self.notrace_cgroup.is_empty()
    }

    /// Returns whether a `set_*` list matches the task, or the task inherited such a match. An
    /// inherited match is stale, and is ignored, if no such list is set any more.
    fn selected(&self, task: &TaskAttributes<'_>, inherited: Inherited) -> bool {
        (inherited.traced && self.selects())
            || self.pid.contains(task.pid)
            || self.tgid.contains(task.tgid)
            || self.comm.matches(task.comm)
            || is_in(&self.cgroup, task)
    }

    /// Returns whether a `set_notrace_*` list matches the task, or the task inherited such a match.
    fn excluded(&self, task: &TaskAttributes<'_>, inherited: Inherited) -> bool {
        (inherited.excluded && self.excludes())
            || self.notrace_pid.contains(task.pid)
            || self.notrace_tgid.contains(task.tgid)
            || self.notrace_comm.matches(task.comm)
            || is_in(&self.notrace_cgroup, task)
    }
}

/// Returns whether the task is in one of the cgroups.
fn is_in(cgroups: &IdSet<u64>, task: &TaskAttributes<'_>) -> bool {
    !cgroups.is_empty() && task.cgroups.any(&|id| cgroups.contains(id))
}
