// SPDX-License-Identifier: MIT OR Apache-2.0

//! Encodes the packets of which a timeline mostly consists, the beginnings and ends of calls,
//! without a message in memory. The result is that of [`Writer::event`](super::writer::Writer).

use prost::encoding::encode_varint;

use super::messages::TrackEventKind;

/// Fields of a packet.
const TIMESTAMP: u8 = 8;
const SEQUENCE: u8 = 10;
const TRACK_EVENT: u8 = 11;
const SEQUENCE_FLAGS: u8 = 13;

/// Fields of an event.
const ARGUMENTS: u8 = 4;
const KIND: u8 = 9;
const NAME_ID: u8 = 10;
const TRACK: u8 = 11;

/// Fields of an argument.
const ARGUMENT_NAME_ID: u8 = 1;
const ARGUMENT_NUMBER: u8 = 3;

/// The type of a field whose length precedes it.
const WITH_LENGTH: u8 = 2;

/// The fields that are equal in all packets of a timeline.
#[derive(Clone, Copy)]
pub struct Common {
    pub packet: u8,
    pub sequence: u32,
    pub flags: u32,
}

/// The encoder, with memory for the parts of a packet.
#[derive(Default)]
pub struct Encoder {
    argument: Vec<u8>,
    event: Vec<u8>,
    content: Vec<u8>,
}

impl Encoder {
    /// Appends the packet of the beginning of a call to `out`.
    pub fn begin(&mut self, common: Common, time: u64, track: u64, name: u64, out: &mut Vec<u8>) {
        self.event.clear();
        number(KIND, TrackEventKind::Begin as u64, &mut self.event);
        number(NAME_ID, name, &mut self.event);
        number(TRACK, track, &mut self.event);
        self.packet(common, time, out);
    }

    /// Appends the packet of the end of a call to `out`. The arguments are ids of names, and
    /// numbers.
    pub fn end(
        &mut self,
        common: Common,
        time: u64,
        track: u64,
        arguments: &[(u64, u64)],
        out: &mut Vec<u8>,
    ) {
        self.event.clear();
        for (name, value) in arguments {
            self.argument.clear();
            number(ARGUMENT_NAME_ID, *name, &mut self.argument);
            number(ARGUMENT_NUMBER, *value, &mut self.argument);
            bytes(ARGUMENTS, &self.argument, &mut self.event);
        }
        number(KIND, TrackEventKind::End as u64, &mut self.event);
        number(TRACK, track, &mut self.event);
        self.packet(common, time, out);
    }

    fn packet(&mut self, common: Common, time: u64, out: &mut Vec<u8>) {
        self.content.clear();
        number(TIMESTAMP, time, &mut self.content);
        number(SEQUENCE, common.sequence.into(), &mut self.content);
        bytes(TRACK_EVENT, &self.event, &mut self.content);
        number(SEQUENCE_FLAGS, common.flags.into(), &mut self.content);
        bytes(common.packet, &self.content, out);
    }
}

/// Appends a field with a number.
#[inline]
fn number(field: u8, value: u64, out: &mut Vec<u8>) {
    out.push(field << 3);
    varint(value, out);
}

/// Appends a field with bytes.
#[inline]
fn bytes(field: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push((field << 3) | WITH_LENGTH);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

/// Appends a number. Most are small.
#[inline]
fn varint(value: u64, out: &mut Vec<u8>) {
    match u8::try_from(value) {
        Ok(byte @ ..0x80) => out.push(byte),
        _ => encode_varint(value, out),
    }
}
