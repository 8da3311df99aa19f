// SPDX-License-Identifier: MIT OR Apache-2.0

//! The longest calls: a list of fixed length.

use crate::{
    model::{
        Call,
        Task, //
    },
    recording::{
        Blocked,
        FuncId,
        TaskName, //
    },
};

/// The maximum number of calls.
const CALLS: usize = 40;
/// How many calls of one task with the same callers are kept: others are more interesting.
const ALIKE: usize = 4;

/// A call with its callers.
#[derive(Clone, Debug)]
pub struct LongCall {
    /// The task.
    pub task: TaskName,
    /// The CPU of an idle task.
    pub idle_cpu: Option<usize>,
    /// The callers and the function, the outermost first.
    pub stack: Vec<FuncId>,
    /// The call.
    pub call: Call,
    /// The last interval in the call in which the task was blocked.
    pub blocked: Option<Blocked>,
    /// The task that had the CPU in the last interval in which the task waited for it.
    pub behind: Option<TaskName>,
}

/// Why a task was off the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reason {
    /// The last interval in which it was blocked.
    pub blocked: Option<Blocked>,
    /// The task that had the CPU in the last interval in which it waited.
    pub behind: Option<TaskName>,
}

impl LongCall {
    /// Returns the time in ns by which calls are compared: without callees that were recorded, so
    /// that the callers of a long call are not listed as well.
    fn key(&self) -> u64 {
        self.call.own.wall()
    }

    fn is_like(&self, other: &Self) -> bool {
        self.task.pid == other.task.pid && self.stack == other.stack
    }
}

/// The longest calls of a recording.
#[derive(Debug, Default)]
pub struct Longest {
    /// The calls, the longest first.
    calls: Vec<LongCall>,
}

impl Longest {
    /// Takes a call of a task if it is long enough. Its callers are [`Task::calls`]; `reason` finds
    /// why the task was off the CPU in it.
    pub fn offer(&mut self, task: &Task, call: &Call, reason: impl FnOnce() -> Reason) {
        let key = call.own.wall();
        if self.calls.len() == CALLS && self.calls.last().is_some_and(|last| last.key() >= key) {
            return;
        }
        let reason = reason();
        let callers = task.calls().iter().map(|caller| caller.id.func);
        self.insert(LongCall {
            task: task.name(),
            idle_cpu: task.id().idle_cpu(),
            stack: callers.chain([call.func]).collect(),
            call: *call,
            blocked: call.blocked.or(reason.blocked),
            behind: reason.behind,
        });
    }

    fn insert(&mut self, new: LongCall) {
        let alike = self.calls.iter().enumerate();
        let mut alike = alike.filter(|(_, call)| call.is_like(&new));
        if let Some((last, _)) = alike.by_ref().nth(ALIKE - 1) {
            if self.calls[last].key() >= new.key() {
                return;
            }
            self.calls.remove(last);
        }
        let at = self.calls.partition_point(|call| call.key() >= new.key());
        self.calls.insert(at, new);
        self.calls.truncate(CALLS);
    }

    /// Returns the calls, the longest first.
    pub fn calls(&self) -> &[LongCall] {
        &self.calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Ending,
        Split, //
    };

    fn call(function: u32, ns: u64) -> LongCall {
        let func = FuncId::new(function);
        let split = Split::new(ns, 0, 0);
        LongCall {
            task: TaskName::default(),
            idle_cpu: None,
            stack: vec![func],
            call: Call {
                func,
                start: 0,
                end: ns,
                split,
                own: split,
                switches: 0,
                blocked: None,
                ending: Ending::Returned,
            },
            blocked: None,
            behind: None,
        }
    }

    #[test]
    fn the_longest_calls_are_kept() {
        let mut longest = Longest::default();
        for n in 0..1000_u32 {
            // A permutation.
            let ns = n * 7 % 1000;
            longest.insert(call(ns, ns.into()));
        }
        let found: Vec<_> = longest.calls().iter().map(LongCall::key).collect();
        let expected: Vec<_> = (960..1000).rev().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn few_calls_are_alike() {
        let mut longest = Longest::default();
        for n in 0..100 {
            longest.insert(call(1, n));
        }
        longest.insert(call(2, 5));
        let found: Vec<_> = longest.calls().iter().map(LongCall::key).collect();
        assert_eq!(found, [99, 98, 97, 96, 5]);
    }
}
