// SPDX-License-Identifier: MIT OR Apache-2.0

//! The fields of events that this program does not know.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    fields::{
        Bytes,
        Number, //
    }, //
    Event,
    Recording,
};

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// A signed number.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// A text.
    Text(String),
}

impl Recording {
    /// Returns the name of an event, and its fields that are numbers or text.
    pub fn fields(&self, event: &Event<'_>) -> (String, BTreeMap<&str, FieldValue>) {
        let Some(format) = self.input.formats().event_by_id(event.id) else {
            return (format!("unknown event {}", event.id), BTreeMap::new());
        };
        let big_endian = self.input.formats().is_big_endian();
        let fields = format.fields().filter_map(|(name, field)| {
            let value = if field.string {
                let text = Bytes::of(field, big_endian).text(event.data)?;
                FieldValue::Text(String::from_utf8_lossy(text).into_owned())
            } else {
                let number = Number::of(field, big_endian)?;
                match field.signed {
                    true => FieldValue::Signed(number.signed(event.data)?),
                    false => FieldValue::Unsigned(number.get(event.data)?),
                }
            };
            Some((name, value))
        });
        let name = format!("{}:{}", format.system(), format.name());
        (name, fields.collect())
    }

    /// Returns the text of an event, as the kernel prints it: its name and its fields.
    pub fn text(&self, event: &Event<'_>) -> String {
        let Some(format) = self.input.formats().event_by_id(event.id) else {
            return format!("unknown event {}", event.id);
        };
        let text = self.input.formats().text(event.time, event.cpu, event.data);
        format!("{}: {}", format.name(), text.trim())
    }
}
