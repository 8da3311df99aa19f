// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows of the tables, with the same numbers as `ferrotrace summary`.

use std::cmp::Reverse;

use super::{
    collect::Details,
    longest::LongCall,
    text::{
        behind_name,
        name_of,
        task_name,
        waker_name, //
    },
};
use crate::{
    model::{
        Ending,
        Split,
        Sum, //
    },
    recording::state_name,
    summary::{
        FuncSums,
        Ms,
        Percent,
        SectionSums,
        Summary,
        TaskSums,
        Trigger, //
    },
};

/// A time in ns, which is shown in ms.
#[derive(Clone, Copy)]
pub struct Ns(pub u64);

impl Ns {
    /// Returns the text.
    pub fn ms(&self) -> Ms {
        Ms(self.0)
    }
}

/// A time, divided, as numbers and as a bar.
pub struct Times {
    pub total: Ns,
    pub run: Ns,
    pub wait: Ns,
    pub block: Ns,
    /// The time that the bar shows.
    whole: u64,
}

impl Times {
    pub fn new(split: &Split, unknown: u64) -> Self {
        Self {
            total: Ns(split.wall()),
            run: Ns(split.run),
            wait: Ns(split.wait),
            block: Ns(split.block),
            whole: split.wall().saturating_add(unknown),
        }
    }

    /// Returns a part of the time in percent.
    pub fn percent(&self, part: &Ns) -> Percent {
        Percent(part.0, self.whole)
    }
}

/// A task.
pub struct TaskRow {
    pub name: String,
    pub times: Times,
    pub unknown: Ns,
    pub calls: u64,
    pub in_calls: Ns,
}

impl TaskRow {
    fn new(task: &TaskSums) -> Self {
        Self {
            name: name_of(task),
            times: Times::new(&task.split, task.unknown),
            unknown: Ns(task.unknown),
            calls: task.calls,
            in_calls: Ns(task.in_calls.wall()),
        }
    }
}

/// A function.
pub struct FunctionRow<'a> {
    pub name: &'a str,
    pub calls: u64,
    pub unfinished: u64,
    pub times: Times,
    pub own: Ns,
    pub max: Ns,
}

/// Where tasks were blocked.
pub struct BlockedRow<'a> {
    pub function: &'a str,
    pub state: &'static str,
    pub waker: String,
    pub sum: SumRow,
}

/// A chain of wakeups.
pub struct ChainRow {
    pub task: String,
    pub chain: String,
    pub sum: SumRow,
}

/// The task that had the CPU while others waited.
pub struct BehindRow {
    pub name: String,
    pub sum: SumRow,
}

/// The sum of some intervals.
pub struct SumRow {
    pub count: u64,
    pub total: Ns,
    pub mean: Ns,
    pub max: Ns,
}

impl SumRow {
    fn new(sum: &Sum) -> Self {
        Self {
            count: sum.count,
            total: Ns(sum.total),
            mean: Ns(sum.total / sum.count.max(1)),
            max: Ns(sum.max),
        }
    }
}

/// A long call.
pub struct CallRow<'a> {
    pub function: &'a str,
    pub callers: String,
    pub task: String,
    pub start: Ns,
    pub times: Times,
    pub own: Ns,
    pub reason: String,
}

/// The sections of one name.
pub struct SectionRow<'a> {
    pub name: &'a str,
    pub task: String,
    pub total: Ns,
    /// The parts of the total, unless the sections are asynchronous.
    pub times: Option<Times>,
    pub mean: Ns,
    pub max: Ns,
    pub count: u64,
}

impl<'a> SectionRow<'a> {
    fn new(sums: &'a SectionSums) -> Self {
        Self {
            name: &sums.name,
            task: sums.comm.to_string(),
            total: Ns(sums.total),
            times: sums.split.map(|split| Times::new(&split, 0)),
            mean: Ns(sums.total / sums.count.max(1)),
            max: Ns(sums.max),
            count: sums.count,
        }
    }
}

/// A trigger that fired.
pub struct TriggerRow<'a> {
    pub at: Ns,
    pub task: String,
    pub text: &'a str,
    pub value: i64,
}

/// The rows of a table, and how many others are left out.
pub struct Table<T> {
    pub rows: Vec<T>,
    pub rest: usize,
}

impl<T> Table<T> {
    fn new<R>(all: &[R], limit: usize, row: impl Fn(&R) -> T) -> Self {
        Self {
            rows: all.iter().take(limit).map(row).collect(),
            rest: all.len().saturating_sub(limit),
        }
    }
}

/// Makes rows. `names` are the names of functions.
pub struct Rows<'a> {
    pub summary: &'a Summary,
    pub details: &'a Details,
    pub names: &'a [String],
    pub limit: usize,
}

