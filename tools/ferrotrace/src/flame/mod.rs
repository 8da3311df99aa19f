// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace flame`: flame graphs by exact times.
//!
//! [`Stacks`] adds up the times of call paths while the events are read, [`Stacks::fold`] returns
//! them with the names of functions, and [`svg()`] draws them.

mod fold;
mod stacks;
mod svg;

use std::{
    io::Write,
    ops::ControlFlow,
    path::{
        Path,
        PathBuf, //
    },
    process::ExitCode, //
};

use anyhow::bail;

use crate::{
    model::{
        Model,
        Split, //
    },
    output::Output,
    select::{
        Select,
        Selection, //
    },
    source::Source,
};

pub use fold::{
    Folded,
    Threads, //
};
pub use stacks::Stacks;
pub use svg::svg;

/// The time that a flame graph shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Run, wait and block.
    Wall,
    /// Time on a CPU.
    Run,
    /// Time during which tasks were runnable, but not running.
    Wait,
    /// Time during which tasks were not runnable.
    Block,
}

impl Part {
    /// Returns this part of a time in ns.
    pub fn of(self, split: &Split) -> u64 {
        match self {
            Self::Wall => split.wall(),
            Self::Run => split.run,
            Self::Wait => split.wait,
            Self::Block => split.block,
        }
    }

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Block => "block",
        }
    }
}

/// Draws a flame graph of the time that tasks and their calls took.
///
/// The width of a frame is its time. By default, this is all time of the tasks. The frames [wait]
/// and [block] on top of a function show how long it waited for a CPU, and how long it was blocked;
/// the rest is time on a CPU.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace flame
  ferrotrace flame --block -o blocked.svg trace.dat
  ferrotrace flame --wait -n 'nginx*'
  ferrotrace flame --run --threads --folded | grep vfs_read")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    #[command(flatten)]
    part: PartArgs,
    #[command(flatten)]
    select: Select,
    /// Shows threads of the same name apart, each with its thread id.
    #[arg(long)]
    threads: bool,
    /// Prints folded stacks, one line each with its time in ns, instead of a picture.
    #[arg(long)]
    folded: bool,
    /// The file to write [default: trace.svg; with --folded, standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Options that select a part of the time.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct PartArgs {
    /// Shows the time on a CPU only.
    #[arg(long)]
    run: bool,
    /// Shows the time that was spent waiting for a CPU only.
    #[arg(long)]
    wait: bool,
    /// Shows the time blocked only, with the functions that blocked.
    #[arg(long)]
    block: bool,
    /// Shows all time (default).
    #[arg(long)]
    wall: bool,
}

impl PartArgs {
    /// Returns the part that was selected.
    pub fn part(&self) -> Part {
        match (self.run, self.wait, self.block) {
            (true, ..) => Part::Run,
            (_, true, _) => Part::Wait,
            (.., true) => Part::Block,
            _ => Part::Wall,
        }
    }
}

/// Runs `ferrotrace flame`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let part = args.part.part();
    let threads = match args.threads {
        true => Threads::Apart,
        false => Threads::ByName,
    };
    let selection = args.select.find(&args.file)?;
    if args.folded {
        folded(&args.file, part, threads, selection, args.output.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.output.as_deref().unwrap_or(Path::new("trace.svg"));
    with_stacks(
        &args.file,
        threads,
        selection,
        Some(path),
        |folded, mut out| {
            if folded.sum(part) == 0 {
                bail!(
                    "{}: it has no {} time of tasks",
                    args.file.display(),
                    part.name()
                );
            }
            let selected = args.select.text().map(|text| format!(" of {text}"));
            let title = format!(
                "{}: {} time{}",
                args.file.display(),
                part.name(),
                selected.unwrap_or_default()
            );
            let written = svg(folded, part, &title, &mut out);
            out.finish(written)
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Writes folded stacks to a file, or to standard output.
pub fn folded(
    recording: &Path,
    part: Part,
    threads: Threads,
    selection: Selection,
    path: Option<&Path>,
) -> anyhow::Result<()> {
    with_stacks(recording, threads, selection, path, |folded, mut out| {
        let lines = folded.lines(part);
        let written = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
        out.finish(written)
    })
}

/// Reads a recording, and calls `then` with its stacks and the output.
fn with_stacks<T>(
    file: &Path,
    threads: Threads,
    selection: Selection,
    output: Option<&Path>,
    then: impl FnOnce(&Folded<'_>, Output) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let recording = Source::open(file)?;
    let out = Output::create(output, file)?;
    let mut filter = selection.filter(Stacks::default());
    let mut model = Model::default();
    let mut symbols = recording.symbols();
    recording.for_each(&mut symbols, |event, symbols| {
        filter.event(event);
        model.event(event, symbols, &mut filter);
        ControlFlow::Continue(())
    })?;
    model.finish(&mut filter);
    recording.in_file(filter.span(model.span()))?;
    then(&filter.visitor.fold(symbols.names(), threads), out)
}
