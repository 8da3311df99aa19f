// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace summary`: shows where the time went.

mod by_name;
mod chains;
mod collect;
mod json;
mod sections;
mod text;

use std::{
    io::{
        self,
        Write, //
    },
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use clap::ValueEnum;

use crate::{
    model::{
        Model,
        Split, //
    },
    recording::{
        Kind,
        Symbols, //
    },
    select::{
        Select,
        Selection, //
    },
    source::Source,
    units,
};

pub use collect::{
    FuncSums,
    Summary,
    TaskSums, //
};
pub use sections::{
    SectionSums,
    Trigger, //
};
pub use text::{
    Ms,
    Percent, //
};

/// Shows where the time went.
///
/// For each task and function, times are divided into run (on a CPU), wait (runnable, but without a
/// CPU) and block (not runnable). So are those of the sections that programs mark through
/// trace_marker. Other tables have the time of interrupts within the run time of tasks (if the
/// recording was made with -O ferro-irq-time), the chains of wakeups behind long waits, and the
/// triggers that fired.
///
/// "(12.244 ms unknown)" after a task is the time between its events for which the recording does
/// not show its state, for example because records were lost. It is a part of the time of which
/// the percentages are, so they add up to less than 100 then.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace summary
  ferrotrace summary --sort block --limit 5 trace.dat
  ferrotrace summary -n 'nginx*'              where these tasks were blocked
  ferrotrace summary -p 1234 --from 500ms --to 1.5s
  ferrotrace summary --json | jq '.functions[0]'")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    #[command(flatten)]
    select: Select,
    /// Sorts by this time, the largest first.
    #[arg(short, long, value_enum, default_value_t = Sort::All, value_name = "KEY")]
    sort: Sort,
    /// The maximum number of lines in each table; 0 is all.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = units::lines)]
    limit: usize,
    /// Prints one JSON object, in full; docs/reference/json.md describes it.
    #[arg(long)]
    json: bool,
}

/// By what tables are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The duration. Short tables have the functions with the largest run, wait and block times.
    All,
    /// The duration.
    Total,
    /// The time on a CPU.
    Run,
    /// The time that was spent waiting for a CPU.
    Wait,
    /// The time blocked.
    Block,
    /// The duration of calls without their callees.
    #[value(name = "self")]
    Own,
}

impl Sort {
    /// Returns the number to sort by.
    fn key(self, total: &Split, own: &Split) -> u64 {
        match self {
            Self::All | Self::Total => total.wall(),
            Self::Run => total.run,
            Self::Wait => total.wait,
            Self::Block => total.block,
            Self::Own => own.wall(),
        }
    }
}

/// Adds a recording up.
fn collect(
    recording: &Source,
    symbols: &mut Symbols<'_>,
    selection: Selection,
    sort: Sort,
) -> anyhow::Result<Summary> {
    let mut filter = selection.filter(Summary::default());
    let mut model = Model::default();
    recording.for_each(symbols, |event, symbols| {
        filter.event(event);
        filter.visitor.count(event);
        match event.kind {
            Kind::Section { task, .. } | Kind::Trigger { task, .. } => {
                if filter.shows(event, task) {
                    filter.visitor.mark(event);
                }
            }
            Kind::Run { task, irq_ns, .. } if filter.shows(event, task) => {
                filter.visitor.interrupt(task, irq_ns);
            }
            _ => {}
        }
        model.event(event, symbols, &mut filter);
        ControlFlow::Continue(())
    })?;
    model.finish(&mut filter);
    let span = recording.in_file(filter.span(model.span()))?;
    filter.visitor.finish(span, sort);
    Ok(filter.visitor)
}

/// Writes what `ferrotrace summary --json` prints, for tests of other verbs.
#[cfg(test)]
pub fn write_json(file: &std::path::Path, out: &mut impl Write) -> anyhow::Result<()> {
    let recording = Source::open(file)?;
    let mut symbols = recording.symbols();
    let summary = collect(&recording, &mut symbols, Selection::default(), Sort::Total)?;
    Ok(json::write(out, &summary, symbols.names())?)
}

/// Runs `ferrotrace summary`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Source::open(&args.file)?;
    let selection = args.select.find(&args.file)?;
    let mut symbols = recording.symbols();
    let summary = collect(&recording, &mut symbols, selection, args.sort)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match args.json {
        true => json::write(&mut out, &summary, symbols.names()),
        false => {
            let limit = match args.limit {
                0 => usize::MAX,
                limit => limit,
            };
            let tables = text::Tables {
                limit,
                has_parts: args.sort == Sort::All,
                selected: args.select.text(),
            };
            text::write(&mut out, &summary, symbols.names(), &tables)
        }
    };
    crate::output::ended(written.and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}
