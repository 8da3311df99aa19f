// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decodes packed records with the module's own code.

use std::collections::VecDeque;

use super::{
    event::{
        CallId,
        Event,
        Kind, //
    },
    symbols::Symbols, //
};
use crate::sys::{
    Formats,
    RawRecord, //
};

#[allow(
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "shared with the module"
)]
#[path = "../../../../src/ktrace/compact/encoding.rs"]
mod word;

#[allow(
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "shared with the plugin"
)]
#[path = "../../../traceevent/pack.rs"]
mod pack;

use pack::{
    Last,
    Layout,
    Numbers,
    Pack, //
};
use word::{
    DecodedItem,
    Item, //
    PackedCall,
};

/// The decoder of the packs of a recording.
pub struct Packs {
    event: Option<(u16, Layout)>,
    order: Order,
    /// The latest packs, for each buffer.
    last: Vec<Last>,
    items: Vec<DecodedItem>,
}

/// The byte order of the recording.
#[derive(Clone, Copy)]
struct Order {
    big_endian: bool,
}

impl Numbers for Order {
    fn u32(&self, bytes: [u8; 4]) -> u32 {
        match self.big_endian {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        }
    }

    fn u64(&self, bytes: [u8; 8]) -> u64 {
        match self.big_endian {
            true => u64::from_be_bytes(bytes),
            false => u64::from_le_bytes(bytes),
        }
    }
}

impl Packs {
    pub fn new(formats: &Formats, nr_buffers: usize) -> Self {
        let event = || {
            let format = formats.event(Some(c"ftrace"), c"funcgraph_pack")?;
            let at = |name| Some(format.field(name)?.offset);
            let layout = Layout {
                start: at(c"start")?,
                repeats: at(c"repeats")?,
                taken: at(c"taken")?,
                site_shift: at(c"site_shift")?,
                serial: at(c"serial")?,
                mult: at(c"mult")?,
                text: at(c"text")?,
                flags: at(c"common_flags")?,
                preempt_count: at(c"common_preempt_count")?,
            };
            Some((format.id(), layout))
        };
        let event = event();
        let buffers = if event.is_some() { nr_buffers } else { 0 };
        Self {
            event,
            order: Order {
                big_endian: formats.is_big_endian(),
            },
            last: (0..buffers).map(|_| Last::new()).collect(),
            items: Vec::new(),
        }
    }

    /// Returns the id of the event of packs, if the recording can contain any.
    pub fn id(&self) -> Option<u16> {
        self.event.map(|(id, _)| id)
    }

    /// Appends the items of a pack to `queue`. Returns `None` if the record is not a pack.
    pub fn decode(
        &mut self,
        raw: &RawRecord<'_>,
        pid: i32,
        symbols: &mut Symbols<'_>,
        queue: &mut VecDeque<Event<'static>>,
    ) -> Option<()> {
        let (_, layout) = self.event?;
        let pack = Pack::new(raw.data, &layout, &self.order)?;
        self.items.clear();
        self.items.extend(pack.items(raw.time));
        let skip = self
            .last
            .get(raw.buffer)?
            .skip(raw.cpu, &pack, self.items.len());
        for item in self.items.iter().skip(skip) {
            queue.push_back(Event {
                time: item.time,
                cpu: raw.cpu,
                pid,
                id: 0,
                data: &[],
                kind: kind(item, symbols),
            });
        }
        Some(())
    }
}

fn kind(item: &DecodedItem, symbols: &mut Symbols<'_>) -> Kind<'static> {
    let mut id = |call: &PackedCall| CallId {
        func: symbols.func(call.func as u64),
        depth: call.depth,
    };
    match &item.item {
        Item::Function { ip, parent_ip } => Kind::Function {
            func: symbols.func(*ip as u64),
            parent: symbols.func(*parent_ip as u64),
        },
        Item::Leaf(call) => Kind::Call {
            call: id(call),
            duration_ns: call.ns,
        },
        Item::Begin(call) => Kind::CallBegin {
            call: id(call),
            late_ns: call.ns,
        },
        Item::Return(call) => Kind::CallEnd {
            call: id(call),
            duration_ns: call.ns,
        },
    }
}
