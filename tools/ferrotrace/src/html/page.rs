// SPDX-License-Identifier: MIT OR Apache-2.0

//! The page: the content for the template `templates/html/page.html`.

use std::{
    cmp::Reverse,
    ops::Range,
    path::Path, //
};

use askama::Template;
use hdrhistogram::Histogram;

use super::{
    answer::Answer,
    charts::{
        self,
        Moment, //
    },
    collect::Details,
    flames::{
        self,
        Flame, //
    },
    rows::{
        BehindRow,
        BlockedRow,
        CallRow,
        ChainRow,
        FunctionRow,
        Ns,
        Rows,
        SectionRow,
        Table,
        TaskRow,
        TriggerRow, //
    },
    text::{
        name_of,
        Grouped,
        Short, //
    },
};
use crate::{
    flame::Stacks,
    model::TaskId,
    summary::{
        Summary,
        TaskSums, //
    },
};

/// The maximum number of tasks with a chart.
const TASKS: usize = 4;
/// The maximum number of functions with a histogram.
const HISTOGRAMS: usize = 16;

/// The input of the page.
pub struct Input<'a> {
    /// The file of the recording.
    pub file: &'a Path,
    /// The kernel that recorded, if it is known.
    pub kernel: Option<String>,
    /// The number of its CPUs.
    pub cpus: usize,
    /// The selection, unless it is all of the recording.
    pub selected: Option<String>,
    /// The sums.
    pub summary: &'a Summary,
    /// The details that the summary does not have.
    pub details: &'a Details,
    /// The call paths.
    pub stacks: &'a Stacks,
    /// The names of functions.
    pub names: &'a [String],
    /// The maximum number of lines in each table.
    pub limit: usize,
}

/// A task in detail.
pub struct TaskCard {
    pub name: String,
    pub answer: Answer,
    /// An element `svg`.
    pub chart: String,
}

/// The durations of a function.
pub struct DurationRow<'a> {
    pub name: &'a str,
    pub calls: u64,
    pub p50: Ns,
    pub p90: Ns,
    pub p99: Ns,
    pub max: Ns,
    /// An element `svg`.
    pub chart: String,
}

/// The page.
#[derive(Template)]
#[template(path = "html/page.html")]
pub struct Page<'a> {
    file: String,
    facts: Vec<(&'static str, String)>,
    losses: Option<String>,
    has_states: bool,
    cards: Vec<TaskCard>,
    tasks: Table<TaskRow>,
    functions: Table<FunctionRow<'a>>,
    durations: Vec<DurationRow<'a>>,
    blocked: Table<BlockedRow<'a>>,
    chains: Table<ChainRow>,
    behind: Table<BehindRow>,
    longest: Vec<CallRow<'a>>,
    sections: Table<SectionRow<'a>>,
    triggers: Table<TriggerRow<'a>>,
    flames: Vec<Flame>,
}

impl<'a> Page<'a> {
    /// Creates the page.
    ///
    /// # Errors
    ///
    /// If a chart or a flame graph cannot be drawn.
    pub fn new(input: &Input<'a>) -> anyhow::Result<Self> {
        let rows = Rows {
            summary: input.summary,
            details: input.details,
            names: input.names,
            limit: input.limit,
        };
        // The directory has no meaning on another machine.
        let name = input.file.file_name().unwrap_or(input.file.as_os_str());
        let cards = main_tasks(input.summary);
        let triggers = rows.triggers();
        let moments = triggers.rows.iter().map(|row| Moment {
            at: row.at.0,
            title: format!("{}: {}", row.task, row.text),
        });
        let moments: Vec<_> = moments.collect();
        let cards = cards.into_iter().map(|task| card(input, task, &moments));
        Ok(Self {
            file: name.to_string_lossy().into_owned(),
            facts: facts(input),
            losses: losses(input.summary),
            has_states: input.summary.has_states,
            cards: cards.collect::<anyhow::Result<_>>()?,
            tasks: rows.tasks(),
            functions: rows.functions(),
            durations: durations(input, &rows)?,
            blocked: rows.blocked(),
            chains: rows.chains(),
            behind: rows.behind(),
            longest: rows.longest(),
            sections: rows.sections(),
            triggers,
            flames: flames::all(input.stacks, input.names)?,
        })
    }
}

