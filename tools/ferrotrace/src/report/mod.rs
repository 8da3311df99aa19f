// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace report`: prints a recording, as text or JSON.

mod graph;
mod json;
mod line;
mod pager;

use std::{
    io::{
        self,
        Write, //
    },
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use crate::{
    output,
    recording::{
        Event,
        Symbols, //
    },
    source::Source,
};
use graph::Graph;
use json::Json;
use pager::{
    Pager,
    Shown, //
};

/// Prints a recording as text: the call graph, as the tracer shows it, and all other events.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace report
  ferrotrace report trace.dat | grep 'ret=-'
  ferrotrace report --json trace.dat | jq 'select(.event == \"task_block\")'

Text goes to $PAGER (less) if standard output is a terminal.")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    /// Prints one JSON object a line for each event, after one with the schema;
    /// docs/reference/json.md describes them.
    #[arg(long)]
    json: bool,
}

/// A format of the report.
trait Format {
    /// Writes what is before all events.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// Writes an event, or keeps it until more is known.
    fn event(
        &mut self,
        out: &mut dyn Write,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()>;

    /// Writes everything that was kept.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// Runs `ferrotrace report`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Source::open(&args.file)?;
    let pager = match args.json {
        true => Pager::none(),
        false => Pager::new(),
    };
    if print(args, &recording, pager)? == Shown::No {
        // An open recording can be read once.
        print(args, &Source::open(&args.file)?, Pager::none())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(args: &Args, recording: &Source, mut out: Pager) -> anyhow::Result<Shown> {
    let mut format: Box<dyn Format + '_> = match args.json {
        true => Box::new(Json::new(recording)),
        false => Box::new(Graph::new(recording)),
    };
    let mut symbols = recording.symbols();
    let mut written = format.begin(&mut out);
    let read = recording.for_each(&mut symbols, |event, symbols| {
        if written.is_ok() {
            written = format.event(&mut out, event, symbols);
        }
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    // Show everything before an error.
    let written = written.and_then(|()| format.finish(&mut out));
    let shown = match out.finish(written) {
        Ok(Shown::No) => return Ok(Shown::No),
        shown => shown.map(drop),
    };
    output::ended(shown)?;
    read?;
    Ok(Shown::Yes)
}
