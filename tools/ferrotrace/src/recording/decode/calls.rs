// SPDX-License-Identifier: MIT OR Apache-2.0

//! Readers of events about calls, and of marks.

use super::{
    super::{
        event::{
            CallTimes,
            Kind, //
        },
        fields::Number, //
    },
    places::Fields,
    reader,
    Reader, //
};

#[path = "../../../../../src/ktrace/record/compressed_delta.rs"]
#[allow(
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "shared with the module"
)]
mod compressed_delta;

pub(super) fn function(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let (ip, parent_ip) = (fields.number(c"ip")?, fields.number(c"parent_ip")?);
    reader(move |data, symbols| {
        Some(Kind::Function {
            func: symbols.func(ip.get(data)?),
            parent: symbols.func(parent_ip.get(data)?),
        })
    })
}

pub(super) fn entry(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let call = fields.call()?;
    let fixed = call.depth.end();
    let big_endian = fields.big_endian;
    reader(move |data, symbols| {
        // The module appends words of 8 bytes, and how late the record is in 4 bytes.
        let rest = data.len().saturating_sub(fixed) % 8;
        let late_ns = match rest {
            4.. => {
                let place = Number::at(data.len() - rest, 4, false, big_endian);
                compressed_delta::CompressedDelta::from_bits(place.u32(data)?).ns()
            }
            _ => 0,
        };
        Some(Kind::CallBegin {
            call: call.get(data, symbols)?,
            late_ns,
        })
    })
}

pub(super) fn exit(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let call = fields.call()?;
    let (begin, end) = (fields.number(c"calltime")?, fields.number(c"rettime")?);
    reader(move |data, symbols| {
        Some(Kind::CallEnd {
            call: call.get(data, symbols)?,
            duration_ns: end.get(data)?.saturating_sub(begin.get(data)?),
        })
    })
}

pub(super) fn times(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let (call, blocked) = (fields.call()?, fields.blocked()?);
    let run_ns = fields.number(c"run_ns")?;
    let irq_ns = fields.irq();
    let wait_ns = fields.number(c"wait_ns")?;
    let block_ns = fields.number(c"block_ns")?;
    let switches = fields.number(c"switches")?;
    reader(move |data, symbols| {
        Some(Kind::CallTimes(CallTimes {
            call: call.get(data, symbols)?,
            run_ns: run_ns.get(data)?,
            irq_ns: irq_ns.get(data)?,
            wait_ns: wait_ns.get(data)?,
            block_ns: block_ns.get(data)?,
            switches: switches.u32(data)?,
            blocked: blocked.get(data, symbols)?,
        }))
    })
}

pub(super) fn print(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let text = fields.bytes(c"buf")?;
    reader(move |data, _| {
        Some(Kind::Marker {
            text: text.text(data)?.trim_ascii_end(),
        })
    })
}
