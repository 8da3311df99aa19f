// SPDX-License-Identifier: MIT OR Apache-2.0

//! Derives the states of each task and its calls, with their run, wait and block times, from the
//! events of a recording.
//!
//! The model is streaming. It keeps the current state and the open calls of each live task, and
//! passes everything that ended to a [`Visitor`].

mod calls;
mod chains;
mod evidence;
mod nesting;
mod places;
mod split;
mod states;
mod task;
#[cfg(test)]
mod tests;
mod update;

use rustc_hash::FxHashMap;

use crate::recording::{
    Event,
    Kind,
    Symbols,
    TaskName,
    Waker, //
};

pub use calls::{
    Call,
    Ending,
    OpenCall, //
};
pub use chains::{
    chain_text,
    Chain,
    Link,
    Step,
    Was, //
};
pub use nesting::Nesting;
pub use places::{
    Place,
    Sum, //
};
pub use split::Split;
pub use states::{
    Detail,
    Interval,
    State, //
};
pub use task::{
    Task,
    TaskId, //
};

/// A consumer of what the model finds. Each method does nothing unless it is implemented.
pub trait Visitor {
    /// A task is in a state from `at` on.
    fn state_begin(&mut self, task: &Task, at: u64, state: State) {
        let _ = (task, at, state);
    }

    /// A state of a task ended. The calls in which it happened are [`Task::calls`].
    fn state_end(&mut self, task: &Task, interval: &Interval) {
        let _ = (task, interval);
    }

    /// A task was woken at `at`, by an event at `time`.
    fn wakeup(&mut self, task: &Task, (at, time): (u64, u64), waker: &Waker) {
        let _ = (task, at, time, waker);
    }

    /// A call began. It is the last of [`Task::calls`].
    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        let _ = (task, call);
    }

    /// A call ended. Its callers are [`Task::calls`].
    fn call_end(&mut self, task: &Task, call: &Call) {
        let _ = (task, call);
    }

    /// A chain of wakeups is complete. The blocked interval of the task has ended before.
    fn chain(&mut self, chain: &Chain) {
        let _ = chain;
    }
}

/// The state of the model between two events.
#[derive(Default)]
pub struct Model {
    tasks: FxHashMap<TaskId, Task>,
    chains: chains::Chains,
    running: evidence::Running,
    /// The time of the first event.
    first: Option<u64>,
    /// The time of the latest event.
    last: u64,
}

impl Model {
    /// Returns the times of the first and of the latest event.
    pub fn span(&self) -> (u64, u64) {
        (self.first.unwrap_or(self.last), self.last)
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>, names: &impl Names, visitor: &mut impl Visitor) {
        let first = *self.first.get_or_insert(event.time);
        self.last = self.last.max(event.time);
        if let Kind::Lost { .. } = event.kind {
            for task in self.tasks.values_mut() {
                task.lost(event.cpu, event.time);
            }
            return;
        }
        if let Kind::Chain { .. } = event.kind {
            return self.chains.event(event, |chain| visitor.chain(chain));
        }
        let Some(subject) = update::subject(event) else {
            return;
        };
        self.running.check(event, subject, &mut self.tasks, visitor);
        let task = self.tasks.entry(subject).or_insert_with(|| {
            let pid = subject.pid();
            Task::new(
                subject,
                TaskName {
                    pid,
                    comm: names.comm(pid),
                },
                first,
            )
        });
        task.update(event, visitor);
        if task.is_over() {
            self.tasks.remove(&subject);
        }
    }

    /// Ends all states and calls at the time of the latest event.
    pub fn finish(&mut self, visitor: &mut impl Visitor) {
        self.chains.finish(|chain| visitor.chain(chain));
        let mut tasks: Vec<_> = self.tasks.drain().map(|(_, task)| task).collect();
        tasks.sort_unstable_by_key(Task::id);
        for mut task in tasks {
            task.finish(self.last, visitor);
        }
    }
}

/// Names of tasks.
pub trait Names {
    /// Returns the name of a task; empty if it is unknown.
    fn comm(&self, pid: i32) -> crate::recording::Comm;
}

impl Names for Symbols<'_> {
    fn comm(&self, pid: i32) -> crate::recording::Comm {
        Symbols::comm(self, pid)
    }
}