/// Returns what was recorded.
fn facts(input: &Input<'_>) -> Vec<(&'static str, String)> {
    let summary = input.summary;
    let count = |number: usize| Grouped(number as u64).to_string();
    let calls = summary.functions.iter().map(|(_, func)| func.calls).sum();
    let unknown = || "unknown".to_owned();
    let mut facts = vec![
        ("Kernel", input.kernel.clone().unwrap_or_else(unknown)),
        ("CPUs", count(input.cpus)),
        ("Duration", Short(summary.duration).to_string()),
        ("Tasks", count(summary.tasks.len())),
        ("Functions", count(summary.functions.len())),
        ("Calls", Grouped(calls).to_string()),
        ("Events", Grouped(summary.events).to_string()),
    ];
    if let Some(selected) = &input.selected {
        facts.push(("Selection", selected.clone()));
    }
    facts
}

fn losses(summary: &Summary) -> Option<String> {
    if summary.losses == 0 {
        return None;
    }
    let least = match summary.unknown_losses {
        0 => "",
        _ => "at least ",
    };
    Some(format!(
        "Records were lost at {} places, {least}{} records. Times are incomplete: record again \
         with a larger buffer (--buffer), or fewer functions.",
        Grouped(summary.losses),
        Grouped(summary.lost)
    ))
}

/// Returns the tasks that the page shows in detail: those with recorded calls, then by their time
/// on a CPU and waiting for one. A task that only sleeps is less interesting.
fn main_tasks(summary: &Summary) -> Vec<&TaskSums> {
    let mut tasks: Vec<_> = summary.tasks.iter().collect();
    tasks.sort_by_key(|task| {
        let active = task.split.run.saturating_add(task.split.wait);
        let idle = task.idle_cpu.is_some();
        (idle, task.calls == 0, Reverse(active), task.name.pid)
    });
    tasks.truncate(TASKS);
    tasks
}

fn card(input: &Input<'_>, task: &TaskSums, moments: &[Moment]) -> anyhow::Result<TaskCard> {
    let has_states = input.summary.has_states;
    let id = TaskId::new(task.name.pid, task.idle_cpu.unwrap_or(0));
    let details = input.details.task(id);
    let name = name_of(task);
    let function = |index: usize| input.names.get(index).map_or("?", String::as_str);
    let series = details.map(|details| details.series(has_states));
    let label = format!("run, wait and block of {name} over time");
    let span = input.summary.duration;
    let chart = series.map(|series| charts::over_time(series, span, moments, &label));
    Ok(TaskCard {
        answer: Answer::new(task, details, has_states, function),
        chart: chart.transpose()?.unwrap_or_default(),
        name,
    })
}

/// Returns the histograms of the functions with the largest total time.
fn durations<'a>(input: &Input<'a>, rows: &Rows<'a>) -> anyhow::Result<Vec<DurationRow<'a>>> {
    let functions = input.summary.functions.iter().take(HISTOGRAMS);
    let found: Vec<_> = functions
        .filter_map(|(index, func)| Some((*index, func, input.details.durations(*index)?)))
        .collect();
    let range = range(found.iter().map(|(_, _, durations)| *durations));
    let row = |(index, func, durations): (usize, &crate::summary::FuncSums, _)| {
        let durations: &Histogram<u32> = durations;
        let quantile = |part| durations.value_at_quantile(part).min(func.max);
        let marks = [0.5, 0.9, 0.99].map(quantile);
        let [p50, p90, p99] = marks.map(Ns);
        let name = rows.function(index);
        let label = format!("histogram of the durations of {name}");
        Ok(DurationRow {
            name,
            calls: func.calls,
            p50,
            p90,
            p99,
            max: Ns(func.max),
            chart: charts::histogram(durations, &range, &marks, &label)?,
        })
    };
    found.into_iter().map(row).collect()
}

/// Returns the smallest and the largest duration in ns, so that all histograms have the same axis.
fn range<'a>(all: impl Iterator<Item = &'a Histogram<u32>>) -> Range<u64> {
    let (mut shortest, mut longest) = (u64::MAX, 1);
    for durations in all {
        shortest = shortest.min(durations.min().max(1));
        longest = longest.max(durations.max());
    }
    shortest.min(longest)..longest
}
