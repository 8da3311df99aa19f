// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes packets to a file, as they come.

use std::{
    io::{
        self,
        Write, //
    },
    mem, //
};

use prost::{
    encoding::{
        encode_key, //
        WireType,
    }, //
    Message,
};

use super::{
    calls::{
        Common,
        Encoder, //
    },
    messages::{
        Argument,
        FtraceBundle,
        FtraceEvent,
        Interned,
        Name,
        Packet,
        TrackDescriptor,
        TrackEvent,
        TrackEventKind, //
        CLEARED,
        NEEDS,
        PACKET,
    },
};
use crate::recording::FuncId;

/// The sequence of all packets: its interned names are valid for them.
const SEQUENCE: u32 = 1;

/// The fields that are equal in all packets with calls.
const COMMON: Common = Common {
    packet: PACKET,
    sequence: SEQUENCE,
    flags: NEEDS,
};

/// The names of arguments, in the order of [`Arg`].
const ARGUMENTS: [&str; 24] = [
    "run_ns", "wait_ns", "block_ns", "switches", "state", "in", "waker", "context", "since",
    "prio", "cpu", "note", "cookie", "rule", "value", "chain", "waker_1", "waker_2", "waker_3",
    "waker_4", "waker_5", "waker_6", "waker_7", "waker_8",
];

/// The name of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    RunNs,
    WaitNs,
    BlockNs,
    Switches,
    State,
    In,
    Waker,
    Context,
    Since,
    Prio,
    Cpu,
    Note,
    Cookie,
    Rule,
    Value,
    Chain,
    Waker1,
    Waker2,
    Waker3,
    Waker4,
    Waker5,
    Waker6,
    Waker7,
    Waker8,
}

impl Arg {
    /// The wakers of a chain, in the order of its parts.
    pub const WAKERS: [Self; 8] = [
        Self::Waker1,
        Self::Waker2,
        Self::Waker3,
        Self::Waker4,
        Self::Waker5,
        Self::Waker6,
        Self::Waker7,
        Self::Waker8,
    ];

    fn id(self) -> u64 {
        self as u64 + 1
    }

    /// Returns an argument with a number.
    pub fn number(self, number: u64) -> Argument {
        Argument {
            name_id: Some(self.id()),
            number: Some(number),
            ..Argument::default()
        }
    }

    /// Returns an argument with a number that can be negative.
    pub fn signed(self, number: i64) -> Argument {
        Argument {
            name_id: Some(self.id()),
            signed: Some(number),
            ..Argument::default()
        }
    }

    /// Returns an argument with a text.
    pub fn text(self, text: impl Into<String>) -> Argument {
        Argument {
            name_id: Some(self.id()),
            text: Some(text.into()),
            ..Argument::default()
        }
    }
}

/// The writer of a timeline. After an error, nothing more is written.
pub struct Writer<W> {
    out: W,
    buffer: Vec<u8>,
    calls: Encoder,
    /// Whether the names of functions were written, by their numbers.
    functions: Vec<bool>,
    error: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// Begins a timeline.
    pub fn new(out: W) -> Self {
        let mut this = Self {
            out,
            buffer: Vec::new(),
            calls: Encoder::default(),
            functions: Vec::new(),
            error: None,
        };
        let names = (1..).zip(ARGUMENTS).map(|(id, name)| Name {
            id: Some(id),
            name: Some(name.to_owned()),
        });
        this.put(&Packet {
            sequence: Some(SEQUENCE),
            sequence_flags: Some(CLEARED),
            interned: Some(Interned {
                argument_names: names.collect(),
                ..Interned::default()
            }),
            ..Packet::default()
        });
        this
    }

    /// Returns whether writing failed.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Ends the timeline. Returns the output and the result of writing to it.
    pub fn finish(self) -> (W, io::Result<()>) {
        (self.out, self.error.map_or(Ok(()), Err))
    }

