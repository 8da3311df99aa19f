// SPDX-License-Identifier: MIT OR Apache-2.0

//! Collects what the page shows and the summary does not have. The size of all of it is limited by
//! the number of tasks and functions, not by the length of the recording.

use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;

use super::{
    longest::{
        Longest,
        Reason, //
    },
    series::Series, //
};
use crate::{
    model::{
        Call,
        Detail,
        Interval,
        Place,
        Split,
        State,
        Sum,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        Blocked,
        FuncId,
        TaskName,
        Waker, //
    },
};

/// The maximum number of wakers, and of tasks with the CPU, that are distinguished for a task.
const REASONS: usize = 256;
/// The number of significant decimal digits of durations in histograms.
const DIGITS: u8 = 2;

/// The details of one task.
#[derive(Default)]
pub struct TaskDetails {
    /// Its states over time.
    states: Series,
    /// Its outermost calls over time, if no states were recorded.
    calls: Series,
    /// Where it was blocked.
    blocked: Reasons<Place>,
    /// Behind which tasks it waited.
    behind: Reasons<TaskName>,
    /// The end of its last blocked interval, and how it was blocked.
    last_blocked: Option<(u64, Blocked)>,
    /// The end of its last interval waiting for a CPU, and the task that had the CPU.
    last_behind: Option<(u64, TaskName)>,
}

impl TaskDetails {
    /// Returns its times over time: those of its states, if states were recorded.
    pub fn series(&self, has_states: bool) -> &Series {
        match has_states {
            true => &self.states,
            false => &self.calls,
        }
    }

    /// Returns why it was off the CPU in a call that began at `start`.
    fn reason(&self, call: &Call, start: u64) -> Reason {
        let blocked = self.last_blocked.filter(|(end, _)| *end > start);
        let blocked = blocked.filter(|_| call.own.block != 0);
        let behind = self.last_behind.filter(|(end, _)| *end > start);
        let behind = behind.filter(|_| call.own.wait != 0);
        Reason {
            blocked: blocked.map(|(_, blocked)| blocked),
            behind: behind.map(|(_, task)| task),
        }
    }

    /// Returns the function in which it was blocked for the longest time in ns, and this time.
    pub fn longest_block(&self) -> Option<(Option<FuncId>, u64)> {
        let mut sums: FxHashMap<Option<FuncId>, u64> = FxHashMap::default();
        for (place, sum) in &self.blocked.sums {
            *sums.entry(place.caller).or_default() += sum.total;
        }
        sums.into_iter()
            .max_by_key(|(caller, total)| (*total, *caller))
    }

    /// Returns the waker that ended most of the time blocked in a function, and this time in ns.
    pub fn main_waker(&self, caller: Option<FuncId>) -> Option<(Waker, u64)> {
        let sums = self.blocked.sums.iter();
        let mut by_waker: FxHashMap<Waker, u64> = FxHashMap::default();
        for (place, sum) in sums.filter(|(place, _)| place.caller == caller) {
            *by_waker.entry(place.waker).or_default() += sum.total;
        }
        by_waker
            .into_iter()
            .max_by_key(|(waker, total)| (*total, waker.task.pid, waker.context))
    }

    /// Returns the task behind which it waited longest, and this time in ns.
    pub fn longest_wait(&self) -> Option<(TaskName, u64)> {
        let sums = self.behind.sums.iter();
        sums.map(|(task, sum)| (*task, sum.total))
            .max_by_key(|(task, total)| (*total, task.pid))
    }
}

/// Sums by their reasons. Those for which there is no space are left out.
struct Reasons<K> {
    sums: FxHashMap<K, Sum>,
}

impl<K> Default for Reasons<K> {
    fn default() -> Self {
        let sums = FxHashMap::default();
        Self { sums }
    }
}

impl<K: std::hash::Hash + Eq> Reasons<K> {
    fn add(&mut self, key: K, ns: u64) {
        if self.sums.len() < REASONS || self.sums.contains_key(&key) {
            self.sums.entry(key).or_default().add(ns);
        }
    }
}

/// The details of a recording.
#[derive(Default)]
pub struct Details {
    /// The time of the first event.
    first: Option<u64>,
    has_states: bool,
    tasks: FxHashMap<TaskId, TaskDetails>,
    /// The durations of calls in ns, by function.
    durations: Vec<Option<Histogram<u32>>>,
    longest: Longest,
}

impl Details {
    /// Sets the beginning of the recording, unless an earlier event did.
    pub fn begin(&mut self, time: u64) {
        self.first.get_or_insert(time);
    }

    /// Returns the time of a call or an interval, in ns since the beginning of the recording.
    pub fn since_begin(&self, time: u64) -> u64 {
        time.saturating_sub(self.first.unwrap_or(time))
    }

    /// Returns the details of a task.
    pub fn task(&self, id: TaskId) -> Option<&TaskDetails> {
        self.tasks.get(&id)
    }

    /// Returns the durations in ns of the calls of a function.
    pub fn durations(&self, function: usize) -> Option<&Histogram<u32>> {
        self.durations.get(function)?.as_ref()
    }

    /// Returns the longest calls.
    pub fn longest(&self) -> &Longest {
        &self.longest
    }

    fn add_duration(&mut self, func: FuncId, ns: u64) {
        let index = func.index();
        if self.durations.len() <= index {
            self.durations.resize_with(index + 1, || None);
        }
        let durations = &mut self.durations[index];
        if durations.is_none() {
            // Creating it fails only if the number of digits is more than five.
            *durations = Histogram::new(DIGITS).ok();
        }
        if let Some(durations) = durations {
            // It grows as needed: only memory limits it.
            let _ = durations.record(ns);
        }
    }
}

impl Visitor for Details {
    fn state_begin(&mut self, task: &Task, _at: u64, state: State) {
        if state == State::Dead {
            if let Some(details) = self.tasks.get_mut(&task.id()) {
                details.last_blocked = None;
                details.last_behind = None;
            }
        }
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        self.has_states = true;
        let (start, end) = (
            self.since_begin(interval.start),
            self.since_begin(interval.end),
        );
        let ns = interval.ns();
        let split = match interval.state {
            State::Run { .. } => Split::new(ns, 0, 0),
            State::Wait { .. } => Split::new(ns, ns, 0),
            State::Block { .. } => Split::new(ns, 0, ns),
            State::Dead | State::Unknown => Split::default(),
        };
        let details = self.tasks.entry(task.id()).or_default();
        details.states.add(start, end, &split);
        match &interval.detail {
            Detail::Blocked(blocked) => {
                details.blocked.add(Place::new(blocked), ns);
                details.last_blocked = Some((interval.end, *blocked));
            }
            Detail::Behind(prev, _) => {
                details.behind.add(*prev, ns);
                details.last_behind = Some((interval.end, *prev));
            }
            Detail::None | Detail::Left(_) => {}
        }
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let wall = call.split.wall();
        self.add_duration(call.func, wall);
        let start = call.end.saturating_sub(wall);
        let details = self.tasks.get(&task.id());
        self.longest.offer(task, call, || {
            details.map_or_else(Reason::default, |details| details.reason(call, start))
        });
        if self.has_states {
            return;
        }
        let (start, end) = (self.since_begin(start), self.since_begin(call.end));
        let details = self.tasks.entry(task.id()).or_default();
        if task.calls().is_empty() {
            details.calls.add(start, end, &call.split);
        }
        if let Some(blocked) = call.blocked.as_ref().filter(|_| call.own.block != 0) {
            details.blocked.add(Place::new(blocked), call.own.block);
        }
    }
}
