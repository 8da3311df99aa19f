// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counters: numeric fields of events, with one track for each value of another field.

use std::io::Write;

use anyhow::{
    bail,
    Context, //
};
use rustc_hash::FxHashMap;

use super::{
    messages::{
        TrackEvent,
        TrackEventKind, //
    },
    tracks::counter as counter_track,
    writer::Writer, //
};
use crate::{
    recording::{
        Event,
        FieldKey,
        FieldValue,
        Number,
        Recording, //
    },
    sys::EventFormat, //
};

/// How many tracks a counter can have.
const MAX_TRACKS: usize = 1000;

const EXPECTED: &str =
    "expected [GROUP:]EVENT:FIELD[:KEY], such as sched:sched_switch:next_prio:next_pid";

/// The names of a counter on the command line: two to four of `[GROUP:]EVENT:FIELD[:KEY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// Parses `[GROUP:]EVENT:FIELD[:KEY]`.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let words: Vec<_> = text.split(':').map(str::to_owned).collect();
        match words.len() {
            2..=4 if words.iter().all(|word| !word.is_empty()) => Ok(Self(words)),
            _ => Err(EXPECTED),
        }
    }

    /// Returns the format of the event, and the names of the field and the key.
    ///
    /// Three names are `GROUP:EVENT:FIELD`, unless the recording has no such event, but
    /// `EVENT:FIELD:KEY`.
    fn find<'a>(&self, recording: &'a Recording) -> anyhow::Result<(EventFormat<'a>, &[String])> {
        let find = |group: Option<&String>, event: &str| {
            recording.format_by_name(group.map(String::as_str), event)
        };
        let (first, rest) = self.0.split_first().context(EXPECTED)?;
        let has_group = match rest {
            [second, _] => find(Some(first), second).is_some() || find(None, first).is_none(),
            rest => rest.len() == 3,
        };
        let (group, names) = if has_group {
            (Some(first), rest)
        } else {
            (None, &self.0[..])
        };
        let (event, fields) = names.split_first().context(EXPECTED)?;
        let format = find(group, event);
        let format = format.with_context(|| format!("the recording has no event '{event}'"))?;
        Ok((format, fields))
    }
}

/// The tracks of a counter.
enum Tracks {
    One(Option<u64>),
    /// The field that selects the track, its name, and the track for each of its values.
    ByKey(FieldKey, String, FxHashMap<FieldValue, u64>),
}

/// A numeric field that is shown as a counter.
struct Counter {
    id: u16,
    value: Number,
    /// The name of the first or only track.
    name: String,
    tracks: Tracks,
}

/// The counters of a timeline.
pub struct Counters {
    counters: Vec<Counter>,
    nr_tracks: usize,
}

impl Counters {
    /// Finds the fields of all counters.
    ///
    /// # Errors
    ///
    /// If the recording does not have one of them.
    pub fn find(recording: &Recording, names: &[Names]) -> anyhow::Result<Self> {
        let counters = names.iter().map(|names| Counter::find(recording, names));
        Ok(Self {
            counters: counters.collect::<anyhow::Result<_>>()?,
            nr_tracks: 0,
        })
    }

    /// Writes the values that an event has.
    ///
    /// # Errors
    ///
    /// If a counter has too many tracks.
    pub fn event<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        event: &Event<'_>,
    ) -> anyhow::Result<()> {
        if event.id == 0 {
            return Ok(());
        }
        for counter in self
            .counters
            .iter_mut()
            .filter(|counter| counter.id == event.id)
        {
            let Some(track) = counter.track(writer, event.data, &mut self.nr_tracks)? else {
                continue;
            };
            let sample = TrackEvent {
                counter_value: counter.value.signed(event.data),
                ..TrackEvent::default()
            };
            writer.event(event.time, track, TrackEventKind::Counter, sample);
        }
        Ok(())
    }
}

impl Counter {
    fn find(recording: &Recording, names: &Names) -> anyhow::Result<Self> {
        let (format, fields) = names.find(recording)?;
        let (field, key) = fields.split_first().context(EXPECTED)?;
        let value = recording.number(&format, field).with_context(|| {
            let numbers = |name: &str| recording.number(&format, name).is_some();
            no_field(&format, "numeric field", field, numbers)
        })?;
        let tracks = match key.first() {
            None => Tracks::One(None),
            Some(key) => {
                let field = recording.key(&format, key).with_context(|| {
                    let keys = |name: &str| recording.key(&format, name).is_some();
                    no_field(&format, "number or text", key, keys)
                })?;
                Tracks::ByKey(field, key.clone(), FxHashMap::default())
            }
        };
        let without_key = &names.0[..names.0.len() - key.len()];
        Ok(Self {
            id: format.id(),
            value,
            name: without_key.join(":"),
            tracks,
        })
    }

    /// Returns the track for an event, and describes it if it is new; `None` if the event lacks the
    /// key.
    fn track<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        data: &[u8],
        nr_tracks: &mut usize,
    ) -> anyhow::Result<Option<u64>> {
        let mut describe = |name: &str| {
            *nr_tracks += 1;
            counter_track(writer, *nr_tracks - 1, name)
        };
        match &mut self.tracks {
            Tracks::One(track) => Ok(Some(*track.get_or_insert_with(|| describe(&self.name)))),
            Tracks::ByKey(field, key, tracks) => {
                let Some(value) = field.value(data) else {
                    return Ok(None);
                };
                if let Some(track) = tracks.get(&value) {
                    return Ok(Some(*track));
                }
                if tracks.len() == MAX_TRACKS {
                    bail!("field '{key}' has more than {MAX_TRACKS} values, one track for each");
                }
                let track = describe(&format!("{} {key}={value}", self.name));
                tracks.insert(value, track);
                Ok(Some(track))
            }
        }
    }
}

/// Says that an event has no field of this name, and which fields it has instead.
fn no_field(
    format: &EventFormat<'_>,
    what: &str,
    field: &str,
    is_usable: impl Fn(&str) -> bool,
) -> String {
    let names = format.fields().map(|(name, _)| name);
    let usable: Vec<_> = names.filter(|name| is_usable(name)).collect();
    let event = format.name();
    format!(
        "'{event}' has no {what} '{field}' (it has {})",
        usable.join(", ")
    )
}