    fn put(&mut self, packet: &Packet) {
        self.buffer.clear();
        encode_key(PACKET.into(), WireType::LengthDelimited, &mut self.buffer);
        // A vector always has room.
        let _ = packet.encode_length_delimited(&mut self.buffer);
        self.write();
    }

    /// Writes what is in the buffer.
    fn write(&mut self) {
        if self.error.is_none() {
            self.error = self.out.write_all(&self.buffer).err();
        }
    }

    /// Writes a packet of the sequence.
    pub fn packet(&mut self, timestamp: Option<u64>, packet: Packet) {
        self.put(&Packet {
            timestamp,
            sequence: Some(SEQUENCE),
            sequence_flags: Some(NEEDS),
            ..packet
        });
    }

    /// Returns the id of the name of a function, both as an event and as a kernel symbol.
    pub fn function(&mut self, func: FuncId, name: &str) -> u64 {
        let (index, id) = (func.index(), func.index() as u64 + 1);
        if self.functions.len() <= index {
            self.functions.resize(index + 1, false);
        }
        if !mem::replace(&mut self.functions[index], true) {
            let name = Name {
                id: Some(id),
                name: Some(name.to_owned()),
            };
            let interned = Interned {
                event_names: vec![name.clone()],
                kernel_symbols: vec![name],
                ..Interned::default()
            };
            let packet = Packet {
                interned: Some(interned),
                ..Packet::default()
            };
            self.packet(None, packet);
        }
        id
    }

    /// Writes the description of a track.
    pub fn track(&mut self, track: TrackDescriptor) {
        let packet = Packet {
            track: Some(track),
            ..Packet::default()
        };
        self.packet(Some(0), packet);
    }

    /// Writes an event on a track.
    pub fn event(&mut self, time: u64, track: u64, kind: TrackEventKind, event: TrackEvent) {
        let event = TrackEvent {
            kind: Some(kind.into()),
            track: Some(track),
            ..event
        };
        let packet = Packet {
            track_event: Some(event),
            ..Packet::default()
        };
        self.packet(Some(time), packet);
    }

    /// Writes the beginning of a call. `name` is the id of its function's name.
    pub fn begin(&mut self, time: u64, track: u64, name: u64) {
        self.buffer.clear();
        self.calls
            .begin(COMMON, time, track, name, &mut self.buffer);
        self.write();
    }

    /// Writes the end of a call, with arguments that are numbers.
    pub fn end(&mut self, time: u64, track: u64, arguments: [(Arg, u64); 3]) {
        let arguments = arguments.map(|(name, value)| (name.id(), value));
        self.buffer.clear();
        self.calls
            .end(COMMON, time, track, &arguments, &mut self.buffer);
        self.write();
    }

    /// Writes an event of ftrace.
    pub fn ftrace(&mut self, cpu: usize, event: FtraceEvent) {
        let bundle = FtraceBundle {
            cpu: u32::try_from(cpu).ok(),
            events: vec![event],
        };
        let packet = Packet {
            ftrace_events: Some(bundle),
            ..Packet::default()
        };
        self.packet(None, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<&mut Vec<u8>>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        write(&mut writer);
        assert!(!writer.has_failed());
        bytes
    }

    #[test]
    fn calls_are_encoded_like_messages() {
        for value in [0, 1, 127, 128, 300, 1 << 32, u64::MAX] {
            let begin = TrackEvent {
                name_id: Some(value),
                ..TrackEvent::default()
            };
            assert_eq!(
                written(|writer| writer.begin(value, value, value)),
                written(|writer| writer.event(value, value, TrackEventKind::Begin, begin)),
            );
            let names = [Arg::RunNs, Arg::WaitNs, Arg::BlockNs];
            let end = TrackEvent {
                arguments: names.map(|name| name.number(value)).to_vec(),
                ..TrackEvent::default()
            };
            let arguments = names.map(|name| (name, value));
            assert_eq!(
                written(|writer| writer.end(value, value, arguments)),
                written(|writer| writer.event(value, value, TrackEventKind::End, end)),
            );
        }
    }
}
