// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace export`: writes a recording in formats of other programs.
//!
//! Calls and states are written when they end, so memory does not grow with the length of the
//! recording. Folded stacks are those of `ferrotrace flame`.

mod chrome;
mod csv;
mod marks;
mod records;

use std::{
    io::{
        self,
        Write, //
    },
    ops::ControlFlow,
    path::{
        Path,
        PathBuf, //
    },
    process::ExitCode, //
};

use clap::ValueEnum;

use crate::{
    flame,
    model::Model,
    output::Output,
    recording::{
        Event,
        Symbols, //
    },
    select::Selection,
    source::Source,
};
use chrome::Chrome;
use csv::Csv;

/// Writes a recording in a format of other programs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace export chrome -o trace.json
  ferrotrace export folded trace.dat | inferno-flamegraph >trace.svg
  ferrotrace export csv | sort -t, -nrk7 | head")]
pub struct Args {
    /// The format.
    format: Format,
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    /// The file to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// JSON (trace event format) for speedscope, chrome://tracing and Perfetto.
    Chrome,
    /// Folded stacks with their wall time in ns, as 'ferrotrace flame --folded'.
    Folded,
    /// A table of calls, one line each; docs/reference/command.md describes the columns.
    Csv,
}

/// A format to which events are written one by one.
trait Stream {
    /// Writes what is before all events.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what an event ended, and passes it to the model.
    fn event(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()>;

    /// Writes everything that has not ended, and what is behind all events.
    fn finish(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        symbols: &Symbols<'_>,
    ) -> io::Result<()>;
}

/// Runs `ferrotrace export`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = args.output.as_deref();
    match args.format {
        Format::Folded => {
            flame::folded(
                &args.file,
                flame::Part::Wall,
                flame::Threads::ByName,
                Selection::default(),
                path,
            )?;
        }
        Format::Chrome => stream(&args.file, path, &mut Chrome::default())?,
        Format::Csv => stream(&args.file, path, &mut Csv)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn stream(file: &Path, path: Option<&Path>, format: &mut dyn Stream) -> anyhow::Result<()> {
    let recording = Source::open(file)?;
    let mut out = Output::create(path, file)?;
    let mut model = Model::default();
    let mut symbols = recording.symbols();
    let mut read = Ok(());
    let mut written = format.begin(&mut out);
    if written.is_ok() {
        read = recording.for_each(&mut symbols, |event, symbols| {
            written = format.event(&mut out, &mut model, event, symbols);
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
    }
    // Show everything before an error.
    let written = written.and_then(|()| format.finish(&mut out, &mut model, &symbols));
    out.finish_after(read, written)
}
