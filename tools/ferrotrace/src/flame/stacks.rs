// SPDX-License-Identifier: MIT OR Apache-2.0

//! Adds up the times of calls by their call paths.

use rustc_hash::FxHashMap;

use crate::{
    model::{
        Call,
        Detail,
        Interval,
        OpenCall,
        Split,
        State,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        FuncId,
        TaskName, //
    },
};

/// The index of a [`Node`].
pub(super) type NodeId = usize;

/// A call path: a task, and the functions that it called within each other.
#[derive(Debug)]
pub(super) struct Node {
    /// The path of the caller; `None` if the path is a task.
    pub caller: Option<NodeId>,
    /// The function that was called last; `None` if the path is a task.
    pub func: Option<FuncId>,
    /// The time of the calls on this path, with their callees. For a task, the time of its states.
    pub total: Split,
}

/// The block time on a path in one function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceSums {
    /// By the states of the task.
    pub by_states: u64,
    /// By its calls: all of a call's own block time is in the function that blocked last.
    pub by_calls: u64,
}

/// A task with its call paths.
#[derive(Debug)]
pub(super) struct Root {
    /// The last name of the task.
    pub name: TaskName,
    /// The path that is the task itself.
    pub node: NodeId,
    /// The time of its outermost calls.
    pub in_calls: Split,
    /// The paths of its open calls, the outermost first.
    open: Vec<NodeId>,
}

/// The times of all call paths in a recording.
///
/// Pass it to [`Model::event`](crate::model::Model::event) for each event, then call
/// [`fold`](Self::fold). Its size depends on the number of different paths, not on the length of
/// the recording.
#[derive(Debug, Default)]
pub struct Stacks {
    /// Callers come before their callees.
    pub(super) nodes: Vec<Node>,
    callees: FxHashMap<(NodeId, FuncId), NodeId>,
    pub(super) places: FxHashMap<(NodeId, FuncId), PlaceSums>,
    pub(super) tasks: FxHashMap<TaskId, Root>,
    /// Whether the states of tasks were recorded.
    pub(super) has_states: bool,
}

impl Stacks {
    fn task(&mut self, task: &Task) -> &mut Root {
        let nodes = &mut self.nodes;
        self.tasks.entry(task.id()).or_insert_with(|| {
            nodes.push(Node {
                caller: None,
                func: None,
                total: Split::default(),
            });
            Root {
                name: task.name(),
                node: nodes.len() - 1,
                in_calls: Split::default(),
                open: Vec::new(),
            }
        })
    }

    /// Returns the path of a task's innermost open call, or that of the task.
    fn current(&mut self, task: &Task) -> NodeId {
        let root = self.task(task);
        root.open.last().copied().unwrap_or(root.node)
    }

    /// Returns the path of a call.
    fn callee(&mut self, caller: NodeId, func: FuncId) -> NodeId {
        let nodes = &mut self.nodes;
        *self.callees.entry((caller, func)).or_insert_with(|| {
            nodes.push(Node {
                caller: Some(caller),
                func: Some(func),
                total: Split::default(),
            });
            nodes.len() - 1
        })
    }
}

impl Visitor for Stacks {
    fn state_end(&mut self, task: &Task, interval: &Interval) {
        self.has_states = true;
        let ns = interval.ns();
        let root = self.task(task);
        root.name = task.name();
        let node = root.node;
        let times = &mut self.nodes[node].total;
        match interval.state {
            State::Run { .. } => times.run += ns,
            State::Wait { .. } => times.wait += ns,
            State::Block { .. } => times.block += ns,
            State::Unknown | State::Dead => {}
        }
        if let Detail::Blocked(blocked) = &interval.detail {
            if let Some(func) = blocked.caller {
                let path = self.current(task);
                self.places.entry((path, func)).or_default().by_states += ns;
            }
        }
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        let caller = self.current(task);
        let path = self.callee(caller, call.id.func);
        self.task(task).open.push(path);
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let root = self.task(task);
        root.name = task.name();
        let Some(path) = root.open.pop() else {
            return;
        };
        if root.open.is_empty() {
            root.in_calls += call.split;
        }
        self.nodes[path].total += call.split;
        let caller = call.blocked.and_then(|blocked| blocked.caller);
        if let (Some(func), 1..) = (caller, call.own.block) {
            self.places.entry((path, func)).or_default().by_calls += call.own.block;
        }
    }
}
