// SPDX-License-Identifier: MIT OR Apache-2.0

//! A task: its states and its open calls.

use crate::recording::{
    Blocked,
    CallId,
    CallTimes,
    TaskName, //
};

use super::{
    calls::{
        Call,
        Ending,
        OpenCall, //
    },
    split::Split,
    states::{
        Interval,
        State,
        States, //
    },
    Visitor, //
};

/// Identifies a task: a thread id, or the idle task of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(i64);

impl TaskId {
    /// Creates the id of the task `pid`, which is on `cpu` if it is an idle task.
    pub fn new(pid: i32, cpu: usize) -> Self {
        match pid {
            0 => Self(-1 - i64::try_from(cpu).unwrap_or(0)),
            _ => Self(pid.into()),
        }
    }

    /// Returns the thread id; 0 for idle tasks.
    pub fn pid(self) -> i32 {
        i32::try_from(self.0.max(0)).unwrap_or(0)
    }

    /// Returns the CPU of an idle task.
    pub fn idle_cpu(self) -> Option<usize> {
        usize::try_from(-1 - self.0).ok()
    }
}

/// A task.
#[derive(Debug)]
pub struct Task {
    id: TaskId,
    pub(super) name: TaskName,
    pub(super) prio: i32,
    pub(super) cpu: usize,
    pub(super) states: States,
    pub(super) calls: Vec<OpenCall>,
    /// The end of the latest call that has no caller.
    floor: u64,
    /// The time of its latest event.
    pub(super) last: u64,
    /// Whether this is its renaming, after which a filter by name may not select it.
    pub(super) is_renamed: bool,
    pub(super) times: Option<CallTimes>,
}

impl Task {
    pub(super) fn new(id: TaskId, name: TaskName, first: u64) -> Self {
        Self {
            id,
            name,
            prio: 120,
            cpu: 0,
            states: States::new(first),
            calls: Vec::new(),
            floor: 0,
            last: first,
            is_renamed: false,
            times: None,
        }
    }

    /// Returns what identifies the task.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Returns its thread id and its current name.
    pub fn name(&self) -> TaskName {
        self.name
    }

    /// Returns its priority as the scheduler's events show it.
    pub fn prio(&self) -> i32 {
        self.prio
    }

    /// Returns the CPU that its latest event names.
    pub fn cpu(&self) -> usize {
        self.cpu
    }

    /// Returns the calls that it is in, the outermost first.
    pub fn calls(&self) -> &[OpenCall] {
        &self.calls
    }

    /// Returns its current state.
    pub fn state(&self) -> Option<State> {
        self.states.current()
    }

    /// Returns whether it has ended and has no open calls.
    pub(super) fn is_over(&self) -> bool {
        self.states.is_dead() && self.calls.is_empty()
    }

    /// Records of `cpu` were lost before `time`: calls may have returned.
    pub(super) fn lost(&mut self, cpu: usize, time: u64) {
        self.states.doubt();
        if self.cpu == cpu {
            self.times = None;
            for call in &mut self.calls {
                call.lost.get_or_insert(time);
            }
        }
    }

    /// Begins a call at `start`. The last call of this depth must have returned.
    pub(super) fn begin(&mut self, id: CallId, start: u64, visitor: &mut impl Visitor) {
        while let Some(last) = self.calls.last() {
            if last.id.depth < id.depth {
                break;
            }
            let at = last.lost.unwrap_or(start);
            self.end_last(at, Ending::Lost, visitor);
        }
        let start = start.max(self.floor());
        let call = OpenCall {
            id,
            start,
            callees: Split::default(),
            before: self.states.sum,
            states_known: self.states.are_known(),
            floor: start,
            lost: None,
        };
        self.calls.push(call);
        visitor.call_begin(self, &call);
    }

    fn floor(&self) -> u64 {
        self.calls.last().map_or(self.floor, |call| call.floor)
    }

