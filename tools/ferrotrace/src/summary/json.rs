// SPDX-License-Identifier: MIT OR Apache-2.0

//! The summary as JSON. `docs/reference/json.md` describes it; adding members is compatible.

use std::io;

use serde::Serialize;

use super::{
    chains::ChainSums,
    collect::Summary,
    sections::SectionSums, //
};
use crate::{
    model::{
        Split,
        Step,
        Sum,
        Was, //
    },
    recording::{
        context_name,
        state_name,
        TaskName, //
    },
};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    duration_ns: u64,
    events: u64,
    lost: Lost,
    times_of_tasks: &'static str,
    tasks: Vec<Task>,
    functions: Vec<Function<'a>>,
    blocked: Vec<Blocked<'a>>,
    waited_behind: Vec<OfTask>,
    interrupts: Vec<OfTask>,
    chains: Vec<Chain<'a>>,
    sections: Vec<Section<'a>>,
    triggers: Vec<Trigger<'a>>,
}

#[derive(Serialize)]
struct Lost {
    losses: u64,
    records: u64,
    losses_of_unknown_size: u64,
}

#[derive(Serialize)]
struct Times {
    total_ns: u64,
    run_ns: u64,
    wait_ns: u64,
    block_ns: u64,
}

impl Times {
    fn new(split: &Split) -> Self {
        Self {
            total_ns: split.wall(),
            run_ns: split.run,
            wait_ns: split.wait,
            block_ns: split.block,
        }
    }
}

#[derive(Serialize)]
struct Task {
    pid: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_cpu: Option<usize>,
    comm: String,
    #[serde(flatten)]
    times: Times,
    unknown_ns: u64,
    calls: u64,
    in_calls: Times,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    calls: u64,
    unfinished: u64,
    #[serde(flatten)]
    times: Times,
    #[serde(rename = "self")]
    own: Times,
    max_ns: u64,
}

#[derive(Serialize)]
struct Intervals {
    count: u64,
    total_ns: u64,
    max_ns: u64,
}

impl Intervals {
    fn new(sum: &Sum) -> Self {
        Self {
            count: sum.count,
            total_ns: sum.total,
            max_ns: sum.max,
        }
    }
}

#[derive(Serialize)]
struct Blocked<'a> {
    function: Option<&'a str>,
    state: &'static str,
    waker_context: &'static str,
    waker_pid: Option<i32>,
    waker_comm: Option<String>,
    #[serde(flatten)]
    intervals: Intervals,
}

#[derive(Serialize)]
struct OfTask {
    pid: i32,
    comm: String,
    #[serde(flatten)]
    intervals: Intervals,
}

#[derive(Serialize)]
struct Chain<'a> {
    comm: String,
    chain: String,
    wakers: Vec<Link<'a>>,
    #[serde(flatten)]
    intervals: Intervals,
}

impl<'a> Chain<'a> {
    fn new(chain: &ChainSums, names: &'a [String]) -> Self {
        Self {
            comm: chain.comm.to_string(),
            chain: chain.text(names),
            wakers: chain
                .steps
                .iter()
                .map(|step| Link::new(step, names))
                .collect(),
            intervals: Intervals::new(&chain.sum),
        }
    }
}

#[derive(Serialize)]
struct Link<'a> {
    waker_comm: Option<String>,
    waker_context: &'static str,
    blocked: Option<bool>,
    function: Option<&'a str>,
}

impl<'a> Link<'a> {
    fn new(step: &Step, names: &'a [String]) -> Self {
        Self {
            waker_comm: (step.context == 0).then(|| step.comm.to_string()),
            waker_context: context_name(step.context),
            blocked: match step.was {
                Was::Blocked(_) => Some(true),
                Was::Awake => Some(false),
                Was::Unknown => None,
            },
            function: match step.was {
                Was::Blocked(Some(func)) => names.get(func.index()).map(String::as_str),
                _ => None,
            },
        }
    }
}

#[derive(Serialize)]
struct Section<'a> {
    comm: String,
    name: &'a str,
    kind: &'static str,
    #[serde(flatten)]
    intervals: Intervals,
    run_ns: Option<u64>,
    wait_ns: Option<u64>,
    block_ns: Option<u64>,
}

impl<'a> Section<'a> {
    fn new(sums: &'a SectionSums) -> Self {
        Self {
            comm: sums.comm.to_string(),
            name: &sums.name,
            kind: if sums.split.is_some() {
                "sync"
            } else {
                "async"
            },
            intervals: Intervals {
                count: sums.count,
                total_ns: sums.total,
                max_ns: sums.max,
            },
            run_ns: sums.split.map(|split| split.run),
            wait_ns: sums.split.map(|split| split.wait),
            block_ns: sums.split.map(|split| split.block),
        }
    }
}

#[derive(Serialize)]
struct Trigger<'a> {
    time_ns: u64,
    pid: i32,
    comm: String,
    rule: u32,
    value: i64,
    text: &'a str,
}

impl<'a> Trigger<'a> {
    fn new(trigger: &'a super::Trigger) -> Self {
        Self {
            time_ns: trigger.time,
            pid: trigger.task.pid,
            comm: trigger.task.comm.to_string(),
            rule: trigger.rule,
            value: trigger.value,
            text: &trigger.text,
        }
    }
}

/// Writes the summary.
pub fn write(out: &mut impl io::Write, summary: &Summary, names: &[String]) -> io::Result<()> {
    let name = |index: usize| names.get(index).map_or("?", String::as_str);
    let tasks = summary.tasks.iter().map(|task| Task {
        pid: task.name.pid,
        idle_cpu: task.idle_cpu,
        comm: task.name.comm.to_string(),
        times: Times::new(&task.split),
        unknown_ns: task.unknown,
        calls: task.calls,
        in_calls: Times::new(&task.in_calls),
    });
    let functions = summary.functions.iter().map(|(index, func)| Function {
        name: name(*index),
        calls: func.calls,
        unfinished: func.unfinished,
        times: Times::new(&func.total),
        own: Times::new(&func.own),
        max_ns: func.max,
    });
    let blocked = summary.blocked.iter().map(|(place, sum)| {
        let task = (place.waker.context == 0).then_some(place.waker.task);
        Blocked {
            function: place.caller.map(|func| name(func.index())),
            state: state_name(place.state),
            waker_context: place.waker.context_name(),
            waker_pid: task.map(|task| task.pid),
            waker_comm: task.map(|task| task.comm.to_string()),
            intervals: Intervals::new(sum),
        }
    });
    let of_task = |(task, sum): &(TaskName, Sum)| OfTask {
        pid: task.pid,
        comm: task.comm.to_string(),
        intervals: Intervals::new(sum),
    };
    let chains = summary.chains.iter();
    let chains = chains.map(|chain| Chain::new(chain, names));
    let document = Document {
        schema: "ferrotrace-summary-1",
        duration_ns: summary.duration,
        events: summary.events,
        lost: Lost {
            losses: summary.losses,
            records: summary.lost,
            losses_of_unknown_size: summary.unknown_losses,
        },
        times_of_tasks: match summary.has_states {
            true => "events",
            false => "calls",
        },
        tasks: tasks.collect(),
        functions: functions.collect(),
        blocked: blocked.collect(),
        waited_behind: summary.behind.iter().map(of_task).collect(),
        interrupts: summary.interrupts.iter().map(of_task).collect(),
        chains: chains.collect(),
        sections: summary.sections.iter().map(Section::new).collect(),
        triggers: summary.triggers.iter().map(Trigger::new).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
