// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace timeline`: writes a timeline for Perfetto.

mod calls;
mod chains;
mod convert;
mod counters;
mod marks;
mod messages;
mod tracks;
mod writer;

use std::{
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use crate::{model::Model, output::Output, recording::Kind, source::Source};
use convert::{
    Convert,
    Kept, //
};
use counters::{
    Counters,
    Names, //
};
use writer::Writer;

/// Writes a timeline for Perfetto (https://ui.perfetto.dev).
///
/// It shows the states of each task, with the function in which it was blocked and the task that
/// woke it; its calls, with their run, wait and block times; chains of wakeups; marks and sections
/// of programs; and the moments of triggers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  ferrotrace timeline
  ferrotrace timeline trace.dat -o slow.pftrace
  ferrotrace timeline --counter thermal_temperature:temp:thermal_zone")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    /// The file to write.
    #[arg(short, long, default_value = "trace.pftrace", value_name = "FILE")]
    output: PathBuf,
    /// Shows a numeric field of an event as a counter, with one track for each value of the field
    /// KEY, a number or text; can be given several times.
    #[arg(long, value_name = "[GROUP:]EVENT:FIELD[:KEY]", value_parser = Names::parse)]
    counter: Vec<Names>,
}

/// Runs `ferrotrace timeline`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Source::open(&args.file)?;
    let mut counters = Counters::find(&recording, &args.counter)?;
    let mut writer = Writer::new(Output::create(Some(&args.output), &args.file)?);
    let mut counted = Ok(());
    let mut model = Model::default();
    let mut kept = Kept::default();
    let mut symbols = recording.symbols();
    recording.for_each(&mut symbols, |event, symbols| {
        let mut convert = Convert {
            writer: &mut writer,
            kept: &mut kept,
            symbols,
        };
        match event.kind {
            Kind::Marker { .. } | Kind::Section { .. } | Kind::Trigger { .. } => {
                convert.mark(event);
            }
            Kind::Lost { records } => convert.lost(event.time, event.cpu, records),
            Kind::Fork {
                child, child_tgid, ..
            } => convert.kept.tracks.set_tgid(child.pid, child_tgid),
            _ => {}
        }
        model.event(event, symbols, &mut convert);
        counted = counters.event(&mut writer, event);
        match writer.has_failed() || counted.is_err() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    counted?;
    let mut convert = Convert {
        writer: &mut writer,
        kept: &mut kept,
        symbols: &symbols,
    };
    model.finish(&mut convert);
    convert.finish();
    let (out, written) = writer.finish();
    out.finish(written)?;
    Ok(ExitCode::SUCCESS)
}
