// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace html`: writes a page that shows where the time went.
//!
//! The summary, [`Details`] and the stacks of the flame graphs are collected in one pass. `page`
//! turns them into what the template shows.

mod answer;
mod charts;
mod collect;
mod flames;
mod longest;
mod page;
mod rows;
mod series;
mod text;

use std::{
    io::Write,
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use askama::Template;

use crate::{
    flame::Stacks,
    model::{
        Call,
        Chain,
        Interval,
        Model,
        OpenCall,
        State,
        Task,
        Visitor, //
    },
    output::Output,
    recording::Kind,
    select::Select,
    source::Source,
    summary::{
        Sort,
        Summary, //
    },
    units,
};
use collect::Details;
use page::{
    Input,
    Page, //
};

/// Writes a page that shows where the time went, in one file for any browser.
///
/// It has the tables of 'ferrotrace summary', run, wait and block over time, flame graphs, the
/// longest calls with their callers, and histograms of durations. It needs no network.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace html
  ferrotrace html trace.dat -o slow.html
  ferrotrace html --limit 200 trace.dat
  ferrotrace html -n 'nginx*' -o nginx.html")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    /// The file to write.
    #[arg(short, long, default_value = "trace.html", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    select: Select,
    /// The maximum number of lines in each table; 0 is all.
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = units::lines)]
    limit: usize,
}

/// All that is collected from a recording.
#[derive(Default)]
struct Collected {
    summary: Summary,
    details: Details,
    stacks: Stacks,
}

impl Visitor for Collected {
    fn state_begin(&mut self, task: &Task, at: u64, state: State) {
        self.details.state_begin(task, at, state);
        self.stacks.state_begin(task, at, state);
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        self.summary.state_end(task, interval);
        self.details.state_end(task, interval);
        self.stacks.state_end(task, interval);
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        self.stacks.call_begin(task, call);
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        self.summary.call_end(task, call);
        self.details.call_end(task, call);
        self.stacks.call_end(task, call);
    }

    fn chain(&mut self, chain: &Chain) {
        self.summary.chain(chain);
    }
}

/// Runs `ferrotrace html`.
///
/// # Errors
///
/// If the recording is damaged, or if the page cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Source::open(&args.file)?;
    let mut out = Output::create(Some(&args.output), &args.file)?;
    let selection = args.select.find(&args.file)?;
    let mut filter = selection.filter(Collected::default());
    let mut model = Model::default();
    let mut symbols = recording.symbols();
    recording.for_each(&mut symbols, |event, symbols| {
        filter.event(event);
        let begin = filter.start(event.time);
        filter.visitor.details.begin(begin);
        filter.visitor.summary.count(event);
        if let Kind::Section { task, .. } | Kind::Trigger { task, .. } = event.kind {
            if filter.shows(event, task) {
                filter.visitor.summary.mark(event);
            }
        }
        model.event(event, symbols, &mut filter);
        ControlFlow::Continue(())
    })?;
    model.finish(&mut filter);
    let span = recording.in_file(filter.span(model.span()))?;
    let mut collected = filter.visitor;
    collected.summary.finish(span, Sort::Total);
    let page = Page::new(&Input {
        file: &args.file,
        kernel: recording.kernel(),
        cpus: recording.cpus(),
        selected: args.select.text(),
        summary: &collected.summary,
        details: &collected.details,
        stacks: &collected.stacks,
        names: symbols.names(),
        limit: match args.limit {
            0 => usize::MAX,
            limit => limit,
        },
    })?;
    let text = page.render()?;
    let written = out.write_all(text.as_bytes());
    out.finish(written)?;
    Ok(ExitCode::SUCCESS)
}
