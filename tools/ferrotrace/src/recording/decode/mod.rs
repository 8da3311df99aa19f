// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decodes records into events. The places of all fields are taken once.

mod calls;
mod places;
mod tasks;

use std::ffi::CStr;

use super::{
    event::{
        Event,
        Kind, //
    },
    fields::Number,
    symbols::Symbols, //
};
use crate::sys::{
    Formats,
    RawRecord, //
};
use places::Fields;

/// The decoder of a recording.
pub struct Decoder {
    id: Number,
    pid: Number,
    /// The readers of the events that are known, by the event's id.
    readers: Vec<Option<Box<Reader>>>,
}

/// Decodes a record. If it is too short, its event is [`Kind::Other`].
type Reader = dyn for<'a> Fn(&'a [u8], &mut Symbols<'_>) -> Kind<'a>;

/// Makes a reader of a function that returns `None` for a record that is too short.
fn reader(
    read: impl for<'a> Fn(&'a [u8], &mut Symbols<'_>) -> Option<Kind<'a>> + 'static,
) -> Option<Box<Reader>> {
    Some(Box::new(move |data, symbols| {
        read(data, symbols).unwrap_or(Kind::Other)
    }))
}

impl Decoder {
    /// Takes the places of all fields that are known.
    pub fn new(formats: &Formats) -> Self {
        let big_endian = formats.is_big_endian();
        let common = formats.event(Some(c"ftrace"), c"function");
        let place = |name: &CStr, offset, size, signed| {
            let field = common.and_then(|format| Number::new(&format, name, big_endian));
            field.unwrap_or(Number::at(offset, size, signed, big_endian))
        };
        let mut this = Self {
            id: place(c"common_type", 0, 2, false),
            pid: place(c"common_pid", 4, 4, true),
            readers: Vec::new(),
        };
        for (system, name, make) in READERS {
            if let Some(format) = formats.event(Some(system), name) {
                let fields = Fields { format, big_endian };
                this.add(format.id(), make(&fields));
            }
        }
        this
    }

    fn add(&mut self, id: u16, reader: Option<Box<Reader>>) {
        let id = usize::from(id);
        if self.readers.len() <= id {
            self.readers.resize_with(id + 1, || None);
        }
        self.readers[id] = reader;
    }

    /// Returns the id of the event of a record.
    #[inline]
    pub fn id(&self, data: &[u8]) -> u16 {
        u16::try_from(self.id.get(data).unwrap_or(0)).unwrap_or(0)
    }

    /// Returns the task that wrote a record.
    #[inline]
    pub(super) fn pid(&self, data: &[u8]) -> i32 {
        self.pid.i32(data).unwrap_or(0)
    }

    /// Returns the event of a record.
    #[inline]
    pub fn event<'a>(&self, raw: &RawRecord<'a>, symbols: &mut Symbols<'_>) -> Event<'a> {
        let id = self.id(raw.data);
        Event {
            time: raw.time,
            cpu: raw.cpu,
            pid: self.pid(raw.data),
            id,
            data: raw.data,
            kind: self.decode(id, raw.data, symbols),
        }
    }

    /// Returns an event that says that records are missing before this one, if any are.
    #[inline]
    pub fn lost(&self, raw: &RawRecord<'_>) -> Option<Event<'static>> {
        let missed = raw.missed?;
        Some(Event {
            time: raw.time,
            cpu: raw.cpu,
            pid: self.pid(raw.data),
            id: 0,
            data: &[],
            kind: Kind::Lost {
                records: u64::try_from(missed).ok(),
            },
        })
    }

    #[inline]
    fn decode<'a>(&self, id: u16, data: &'a [u8], symbols: &mut Symbols<'_>) -> Kind<'a> {
        match self.readers.get(usize::from(id)) {
            Some(Some(reader)) => reader(data, symbols),
            _ => Kind::Other,
        }
    }
}

type Make = fn(&Fields<'_>) -> Option<Box<Reader>>;

/// The events that are known. A function returns `None` if an event lacks a field.
const READERS: [(&CStr, &CStr, Make); 17] = [
    (c"ftrace", c"function", calls::function),
    (c"ftrace", c"funcgraph_entry", calls::entry),
    (c"ftrace", c"funcgraph_exit", calls::exit),
    (c"ftrace", c"funcgraph_times", calls::times),
    (c"ftrace", c"print", calls::print),
    (c"ferrotrace", c"task_wakeup", tasks::wakeup),
    (c"ferrotrace", c"task_wait", tasks::wait),
    (c"ferrotrace", c"task_run", tasks::run),
    (c"ferrotrace", c"task_block", tasks::block),
    (c"ferrotrace", c"task_migrate", tasks::migrate),
    (c"ferrotrace", c"task_fork", tasks::fork),
    (c"ferrotrace", c"task_exec", tasks::exec),
    (c"ferrotrace", c"task_set_comm", tasks::set_comm),
    (c"ferrotrace", c"task_exit", tasks::exit),
    (c"ferrotrace", c"task_section", tasks::section),
    (c"ferrotrace", c"task_chain", tasks::chain),
    (c"ferrotrace", c"trigger", tasks::trigger),
];