impl<'a> Rows<'a> {
    /// Returns the name of a function.
    pub fn function(&self, index: usize) -> &'a str {
        self.names.get(index).map_or("?", String::as_str)
    }

    /// Returns the tasks.
    pub fn tasks(&self) -> Table<TaskRow> {
        Table::new(&self.summary.tasks, self.limit, TaskRow::new)
    }

    /// Returns the functions with the largest numbers in any column.
    pub fn functions(&self) -> Table<FunctionRow<'a>> {
        let all = &self.summary.functions;
        let mut chosen = vec![false; all.len()];
        let keys: [fn(&FuncSums) -> u64; 7] = [
            |func| func.total.wall(),
            |func| func.total.run,
            |func| func.total.wait,
            |func| func.total.block,
            |func| func.own.wall(),
            |func| func.max,
            |func| func.calls,
        ];
        for key in keys {
            let mut order: Vec<_> = (0..all.len()).collect();
            order.sort_by_key(|&at| Reverse(key(&all[at].1)));
            for at in order.into_iter().take(self.limit) {
                chosen[at] = true;
            }
        }
        let rows: Vec<_> = all
            .iter()
            .zip(chosen)
            .filter(|(_, chosen)| *chosen)
            .map(|((index, func), _)| FunctionRow {
                name: self.function(*index),
                calls: func.calls,
                unfinished: func.unfinished,
                times: Times::new(&func.total, 0),
                own: Ns(func.own.wall()),
                max: Ns(func.max),
            })
            .collect();
        let rest = all.len() - rows.len();
        Table { rows, rest }
    }

    /// Returns the places where tasks were blocked.
    pub fn blocked(&self) -> Table<BlockedRow<'a>> {
        Table::new(&self.summary.blocked, self.limit, |(place, sum)| {
            let caller = place.caller.map(|func| self.function(func.index()));
            BlockedRow {
                function: caller.unwrap_or("?"),
                state: state_name(place.state),
                waker: waker_name(&place.waker),
                sum: SumRow::new(sum),
            }
        })
    }

    /// Returns the chains of wakeups.
    pub fn chains(&self) -> Table<ChainRow> {
        Table::new(&self.summary.chains, self.limit, |chain| ChainRow {
            task: chain.comm.to_string(),
            chain: chain.text(self.names),
            sum: SumRow::new(&chain.sum),
        })
    }

    /// Returns the tasks behind which others waited.
    pub fn behind(&self) -> Table<BehindRow> {
        Table::new(&self.summary.behind, self.limit, |(task, sum)| BehindRow {
            name: behind_name(*task),
            sum: SumRow::new(sum),
        })
    }

    /// Returns the sections that programs marked.
    pub fn sections(&self) -> Table<SectionRow<'a>> {
        let sections: &'a [SectionSums] = &self.summary.sections;
        Table {
            rows: sections
                .iter()
                .take(self.limit)
                .map(SectionRow::new)
                .collect(),
            rest: sections.len().saturating_sub(self.limit),
        }
    }

    /// Returns the triggers that fired.
    pub fn triggers(&self) -> Table<TriggerRow<'a>> {
        let triggers: &'a [Trigger] = &self.summary.triggers;
        let row = |trigger: &'a Trigger| TriggerRow {
            at: Ns(self.details.since_begin(trigger.time)),
            task: task_name(trigger.task, None),
            text: &trigger.text,
            value: trigger.value,
        };
        Table {
            rows: triggers.iter().take(self.limit).map(row).collect(),
            rest: triggers.len().saturating_sub(self.limit),
        }
    }

    /// Returns the longest calls.
    pub fn longest(&self) -> Vec<CallRow<'a>> {
        let calls = self.details.longest().calls().iter();
        calls.map(|call| self.call(call)).collect()
    }

    fn call(&self, long: &LongCall) -> CallRow<'a> {
        let call = &long.call;
        let callers = long.stack.iter().take(long.stack.len() - 1);
        let callers: Vec<_> = callers.map(|func| self.function(func.index())).collect();
        let mut reason = Vec::new();
        if let Some(blocked) = &long.blocked {
            let caller = blocked.caller.map(|func| self.function(func.index()));
            reason.push(format!(
                "blocked in {} ({}), woken by {}",
                caller.unwrap_or("?"),
                state_name(blocked.state),
                waker_name(&blocked.waker)
            ));
        }
        // Less than 5 % of the time is not interesting.
        let waited = call.own.wait.saturating_mul(20) >= call.own.wall();
        if let Some(behind) = long.behind.filter(|_| waited) {
            reason.push(format!("waited behind {}", behind_name(behind)));
        }
        match call.ending {
            Ending::Returned => {}
            Ending::Lost => reason.push("the record of its return was lost".to_owned()),
            Ending::Open => reason.push("had not returned".to_owned()),
        }
        let start = call.end.saturating_sub(call.split.wall());
        CallRow {
            function: self.function(call.func.index()),
            callers: callers.join(" > "),
            task: task_name(long.task, long.idle_cpu),
            start: Ns(self.details.since_begin(start)),
            times: Times::new(&call.split, 0),
            own: Ns(call.own.wall()),
            reason: reason.join("; "),
        }
    }
}
