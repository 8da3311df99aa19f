// SPDX-License-Identifier: MIT OR Apache-2.0

//! The fields of events that this program does not know.

use std::{
    collections::BTreeMap,
    ffi::CString,
    fmt, //
};

use serde::Serialize;

use super::{
    fields::{
        Bytes,
        Number, //
    }, //
    Event,
    Recording,
};
use crate::sys::{
    EventFormat,
    Field, //
};

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// A signed number.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// A text.
    Text(String),
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// A field that is a number or text.
#[derive(Clone, Copy, Debug)]
pub enum FieldKey {
    /// A signed number.
    Signed(Number),
    /// An unsigned number.
    Unsigned(Number),
    /// A text.
    Text(Bytes),
}

impl FieldKey {
    /// Wraps a field; `None` if it is neither a number nor text.
    fn of(field: Field, big_endian: bool) -> Option<Self> {
        if field.string {
            return Some(Self::Text(Bytes::of(field, big_endian)));
        }
        let number = Number::of(field, big_endian)?;
        Some(match field.signed {
            true => Self::Signed(number),
            false => Self::Unsigned(number),
        })
    }

    /// Returns the value that the field has in a record; `None` if the record is too short.
    pub fn value(&self, data: &[u8]) -> Option<FieldValue> {
        Some(match self {
            Self::Signed(number) => FieldValue::Signed(number.signed(data)?),
            Self::Unsigned(number) => FieldValue::Unsigned(number.get(data)?),
            Self::Text(bytes) => {
                FieldValue::Text(String::from_utf8_lossy(bytes.text(data)?).into_owned())
            }
        })
    }
}

impl Recording {
    /// Returns a field of an event that is a number or text.
    pub fn key(&self, format: &EventFormat<'_>, field: &str) -> Option<FieldKey> {
        let field = format.field(&CString::new(field).ok()?)?;
        FieldKey::of(field, self.input.formats().is_big_endian())
    }

    /// Returns the name of an event, and its fields that are numbers or text.
    pub fn fields(&self, event: &Event<'_>) -> (String, BTreeMap<&str, FieldValue>) {
        let Some(format) = self.input.formats().event_by_id(event.id) else {
            return (format!("unknown event {}", event.id), BTreeMap::new());
        };
        let big_endian = self.input.formats().is_big_endian();
        let fields = format.fields().filter_map(|(name, field)| {
            let value = FieldKey::of(field, big_endian)?.value(event.data)?;
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
