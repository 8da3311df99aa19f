// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a recording as a stream of typed events in the order of their times.

mod cpu_buffer;
mod decode;
mod event;
mod fields;
mod merge;
mod packs;
mod page;
mod reorder;
mod retval;
mod symbols;
mod values;

use std::{
    ffi::CString,
    fs,
    ops::ControlFlow,
    path::Path,
    time::Duration, //
};

use crate::sys::{
    EventFormat,
    Input,
    RawRecord, //
};

pub use cpu_buffer::CpuBuffer;
pub use decode::Decoder;
pub use event::{
    context_name,
    printable,
    state_name, //
    Blocked,
    CallId,
    CallTimes,
    Comm,
    Event,
    Kind,
    Since,
    TaskName,
    Waker,
};
pub use fields::Number;
pub use merge::Merge;
pub use retval::{
    value_text,
    ReturnValue, //
};
pub use symbols::{
    FuncId,
    Symbols, //
};
pub use values::{
    FieldKey,
    FieldValue, //
};

use crate::sys;
use packs::Packs;
use reorder::Reorder;

/// The time that a library may take to open a small recording.
const LIMIT_S: u64 = 20;
/// The speed that can be expected at least for a large one, which may be compressed.
const BYTES_PER_S: u64 = 4 << 20;

/// An open recording.
pub struct Recording {
    input: Input,
    /// Against crashes and hangs of the libraries.
    guard: sys::Guard,
}

impl Recording {
    /// Opens a recording.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a recording.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let limit = Duration::from_secs(LIMIT_S + size / BYTES_PER_S);
        let guard = sys::Guard::new(path, limit);
        let _progress = guard.begin();
        let input = Input::open(path)?;
        Ok(Self { input, guard })
    }

    /// Returns the number of CPUs of the machine that recorded.
    pub fn cpus(&self) -> usize {
        self.input.cpus()
    }

    /// Returns the release and the architecture of the kernel that recorded, if they are known.
    pub fn kernel(&self) -> Option<String> {
        let uname = self.input.uname()?.to_string_lossy();
        // Name, host, release, architecture: a host has no spaces in its name.
        let mut words = uname.split_whitespace().skip(2);
        let release = words.next()?;
        Some(match words.next() {
            Some(architecture) => format!("{release} ({architecture})"),
            None => release.to_owned(),
        })
    }

    /// Returns the format of an event by its name, and its group if there are several.
    pub fn format_by_name(&self, system: Option<&str>, name: &str) -> Option<EventFormat<'_>> {
        let system = system.map(CString::new).transpose().ok()?;
        let name = CString::new(name).ok()?;
        self.input.formats().event(system.as_deref(), &name)
    }

    /// Returns a numeric field of an event.
    pub fn number(&self, format: &EventFormat<'_>, field: &str) -> Option<Number> {
        let field = CString::new(field).ok()?;
        Number::new(format, &field, self.input.formats().is_big_endian())
    }

    /// Returns a number of 64 bits at a place of records that their format does not describe.
    fn number_at(&self, offset: usize) -> Number {
        Number::at(offset, 8, false, self.input.formats().is_big_endian())
    }

    /// Creates the table of the functions that occur.
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(self.input.formats())
    }

    /// Calls `visit` for each event, in the order of their times, until it breaks. Functions are
    /// added to `symbols`.
    ///
    /// # Errors
    ///
    /// If the recording is damaged.
    pub fn for_each(
        &self,
        symbols: &mut Symbols<'_>,
        mut visit: impl FnMut(&Event<'_>, &Symbols<'_>) -> ControlFlow<()>,
    ) -> anyhow::Result<()> {
        let progress = self.guard.begin();
        let decoder = Decoder::new(self.input.formats());
        let mut packs = Packs::new(self.input.formats(), self.input.nr_buffers());
        let mut reorder = Reorder::default();
        let mut handle = |raw: RawRecord<'_>| {
            // The libraries sort records by time. Items of packs up to this time are complete.
            reorder.drain(raw.time, |event| visit(event, symbols))?;
            if let Some(lost) = decoder.lost(&raw) {
                visit(&lost, symbols)?;
            }
            if packs.id() == Some(decoder.id(raw.data)) {
                let pid = decoder.pid(raw.data);
                let queue = reorder.queue(raw.buffer, raw.cpu);
                if packs.decode(&raw, pid, symbols, queue).is_some() {
                    return ControlFlow::Continue(());
                }
            }
            visit(&decoder.event(&raw, symbols), symbols)
        };
        self.input
            .for_each(|raw| progress.outside(|| handle(raw)))?;
        let _ = reorder.drain(u64::MAX, |event| visit(event, symbols));
        Ok(())
    }
}