    /// Ends a call that returned after `ns`, at about `time`.
    pub(super) fn end(&mut self, id: CallId, ns: u64, time: u64, visitor: &mut impl Visitor) {
        let times = self.times.take().filter(|times| times.call == id);
        match self.calls.iter().rposition(|call| call.id == id) {
            Some(position) => {
                while self.calls.len() > position + 1 {
                    self.end_last(time, Ending::Lost, visitor);
                }
            }
            // Its beginning was lost.
            None => self.begin(id, time.saturating_sub(ns), visitor),
        }
        let Some(call) = self.calls.pop() else {
            return;
        };
        let split = match &times {
            Some(times) if times.run_ns | times.wait_ns | times.block_ns != 0 => {
                Split::new(ns, times.wait_ns, times.block_ns)
            }
            _ => self.computed(&call, ns),
        };
        let end = call.start.saturating_add(ns).max(call.floor);
        let switches = times.map_or(0, |times| times.switches);
        let blocked = times.map(|times| times.blocked);
        let blocked = blocked.filter(|_| split.block != 0);
        self.ended(
            &call,
            end,
            split,
            Ending::Returned,
            switches,
            blocked,
            visitor,
        );
    }

    /// Divides the duration of a call by the states of the task in it.
    fn computed(&self, call: &OpenCall, ns: u64) -> Split {
        if !call.states_known {
            return Split::new(ns, 0, 0);
        }
        let off = self.states.sum - call.before;
        Split::new(ns, off.wait, off.block)
    }

    fn end_last(&mut self, time: u64, ending: Ending, visitor: &mut impl Visitor) {
        if let Some(call) = self.calls.pop() {
            let end = time.max(call.floor);
            let split = self.computed(&call, end - call.start);
            self.ended(&call, end, split, ending, 0, None, visitor);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all parts of a call")]
    fn ended(
        &mut self,
        call: &OpenCall,
        end: u64,
        split: Split,
        ending: Ending,
        switches: u32,
        blocked: Option<Blocked>,
        visitor: &mut impl Visitor,
    ) {
        match self.calls.last_mut() {
            Some(caller) => {
                caller.callees += split;
                caller.floor = end;
            }
            None => self.floor = end,
        }
        let ended = Call {
            func: call.id.func,
            start: call.start,
            end,
            split,
            own: split - call.callees,
            switches,
            blocked,
            ending,
        };
        visitor.call_end(self, &ended);
    }

    /// Its state is not known any more since its latest event.
    pub(super) fn lose(&mut self, visitor: &mut impl Visitor) {
        let mut ended: Option<Interval> = None;
        let at = self
            .states
            .lose(self.last, |interval| ended = Some(interval));
        if let Some(interval) = ended {
            visitor.state_end(self, &interval);
        }
        if let Some(at) = at {
            visitor.state_begin(self, at, State::Unknown);
        }
    }

    /// Ends the current state and all calls at `time`. Without states, it is not known whether the
    /// task has run since its latest event, or whether it still exists: its calls end there.
    pub(super) fn finish(&mut self, time: u64, visitor: &mut impl Visitor) {
        let end = match self.states.are_known() {
            true => time,
            false => self.last,
        };
        if self.is_renamed {
            self.lose(visitor);
        }
        let mut ended: Option<Interval> = None;
        self.states.finish(time, |interval| ended = Some(interval));
        if let Some(interval) = ended {
            visitor.state_end(self, &interval);
        }
        self.end_calls(end, visitor);
    }

    /// Ends all calls at `time`, when the recording or the task ends: they have not returned.
    pub(super) fn end_calls(&mut self, time: u64, visitor: &mut impl Visitor) {
        while let Some(last) = self.calls.last() {
            match last.lost {
                Some(at) => self.end_last(at, Ending::Lost, visitor),
                None => self.end_last(time, Ending::Open, visitor),
            }
        }
    }
}
