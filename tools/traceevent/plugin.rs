// SPDX-License-Identifier: GPL-2.0

//! A plugin for libtraceevent, which trace-cmd, perf and KernelShark read traces with: shows packs
//! (`docs/compact.md`) as if each of their items had a record of its own.
//!
//! What a word of a pack says is the module's own code, `src/ktrace/compact/word.rs`.

#![no_std]
// Shifts before masks, as in the kernel.
#![allow(clippy::precedence)]

mod pack;
mod tep;
mod text;
#[allow(dead_code)]
#[path = "../../src/ktrace/compact/word.rs"]
mod word;

use core::{
    ffi::{
        c_int,
        c_void,
        CStr, //
    },
    fmt::{
        self,
        Write, //
    },
};

use crate::{
    pack::{
        lines,
        Last,
        Layout,
        Line,
        Pack, //
    },
    tep::{
        Event,
        Handler,
        Record,
        Seq,
        Tep, //
    },
    word::{
        Item,
        Said, //
    },
};

/// How many columns the reader gives the name of an event.
const NAME: usize = 21;

static LAST: Last = Last::new();

/// The event of a pack.
struct FuncgraphPack;

impl Layout {
    fn new(event: Event) -> Option<Self> {
        Some(Self {
            start: event.offset(c"start")?,
            repeats: event.offset(c"repeats")?,
            taken: event.offset(c"taken")?,
            site_shift: event.offset(c"site_shift")?,
            serial: event.offset(c"serial")?,
            mult: event.offset(c"mult")?,
            text: event.offset(c"text")?,
            flags: event.offset(c"common_flags")?,
            preempt_count: event.offset(c"common_preempt_count")?,
        })
    }

    /// What a record of that number begins with, where a pack's does otherwise.
    fn header<'a>(&self, pack: &[u8], room: &'a mut [u8], id: u16, said: &Said) -> &'a [u8] {
        let len = pack.len().min(room.len());
        let (Some(header), Some(pack)) = (room.get_mut(..len), pack.get(..len)) else {
            return &[];
        };
        header.copy_from_slice(pack);
        let fields = [
            (self.flags, said.flags),
            (self.preempt_count, said.preempt_count),
        ];
        for (at, value) in fields {
            if let Some(byte) = header.get_mut(at) {
                *byte = value;
            }
        }
        for (byte, value) in header.iter_mut().zip(id.to_ne_bytes()) {
            *byte = value;
        }
        header
    }
}

/// The kernel's event that a line would be of if it had a record of its own.
fn event_of(line: &Line) -> &'static CStr {
    match line.said.item {
        Item::Function { .. } => c"function",
        Item::Leaf(_) | Item::Begin(_) => c"funcgraph_entry",
        Item::Return(_) => c"funcgraph_exit",
    }
}

impl Handler for FuncgraphPack {
    const SYSTEM: &'static CStr = c"ftrace";
    const EVENT: &'static CStr = c"funcgraph_pack";

    fn print(tep: Tep, out: &mut Seq, record: &Record<'_>, event: Event) -> fmt::Result {
        let bytes = record.bytes();
        let read = || {
            let layout = Layout::new(event)?;
            Some((layout, Pack::new(bytes, &layout, &tep)?))
        };
        let Some((layout, pack)) = read() else {
            return out.write_str("not a pack that this plugin can read");
        };
        let nr = pack.items(record.time()).count();
        let skip = LAST.skip(record.cpu(), &pack, nr);
        write!(out, "{} items", nr.saturating_sub(skip))?;
        for line in lines(pack.items(record.time()).skip(skip)) {
            let name = event_of(&line);
            let id = tep.event(Self::SYSTEM, name).map_or(event.id(), Event::id);
            let mut room = [0; 32];
            let header = layout.header(bytes, &mut room, id, &line.said);
            out.write_char('\n')?;
            tep.write_prefix(out, record, header, line.said.time);
            let name = name.to_str().unwrap_or("");
            let room = NAME.saturating_sub(name.len());
            write!(out, ": {name}:{:room$}", "")?;
            text::write_line(out, &tep, &line)?;
        }
        Ok(())
    }
}

/// Called by libtraceevent when it has loaded this.
///
/// # Safety
///
/// Only for libtraceevent: the handle stays until it has called [`tep_plugin_unloader`].
#[no_mangle]
pub unsafe extern "C" fn tep_plugin_loader(tep: *mut c_void) -> c_int {
    // SAFETY: By the precondition.
    match unsafe { Tep::new(tep) }.map(Tep::register::<FuncgraphPack>) {
        Some(Ok(())) => 0,
        Some(Err(status)) => status,
        None => -1,
    }
}

/// Called by libtraceevent before it unloads this.
///
/// # Safety
///
/// Only for libtraceevent: the handle is that of [`tep_plugin_loader`].
#[no_mangle]
pub unsafe extern "C" fn tep_plugin_unloader(tep: *mut c_void) {
    // SAFETY: By the precondition.
    if let Some(tep) = unsafe { Tep::new(tep) } {
        tep.unregister::<FuncgraphPack>();
    }
}

/// Nothing here panics; were it to, the reader of the trace has to go.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    tep::abort()
}
