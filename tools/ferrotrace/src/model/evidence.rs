// SPDX-License-Identifier: MIT OR Apache-2.0

//! An event also shows that other tasks than its own run. If this contradicts the state of such a
//! task, its events are missing: it has left the filter, or another filter is in use.

use rustc_hash::FxHashMap;

use super::{
    states::{
        State,
        TOLERANCE_NS, //
    },
    task::{
        Task,
        TaskId, //
    },
    Visitor, //
};
use crate::recording::{
    Event,
    Kind, //
};

/// The task that each CPU was given last.
#[derive(Default)]
pub(super) struct Running(Vec<Option<TaskId>>);

impl Running {
    /// Ends the states of tasks that an event about `subject` contradicts: a waker runs, and a CPU
    /// runs one task.
    pub(super) fn check(
        &mut self,
        event: &Event<'_>,
        subject: TaskId,
        tasks: &mut FxHashMap<TaskId, Task>,
        visitor: &mut impl Visitor,
    ) {
        let waker = match &event.kind {
            Kind::Wakeup { waker, .. } => waker,
            Kind::Block { blocked, .. } => &blocked.waker,
            Kind::Wait { .. } => {
                let before = self.replace(event.cpu, subject);
                let other = before.filter(|before| *before != subject);
                if let Some(task) = other.and_then(|before| tasks.get_mut(&before)) {
                    if matches!(task.state(), Some(State::Run { cpu }) if cpu == event.cpu) {
                        task.lose(visitor);
                    }
                }
                return;
            }
            _ => return,
        };
        if waker.context != 0 || waker.task.pid == 0 {
            return;
        }
        if let Some(task) = tasks.get_mut(&TaskId::new(waker.task.pid, event.cpu)) {
            // The event can be written later than the waker slept: by the CPU of the other task.
            let was_awake = event.time.saturating_sub(task.last) <= TOLERANCE_NS;
            if let (Some(State::Wait { .. } | State::Block { .. }), false) =
                (task.state(), was_awake)
            {
                task.lose(visitor);
            }
        }
    }

    fn replace(&mut self, cpu: usize, task: TaskId) -> Option<TaskId> {
        if self.0.len() <= cpu {
            self.0.resize(cpu + 1, None);
        }
        self.0[cpu].replace(task)
    }
}
