// SPDX-License-Identifier: MIT OR Apache-2.0

//! Adds up what the model finds.

use rustc_hash::FxHashMap;

use crate::{
    model::{
        Call,
        Chain,
        Detail,
        Ending,
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
        Event,
        Kind,
        TaskName, //
    },
};

use super::{
    chains::{
        ChainSums,
        Chains, //
    },
    sections::{
        SectionSums,
        Sections,
        Trigger, //
    },
    Sort, //
};

/// The sums of a task.
#[derive(Clone, Debug)]
pub struct TaskSums {
    /// The task, with its last name.
    pub name: TaskName,
    /// The CPU of an idle task.
    pub idle_cpu: Option<usize>,
    /// Its time by its states; or that of its outermost calls, if its events were not recorded.
    pub split: Split,
    /// Its time whose state is not known.
    pub unknown: u64,
    /// The time of its outermost calls.
    pub in_calls: Split,
    /// The number of its calls.
    pub calls: u64,
}

/// The sums of a function.
#[derive(Clone, Debug, Default)]
pub struct FuncSums {
    /// The number of calls.
    pub calls: u64,
    /// How many of them had not returned, or their return was lost.
    pub unfinished: u64,
    /// Their time; that of a recursive call is in that of its caller.
    pub total: Split,
    /// Their time without callees that were recorded.
    pub own: Split,
    /// The longest call.
    pub max: u64,
}

/// The sums of a recording.
#[derive(Default)]
pub struct Summary {
    /// The number of events.
    pub events: u64,
    /// How many records were lost, as far as it is known.
    pub lost: u64,
    /// How often records were lost.
    pub losses: u64,
    /// How many of these losses have no known number of records.
    pub unknown_losses: u64,
    /// The duration of the recording.
    pub duration: u64,
    /// Whether the states of tasks were recorded.
    pub has_states: bool,
    /// The tasks, sorted.
    pub tasks: Vec<TaskSums>,
    /// The functions that were called, sorted.
    pub functions: Vec<(usize, FuncSums)>,
    /// Where tasks were blocked, sorted by time.
    pub blocked: Vec<(Place, Sum)>,
    /// The tasks that had the CPU while others waited, sorted by time.
    pub behind: Vec<(TaskName, Sum)>,
    /// The time of interrupts on top of tasks while they ran, sorted by time; the intervals are
    /// those in which a task had a CPU. Empty if it was not measured.
    pub interrupts: Vec<(TaskName, Sum)>,
    /// The chains of wakeups, sorted by time.
    pub chains: Vec<ChainSums>,
    /// The sections that programs marked, sorted.
    pub sections: Vec<SectionSums>,
    /// The triggers that fired, in the order of their times.
    pub triggers: Vec<Trigger>,
    by_task: FxHashMap<TaskId, TaskSums>,
    by_func: Vec<FuncSums>,
    by_place: FxHashMap<Place, Sum>,
    by_call_place: FxHashMap<Place, Sum>,
    by_prev: FxHashMap<TaskName, Sum>,
    by_interrupted: FxHashMap<TaskName, Sum>,
    by_chain: Chains,
    by_section: Sections,
}

impl Summary {
    /// Counts an event.
    pub fn count(&mut self, event: &Event<'_>) {
        if let Kind::Lost { records } = event.kind {
            self.losses += 1;
            self.lost += records.unwrap_or(0);
            self.unknown_losses += u64::from(records.is_none());
        } else {
            self.events += 1;
        }
    }

    /// Adds a section that ended, or a trigger that fired.
    pub fn mark(&mut self, event: &Event<'_>) {
        self.by_section.add(event);
        self.triggers.extend(Trigger::of(event));
    }

    /// Adds the time of interrupts, in ns, in an interval in which the task had a CPU.
    pub fn interrupt(&mut self, task: TaskName, irq_ns: u64) {
        if irq_ns != 0 {
            self.by_interrupted.entry(task).or_default().add(irq_ns);
        }
    }

    /// Sorts all tables. `span` is the time of the recording.
    pub fn finish(&mut self, (first, last): (u64, u64), sort: Sort) {
        self.duration = last - first;
        self.tasks = self.by_task.drain().map(|(_, task)| task).collect();
        for task in &mut self.tasks {
            if !self.has_states {
                task.split = task.in_calls;
            }
        }
        self.tasks.sort_by_key(|task| {
            (
                std::cmp::Reverse(sort.key(&task.split, &task.split)),
                task.name.pid,
            )
        });
        let functions = self.by_func.drain(..).enumerate();
        self.functions = functions.filter(|(_, func)| func.calls != 0).collect();
        self.functions
            .sort_by_key(|(_, func)| std::cmp::Reverse(sort.key(&func.total, &func.own)));
        let places = match self.has_states {
            true => &mut self.by_place,
            false => &mut self.by_call_place,
        };
        self.blocked = places.drain().collect();
        self.blocked.sort_by_key(|(place, sum)| {
            let pid = place.waker.task.pid;
            (
                std::cmp::Reverse(sum.total),
                place.caller,
                pid,
                place.waker.context,
            )
        });
        self.behind = self.by_prev.drain().collect();
        self.behind
            .sort_by_key(|(task, sum)| (std::cmp::Reverse(sum.total), task.pid));
        self.interrupts = self.by_interrupted.drain().collect();
        self.interrupts
            .sort_by_key(|(task, sum)| (std::cmp::Reverse(sum.total), task.pid));
        self.chains = self.by_chain.take();
        self.sections = self.by_section.take(sort);
    }

    fn task(&mut self, task: &Task) -> &mut TaskSums {
        let sums = self.by_task.entry(task.id()).or_insert_with(|| TaskSums {
            name: task.name(),
            idle_cpu: task.id().idle_cpu(),
            split: Split::default(),
            unknown: 0,
            in_calls: Split::default(),
            calls: 0,
        });
        sums.name = task.name();
        sums
    }
}

impl Visitor for Summary {
    fn state_end(&mut self, task: &Task, interval: &Interval) {
        self.has_states = true;
        let ns = interval.ns();
        let sums = self.task(task);
        match interval.state {
            State::Run { .. } => sums.split.run += ns,
            State::Wait { .. } => sums.split.wait += ns,
            State::Block { .. } => sums.split.block += ns,
            State::Unknown => sums.unknown += ns,
            State::Dead => {}
        }
        match &interval.detail {
            Detail::Blocked(blocked) => self
                .by_place
                .entry(Place::new(blocked))
                .or_default()
                .add(ns),
            Detail::Behind(prev, _) => self.by_prev.entry(*prev).or_default().add(ns),
            Detail::None | Detail::Left(_) => {}
        }
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let sums = self.task(task);
        sums.calls += 1;
        if task.calls().is_empty() {
            sums.in_calls += call.split;
        }
        let index = call.func.index();
        if self.by_func.len() <= index {
            self.by_func.resize_with(index + 1, FuncSums::default);
        }
        let func = &mut self.by_func[index];
        func.calls += 1;
        func.unfinished += u64::from(call.ending != Ending::Returned);
        func.max = func.max.max(call.split.wall());
        func.own += call.own;
        if !task
            .calls()
            .iter()
            .any(|caller| caller.id.func == call.func)
        {
            func.total += call.split;
        }
        if let Some(blocked) = &call.blocked {
            if call.own.block != 0 {
                let sum = self.by_call_place.entry(Place::new(blocked)).or_default();
                sum.add(call.own.block);
            }
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.by_chain.add(chain);
    }
}
