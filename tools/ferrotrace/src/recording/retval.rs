// SPDX-License-Identifier: MIT OR Apache-2.0

//! The return values of functions.

use super::{
    event::{
        Event,
        Kind, //
    },
    fields::Number,
    Recording, //
};

/// The place of return values in the records of calls that ended.
///
/// If the kernel has a field for them, function_graph always records them. ferrotrace does so with
/// its option `ferro-retval`; otherwise, a word after the fields says that the value is not known.
/// If the kernel has no such field, ferrotrace appends this word and the value.
pub struct ReturnValue {
    field: Option<Number>,
    appended: Number,
    end: usize,
}

impl ReturnValue {
    /// Takes the place from the formats of a recording. `None` if it has no call graph.
    pub fn new(recording: &Recording) -> Option<Self> {
        let format = recording.format_by_name(Some("ftrace"), "funcgraph_exit")?;
        let end = recording.number(&format, "rettime")?.end();
        Some(Self {
            field: recording.number(&format, "retval"),
            appended: recording.number_at(end + size_of::<u32>()),
            end,
        })
    }

    /// Returns the value of a call that ended, if it is known.
    pub fn get(&self, event: &Event<'_>) -> Option<u64> {
        match (&event.kind, self.field) {
            (Kind::CallEnd { .. }, None) => self.appended.get(event.data),
            (Kind::CallEnd { .. }, Some(field)) if event.data.len() <= self.end => {
                field.get(event.data)
            }
            _ => None,
        }
    }
}

/// Returns the text for a return value. The type of the function is not known: error numbers are
/// shown as such, in 64 or in 32 bits, and other values in hexadecimal.
pub fn value_text(value: u64) -> String {
    const ERRORS: std::ops::Range<i64> = -4095..0;
    let number = match u32::try_from(value) {
        Ok(low) => i64::from(low as i32),
        Err(_) => value as i64,
    };
    match ERRORS.contains(&number) {
        true => number.to_string(),
        false => format!("{value:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{
        CallId,
        FuncId, //
    };

    fn event(data: &[u8]) -> Event<'_> {
        let call = CallId {
            func: FuncId::new(0),
            depth: 0,
        };
        Event {
            time: 0,
            cpu: 0,
            pid: 0,
            id: 0,
            data,
            kind: Kind::CallEnd {
                call,
                duration_ns: 0,
            },
        }
    }

    #[test]
    fn values_are_known_if_they_were_recorded() {
        let data: Vec<u8> = (0..52).collect();
        let number = |at| Number::at(at, 8, false, cfg!(target_endian = "big"));
        let appended = ReturnValue {
            field: None,
            appended: number(44),
            end: 40,
        };
        let value = |at: usize| u64::from_ne_bytes(*data[at..].first_chunk().expect("8 bytes"));
        assert_eq!(appended.get(&event(&data)), Some(value(44)));
        assert_eq!(appended.get(&event(&data[..44])), None);
        assert_eq!(appended.get(&event(&data[..40])), None);
        let with_field = ReturnValue {
            field: Some(number(16)),
            ..appended
        };
        assert_eq!(with_field.get(&event(&data[..40])), Some(value(16)));
        assert_eq!(with_field.get(&event(&data[..44])), None);
        let kind = Kind::Other;
        let other = Event {
            kind,
            ..event(&data)
        };
        assert_eq!(with_field.get(&other), None);
    }

    #[test]
    fn texts() {
        for (value, text) in [
            (0, "0x0"),
            (0x1234, "0x1234"),
            (u64::MAX - 4, "-5"),
            (0xffff_fffb, "-5"),
            (0xffff_0000, "0xffff0000"),
            (u64::MAX - 4095, "0xfffffffffffff000"),
        ] {
            assert_eq!(value_text(value), text);
        }
    }
}
