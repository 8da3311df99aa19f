// SPDX-License-Identifier: MIT OR Apache-2.0

//! How an event changes a task.

use crate::recording::{
    Event,
    Kind,
    Since, //
};

use super::{
    states::{
        Detail,
        Interval,
        State, //
    },
    task::{
        Task,
        TaskId, //
    },
    Visitor, //
};

/// The bits of a state in which a task will never run again.
const ENDED: u32 = 0x30;
/// The state of a task that was preempted; 0 is that of one that gave up its CPU.
const PREEMPTED: u32 = 0x100;

/// Returns the task that an event is about, if the model uses the event.
pub(super) fn subject(event: &Event<'_>) -> Option<TaskId> {
    match &event.kind {
        Kind::CallBegin { .. } | Kind::CallEnd { .. } | Kind::Call { .. } | Kind::CallTimes(_) => {
            Some(TaskId::new(event.pid, event.cpu))
        }
        Kind::Wakeup { task, .. }
        | Kind::Wait { task, .. }
        | Kind::Run { task, .. }
        | Kind::Block { task, .. }
        | Kind::Migrate { task, .. }
        | Kind::Exec { task, .. }
        | Kind::SetComm { task, .. }
        | Kind::Exit { task, .. } => Some(TaskId::new(task.pid, event.cpu)),
        Kind::Fork { child, .. } => Some(TaskId::new(child.pid, event.cpu)),
        Kind::Function { .. }
        | Kind::Section { .. }
        | Kind::Chain { .. }
        | Kind::Trigger { .. }
        | Kind::Marker { .. }
        | Kind::Lost { .. }
        | Kind::Other => None,
    }
}

impl Task {
    /// Takes an event of this task.
    pub(super) fn update(&mut self, event: &Event<'_>, visitor: &mut impl Visitor) {
        let time = event.time;
        self.last = time;
        self.is_renamed = matches!(event.kind, Kind::SetComm { .. });
        if self.is_renamed {
            self.states.doubt();
        }
        match event.kind {
            Kind::CallBegin { call, late_ns } => {
                self.cpu = event.cpu;
                self.begin(call, time.saturating_sub(late_ns), visitor);
            }
            Kind::CallEnd { call, duration_ns } => {
                self.cpu = event.cpu;
                self.end(call, duration_ns, time, visitor);
            }
            Kind::Call { call, duration_ns } => {
                self.cpu = event.cpu;
                self.begin(call, time.saturating_sub(duration_ns), visitor);
                self.end(call, duration_ns, time, visitor);
            }
            Kind::CallTimes(times) => self.times = Some(times),
            Kind::Wakeup {
                task,
                prio,
                waker,
                target_cpu,
            } => {
                (self.name, self.prio) = (task, prio);
                self.cpu = usize::try_from(target_cpu).unwrap_or(self.cpu);
                if !matches!(self.state(), Some(State::Wait { .. })) {
                    let next = State::Wait {
                        since: Since::Woken,
                    };
                    let mut ended = Ended::default();
                    let at = self
                        .states
                        .change(time, next, |interval| ended.push(interval));
                    self.wakeup_and_begin(ended, (at, time), next, &waker, visitor);
                }
            }
            Kind::Block {
                task,
                prio,
                ns,
                blocked,
            } => {
                (self.name, self.prio) = (task, prio);
                let was = State::Block {
                    state: blocked.state,
                };
                let next = State::Wait {
                    since: Since::Woken,
                };
                let mut ended = Ended::default();
                let detail = Detail::Blocked(blocked);
                let emit = |interval| ended.push(interval);
                let at = self.states.advance(was, ns, time, detail, next, emit);
                self.wakeup_and_begin(ended, (at, time), next, &blocked.waker, visitor);
            }
            Kind::Wait {
                task,
                prio,
                ns,
                since,
                prev,
                prev_prio,
            } => {
                (self.name, self.prio, self.cpu) = (task, prio, event.cpu);
                let next = State::Run { cpu: event.cpu };
                let detail = Detail::Behind(prev, prev_prio);
                self.advance(State::Wait { since }, ns, time, detail, next, visitor);
            }
            Kind::Run {
                task,
                prio,
                ns,
                state,
                ..
            } => {
                (self.name, self.prio, self.cpu) = (task, prio, event.cpu);
                let next = match state {
                    0 | PREEMPTED => State::Wait {
                        since: Since::Preempted,
                    },
                    state if state & ENDED != 0 => State::Dead,
                    state => State::Block { state },
                };
                let was = State::Run { cpu: event.cpu };
                self.advance(was, ns, time, Detail::Left(state), next, visitor);
            }
            Kind::Migrate { task, dest_cpu, .. } => {
                self.name = task;
                self.cpu = usize::try_from(dest_cpu).unwrap_or(self.cpu);
            }
            Kind::Exec { task, .. } | Kind::SetComm { task, .. } | Kind::Exit { task, .. } => {
                self.name = task;
            }
            Kind::Fork { child, .. } => self.name = child,
            Kind::Function { .. }
            | Kind::Section { .. }
            | Kind::Chain { .. }
            | Kind::Trigger { .. }
            | Kind::Marker { .. }
            | Kind::Lost { .. }
            | Kind::Other => {}
        }
    }

    fn advance(
        &mut self,
        was: State,
        ns: u64,
        time: u64,
        detail: Detail,
        next: State,
        visitor: &mut impl Visitor,
    ) {
        let mut ended = Ended::default();
        let emit = |interval| ended.push(interval);
        let at = self.states.advance(was, ns, time, detail, next, emit);
        ended.report(self, visitor);
        if next == State::Dead {
            self.end_calls(at, visitor);
        }
        visitor.state_begin(self, at, next);
    }

    fn wakeup_and_begin(
        &mut self,
        ended: Ended,
        times: (u64, u64),
        next: State,
        waker: &crate::recording::Waker,
        visitor: &mut impl Visitor,
    ) {
        ended.report(self, visitor);
        visitor.wakeup(self, times, waker);
        visitor.state_begin(self, times.0, next);
    }
}

/// The intervals that an event ended: at most an unknown one, and the one that it is about.
#[derive(Default)]
struct Ended([Option<Interval>; 2]);

impl Ended {
    fn push(&mut self, interval: Interval) {
        if let Some(place) = self.0.iter_mut().find(|place| place.is_none()) {
            *place = Some(interval);
        }
    }

    fn report(&self, task: &Task, visitor: &mut impl Visitor) {
        for interval in self.0.iter().flatten() {
            visitor.state_end(task, interval);
        }
    }
}
