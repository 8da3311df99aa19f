// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace timeline`: writes a timeline for Perfetto.

mod calls;
mod chains;
mod convert;
mod marks;
mod messages;
mod tracks;
mod writer;

use std::{
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use anyhow::Context;

use crate::{
    model::Model,
    output::Output,
    recording::{
        Kind,
        Number,
        Recording, //
    },
    source::Source,
};
use convert::{
    Convert,
    Kept, //
};
use messages::{
    TrackEvent,
    TrackEventKind, //
};
use tracks::Tracks;
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
  ferrotrace timeline --counter thermal_temperature:temp")]
pub struct Args {
    /// The recording, a file of 'ferrotrace record' or 'trace-cmd record'.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
    /// The file to write.
    #[arg(short, long, default_value = "trace.pftrace", value_name = "FILE")]
    output: PathBuf,
    /// Shows a numeric field of an event as a counter; can be given several times.
    #[arg(long, value_name = "[GROUP:]EVENT:FIELD", value_parser = FieldName::parse)]
    counter: Vec<FieldName>,
}

/// The name of a field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldName {
    /// The name as it was given.
    text: String,
    group: Option<String>,
    event: String,
    field: String,
}

impl FieldName {
    /// Parses `[GROUP:]EVENT:FIELD`.
    fn parse(text: &str) -> Result<Self, &'static str> {
        let words: Vec<_> = text.split(':').collect();
        let (group, event, field) = match words[..] {
            [event, field] => (None, event, field),
            [group, event, field] => (Some(group), event, field),
            _ => return Err(EXPECTED),
        };
        if words.iter().any(|word| word.is_empty()) {
            return Err(EXPECTED);
        }
        Ok(Self {
            text: text.to_owned(),
            group: group.map(str::to_owned),
            event: event.to_owned(),
            field: field.to_owned(),
        })
    }
}

const EXPECTED: &str = "expected [GROUP:]EVENT:FIELD, such as sched:sched_switch:next_prio";

/// A field that is shown as a counter.
struct CounterField {
    id: u16,
    value: Number,
    track: u64,
}

/// Runs `ferrotrace timeline`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Source::open(&args.file)?;
    let fields: Vec<_> = args
        .counter
        .iter()
        .map(|name| find_field(&recording, name))
        .collect::<anyhow::Result<_>>()?;
    let mut writer = Writer::new(Output::create(Some(&args.output), &args.file)?);
    let mut counters = Vec::new();
    for (number, (name, (id, value))) in args.counter.iter().zip(fields).enumerate() {
        let track = Tracks::counter(&mut writer, number, &name.text);
        counters.push(CounterField { id, value, track });
    }
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
        if event.id != 0 {
            for counter in counters.iter().filter(|counter| counter.id == event.id) {
                let sample = TrackEvent {
                    counter_value: counter.value.signed(event.data),
                    ..TrackEvent::default()
                };
                writer.event(event.time, counter.track, TrackEventKind::Counter, sample);
            }
        }
        match writer.has_failed() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
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

/// Returns the event and the field of this name.
fn find_field(recording: &Recording, name: &FieldName) -> anyhow::Result<(u16, Number)> {
    let FieldName {
        group,
        event,
        field,
        ..
    } = name;
    let format = recording.format_by_name(group.as_deref(), event);
    let format = format.with_context(|| format!("the recording has no event '{event}'"))?;
    let number = recording.number(&format, field);
    let number = number.with_context(|| {
        let names = format.fields().map(|(name, _)| name);
        let numbers: Vec<_> = names
            .filter(|name| recording.number(&format, name).is_some())
            .collect();
        format!(
            "'{event}' has no numeric field '{field}' (it has {})",
            numbers.join(", ")
        )
    })?;
    Ok((format.id(), number))
}
