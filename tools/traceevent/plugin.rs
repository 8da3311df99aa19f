// SPDX-License-Identifier: GPL-2.0

//! A plugin for libtraceevent, the library with which trace-cmd, perf and KernelShark read traces.
//! It prints packed records (`docs/reference/compact.md`) as if each of their items had its own
//! record.
//!
//! The words of a packed record are decoded by the module's own code,
//! `src/ktrace/compact/encoding.rs`.

#![no_std]
// Shifts and masks are combined without parentheses, as in the module.
#![allow(clippy::precedence)]

mod columns;
#[allow(dead_code)]
#[path = "../../src/ktrace/escape.rs"]
mod escape;
mod pack;
mod tep;
mod text;
#[allow(dead_code)]
#[path = "../../src/ktrace/compact/encoding.rs"]
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
    columns::{
        Columns,
        Text, //
    },
    escape::Escaped,
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
        Part,
        Record,
        Seq,
        Tep, //
    },
    word::{
        DecodedItem, //
        Item,
    },
};

/// The width of the column for the name of an event.
const NAME: usize = 21;

/// The maximum length of the text before the name of an event.
const FRONT: usize = 192;

static LAST: Last = Last::new();

/// The event of packed records.
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

    /// Returns the header that a separate record of the event `id` would have for this item. It is
    /// derived from the header of the pack.
    fn header<'a>(&self, pack: &[u8], room: &'a mut [u8], id: u16, said: &DecodedItem) -> &'a [u8] {
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

/// Returns the kernel's event that a separate record for this line would have.
fn event_of(line: &Line) -> &'static CStr {
    match line.said.item {
        Item::Function { .. } => c"function",
        Item::Leaf(_) | Item::Begin(_) => c"funcgraph_entry",
        Item::Return(_) => c"funcgraph_exit",
    }
}

/// The text before the name of an event.
struct Front {
    /// The line of the packed record, as far as it was written.
    line: Text<FRONT>,
    flags: Text<32>,
    time: Text<32>,
    format: &'static CStr,
}

impl Front {
    /// The formats of times: in us, in ns, or without conversion.
    const FORMATS: [&'static CStr; 4] = [c"%6.1000d", c"%9d", c"%9.1d", c"%d"];

    /// Parses the current line of `out`. Must be called before any text of the packed record is
    /// written.
    fn new(tep: Tep, out: &mut Seq, record: &Record<'_>) -> Self {
        let mut part = |part| {
            out.taken_back(|out| tep.write_part(out, record, record.bytes(), record.time(), part))
        };
        let flags = part(Part::Flags);
        let usual = if tep.shows_ns() { c"%9d" } else { c"%6.1000d" };
        let times = [
            part(Part::Time(Self::FORMATS[0])),
            part(Part::Time(Self::FORMATS[1])),
            part(Part::Time(Self::FORMATS[2])),
            part(Part::Time(Self::FORMATS[3])),
        ];
        let line = Text::new(out.line());
        let mut this = Self {
            line,
            flags,
            time: Text::new(b""),
            format: usual,
        };
        for (format, time) in Self::FORMATS.into_iter().zip(times) {
            this.time = Text::new(time.as_bytes().trim_ascii());
            this.format = format;
            if this.columns().is_some() {
                return this;
            }
        }
        this.format = usual;
        this.time = Text::new(b"");
        this
    }

    fn columns(&self) -> Option<Columns<'_>> {
        let name = FuncgraphPack::EVENT.to_bytes();
        let (flags, time) = (self.flags.as_bytes(), self.time.as_bytes());
        Columns::new(self.line.as_bytes(), name, flags, time)
    }

    /// Writes the text for an item with the timestamp `time`. `before` is the timestamp of the
    /// previous line.
    fn write(
        &self,
        tep: Tep,
        out: &mut Seq,
        record: &Record<'_>,
        header: &[u8],
        time: u64,
        before: u64,
    ) -> fmt::Result {
        let comm = tep.comm(record);
        let name = Escaped::new(comm);
        // A name that needs escaping, for example because of a newline, breaks the columns.
        let columns = self.columns().filter(|_| name.as_bytes() == comm);
        if let Some(columns) = columns {
            let mut part = |part| -> Text<32> {
                out.taken_back(|out| tep.write_part(out, record, header, time, part))
            };
            let flags = part(Part::Flags);
            let text = part(Part::Time(self.format));
            let mut front: Text<FRONT> = Text::new(b"");
            // trace-cmd rounds times in this way.
            let unit = |ns: u64| match self.format == c"%6.1000d" {
                true => (ns.saturating_add(500) / 1000) as i64,
                false => ns as i64,
            };
            let difference = match columns.has_difference() {
                true => unit(time).wrapping_sub(unit(before)),
                false => 0,
            };
            let text = text.as_bytes().trim_ascii();
            columns.write(&mut front, flags.as_bytes(), text, difference);
            return out.write_bytes(front.as_bytes());
        }
        write!(
            out,
            "{:1$}",
            "",
            16usize.saturating_sub(name.as_bytes().len())
        )?;
        out.write_bytes(name.as_bytes())?;
        tep.write_part(out, record, header, time, Part::Task);
        tep.write_part(out, record, header, time, Part::Flags);
        out.write_char(' ')?;
        tep.write_part(out, record, header, time, Part::Time(self.format));
        out.write_str(": ")
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
        let front = Front::new(tep, out, record);
        write!(out, "{} items", nr.saturating_sub(skip))?;
        let mut before = record.time();
        for line in lines(pack.items(record.time()).skip(skip)) {
            let name = event_of(&line);
            let id = tep.event(Self::SYSTEM, name).map_or(event.id(), Event::id);
            let mut room = [0; 32];
            let header = layout.header(bytes, &mut room, id, &line.said);
            out.write_char('\n')?;
            let time = line.time();
            front.write(tep, out, record, header, time, before)?;
            before = time;
            let name = name.to_str().unwrap_or("");
            let room = NAME.saturating_sub(name.len());
            write!(out, "{name}:{:room$}", "")?;
            text::write_line(out, &tep, &line)?;
        }
        Ok(())
    }
}

/// Registers the plugin's handler. libtraceevent calls this function after it has loaded the
/// plugin.
///
/// # Safety
///
/// Must be called by libtraceevent only: the handle stays valid until it has called
/// [`tep_plugin_unloader`].
#[no_mangle]
pub unsafe extern "C" fn tep_plugin_loader(tep: *mut c_void) -> c_int {
    // SAFETY: libtraceevent passes null or a handle that is valid while the plugin is loaded.
    match unsafe { Tep::new(tep) }.map(Tep::register::<FuncgraphPack>) {
        Some(Ok(())) => 0,
        Some(Err(status)) => status,
        None => -1,
    }
}

/// Unregisters the plugin's handler. libtraceevent calls this function before it unloads the
/// plugin.
///
/// # Safety
///
/// Must be called by libtraceevent only, with the handle that was passed to [`tep_plugin_loader`].
#[no_mangle]
pub unsafe extern "C" fn tep_plugin_unloader(tep: *mut c_void) {
    // SAFETY: libtraceevent passes null or a handle that is valid while the plugin is loaded.
    if let Some(tep) = unsafe { Tep::new(tep) } {
        tep.unregister::<FuncgraphPack>();
    }
}

/// Ends the program that reads the trace. No code of the plugin is known to panic.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    tep::abort()
}
