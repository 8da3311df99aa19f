// SPDX-License-Identifier: GPL-2.0

//! The verdict: whether a task is traced.
//!
//! See [the module above](super) for what the lists mean.

use kernel::prelude::*;

use super::{
    ids::IdSet,
    list::GlobSet, //
};

/// What the verdict depends on, of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// Thread id, in the initial PID namespace.
    pub(crate) pid: i32,
    /// Process id, in the initial PID namespace.
    pub(crate) tgid: i32,
    /// The name; a NUL in it ends it.
    pub(crate) comm: &'a [u8],
}

/// What a task was born with, from a parent that the lists name: see [`Filter::child`].
///
/// It stands for lists that were in force when the task was forked. Whoever keeps it has to
/// forget it when these lists are replaced or cleared: after that nobody has asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lineage {
    /// As if a `set_*` list named the task.
    pub(crate) traced: bool,
    /// As if a `set_notrace_*` list named it.
    pub(crate) excluded: bool,
}

/// What tasks were born with that does not count any more, since the lists it came from have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forget {
    /// Having been born traced.
    pub(crate) traced: bool,
    /// Having been born excluded.
    pub(crate) excluded: bool,
}

impl Forget {
    /// All of it.
    pub(crate) const ALL: Self = Self {
        traced: true,
        excluded: true,
    };
}

/// The lists and the switch of one trace array.
///
/// Once it is published it does not change: a change makes another one and publishes that.
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
    /// `follow_fork`
    pub(crate) follow_fork: bool,
}

impl Filter {
    /// Makes a copy, to be changed and published. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            pid: self.pid.try_clone()?,
            notrace_pid: self.notrace_pid.try_clone()?,
            tgid: self.tgid.try_clone()?,
            notrace_tgid: self.notrace_tgid.try_clone()?,
            comm: self.comm.try_clone()?,
            notrace_comm: self.notrace_comm.try_clone()?,
            follow_fork: self.follow_fork,
        })
    }

    /// Whether no list is set, so that every task is traced. `follow_fork` alone does nothing.
    ///
    /// This and all that follow may be called from any context.
    pub(crate) fn is_empty(&self) -> bool {
        !self.selects() && !self.excludes()
    }

    /// Whether the verdict can change when a task is renamed.
    pub(crate) fn needs_comm(&self) -> bool {
        !self.comm.is_empty() || !self.notrace_comm.is_empty()
    }

    /// Whether a task is traced, given what it was born with.
    pub(crate) fn judge(&self, task: &Task<'_>, lineage: Lineage) -> bool {
        let selected = !self.selects() || self.selected(task, lineage);
        selected && !self.excluded(task, lineage)
    }

    /// What a child of `parent` is born with, if `parent` forks now.
    ///
    /// The name that counts is the parent's at the fork; the child keeps what it was born with
    /// through renames and `exec`.
    pub(crate) fn child(&self, parent: &Task<'_>, lineage: Lineage) -> Lineage {
        if !self.follow_fork {
            return Lineage::default();
        }
        Lineage {
            traced: self.selected(parent, lineage),
            excluded: self.excluded(parent, lineage),
        }
    }

    /// Whether only some tasks are traced.
    fn selects(&self) -> bool {
        !self.pid.is_empty() || !self.tgid.is_empty() || !self.comm.is_empty()
    }

    /// Whether some tasks are not traced.
    fn excludes(&self) -> bool {
        !self.notrace_pid.is_empty()
            || !self.notrace_tgid.is_empty()
            || !self.notrace_comm.is_empty()
    }

    /// Whether a `set_*` list names the task or one it descends from. A lineage without a list to
    /// come from is a stale one.
    fn selected(&self, task: &Task<'_>, lineage: Lineage) -> bool {
        (lineage.traced && self.selects())
            || self.pid.contains(task.pid)
            || self.tgid.contains(task.tgid)
            || self.comm.matches(task.comm)
    }

    /// The same for the `set_notrace_*` lists.
    fn excluded(&self, task: &Task<'_>, lineage: Lineage) -> bool {
        (lineage.excluded && self.excludes())
            || self.notrace_pid.contains(task.pid)
            || self.notrace_tgid.contains(task.tgid)
            || self.notrace_comm.matches(task.comm)
    }
}
