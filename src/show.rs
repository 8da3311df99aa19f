// SPDX-License-Identifier: GPL-2.0

//! Prints the call graph in the format of the kernel's function graph tracer, with the run, wait
//! and block times of a call on its line.
//!
//! ```text
//! # CPU  DURATION                  FUNCTION CALLS
//! # |     |   |                     |   |   |   |
//!  1) + 24.377 us   |  vfs_readlink();
//!  1)               |  hrtimer_nanosleep() {
//!  1) * 20236.83 us |    do_nanosleep(); /* run=154.723 wait=9.414 block=20072.700 us ... */
//!  1) * 20403.77 us |  } /* run=321.662 wait=9.414 block=20072.700 us ... */
//! ```
//!
//! A line is printed again if it did not fit into the buffer. Therefore the state that is kept
//! between lines is updated only after a complete line.

mod columns;
mod pairing;
mod remarks;

pub(crate) use self::pairing::CpuLines;

use core::fmt::Write;

use self::pairing::{
    PendingCall,
    RecordedTimes, //
};

use crate::{
    events,
    ktrace::{
        output::{
            iter::{
                Header,
                Line, //
                RecordContent,
                RecordedEntry,
            },
            printed::Printed,
            seq::Seq, //
        },
        record::{
            context::MAX_ARGS,
            GraphReturn, //
        },
    },
    option,
};

/// Prints a record of `cpu`. `readings` has the state of each CPU.
pub(crate) fn print(line: &mut Line<'_>, readings: Option<&mut [CpuLines]>, cpu: usize) -> Printed {
    let options = line.options();
    // Records of calls may remain from a time when the option was on, and so may a pending entry.
    // They are printed in the same way.
    let kept = readings.as_deref().and_then(|readings| readings.get(cpu));
    let waits = kept.is_some_and(|reading| reading.pending.is_some());
    if options & option::GRAPH == 0 && !waits && !is_of_call(line) {
        return Printed::Unhandled;
    }
    let has_state = kept.is_some();
    let mut next = kept.copied().unwrap_or_default();
    let mut page = Page {
        line,
        options,
        reading: &mut next,
        has_state,
        late_ns: 0,
        earlier: None,
    };
    let mut printed = page.print();
    let is_whole = page.line.seq().is_whole();
    let reading = readings.and_then(|readings| readings.get_mut(cpu));
    match printed {
        Printed::Unhandled => {}
        _ if is_whole => {
            if let Some(reading) = reading {
                *reading = next;
            }
        }
        // An entry that was consumed from the buffer must be kept nevertheless.
        Printed::Kept | Printed::Done if next.pending.is_some() => {
            if let Some(reading) = reading {
                reading.pending = next.pending;
            }
            printed = Printed::Partial;
        }
        _ => printed = Printed::Partial,
    }
    printed
}

/// Returns whether a record is an entry, an exit or the times of a call.
fn is_of_call(line: &Line<'_>) -> bool {
    matches!(
        line.kind(),
        RecordContent::GraphEntry(_) | RecordContent::GraphReturn(_)
    ) || events::funcgraph_times::read(&line.record()).is_some()
}

/// A line that is being printed.
struct Page<'a, 'b> {
    line: &'a mut Line<'b>,
    options: u32,
    reading: &'a mut CpuLines,
    /// Whether there is state that is kept between lines.
    has_state: bool,
    /// The time from the event that is shown to its record, in ns.
    late_ns: u64,
    /// The header and the time of the record that is shown, if it is not the current record.
    earlier: Option<(Header, u64)>,
}

impl Page<'_, '_> {
    fn has(&self, option: u32) -> bool {
        self.options & option != 0
    }

    fn seq(&mut self) -> Seq<'_> {
        self.line.seq()
    }

    /// Returns the header of the record that is shown.
    fn header(&self) -> Header {
        self.earlier
            .map_or_else(|| self.line.header(), |(header, _)| header)
    }

    fn print(&mut self) -> Printed {
        let times = events::funcgraph_times::read(&self.line.record());
        if let Some(pending) = self.reading.pending.take() {
            return self.finish_pending(pending, times);
        }
        if let Some(times) = times {
            if !self.has_state {
                // Without state between lines, as in `ftrace_dump()`, the times cannot be shown on
                // the line of the call.
                return self.comment();
            }
            // The times are shown on the line of the call's exit, which is the next record.
            self.reading.times = Some(times);
            return Printed::Done;
        }
        match self.line.kind() {
            RecordContent::GraphEntry(entry) => self.entry(&entry),
            RecordContent::GraphReturn(ret) => self.ret(&ret),
            RecordContent::Plain => Printed::Unhandled,
            RecordContent::Other => self.comment(),
        }
    }

    /// Prints a pending entry. The current record is the one after it, which may be the record of
    /// the call's times.
    fn finish_pending(&mut self, pending: PendingCall, times: Option<RecordedTimes>) -> Printed {
        let entry = &pending.entry;
        let is_its = |func: usize, depth: i32| func == entry.call.func && depth == entry.call.depth;
        let same_task = pending.header.pid() == self.line.pid();
        if let Some(times) = times.filter(|times| same_task && is_its(times.func.0, times.depth)) {
            // The exit is the next record.
            self.reading.pending = Some(PendingCall {
                times: Some(times),
                ..pending
            });
            return Printed::Done;
        }
        self.earlier = Some((pending.header, pending.time));
        self.late_ns = entry.late_ns;
        self.prologue(Some((entry.call.func, true)));
        if let RecordContent::GraphReturn(ret) = self.line.kind() {
            if same_task && is_its(ret.call.func, ret.call.depth) {
                self.leaf(entry, &ret, pending.times.as_ref());
                return Printed::Done;
            }
        }
        self.reading.times = pending.times;
        self.nested(entry);
        Printed::Earlier
    }

    fn entry(&mut self, entry: &RecordedEntry) -> Printed {
        if self.reading.hides_entry(self.options, &entry.call) {
            return Printed::Done;
        }
        self.late_ns = entry.late_ns;
        self.prologue(Some((entry.call.func, true)));
        // Read these first: the search for the next record may consume this one.
        let (header, time) = (self.line.header(), self.line.time());
        let mut times = None;
        let next = self.line.next(&entry.call, |record| {
            let read = events::funcgraph_times::read(record);
            let is_times = read.is_some();
            times = read.or(times);
            is_times
        });
        match next.ret {
            Some(ret) => {
                self.leaf(entry, &ret, times.as_ref());
                // Skip the exit only if the line was complete. A pipe skips a record by itself.
                if (!next.taken || next.in_pack) && self.seq().is_whole() {
                    self.line.skip_next();
                }
            }
            None => {
                self.reading.times = times;
                self.nested(entry);
            }
        }
        if !next.taken {
            return Printed::Done;
        }
        if !self.seq().is_whole() {
            self.reading.pending = Some(PendingCall {
                entry: *entry,
                header,
                time,
                times,
            });
        }
        match next.ret {
            // The kernel consumes the exit, which is now the first record.
            Some(_) if !next.in_pack => Printed::Done,
            _ => Printed::Kept,
        }
    }

    /// Prints an entry and its exit as one line, if the exit is the next record.
    fn leaf(&mut self, entry: &RecordedEntry, ret: &GraphReturn, times: Option<&RecordedTimes>) {
        self.reading.depth = entry.call.depth.wrapping_sub(1);
        self.reading.set_open(&entry.call, false);
        self.duration(ret);
        self.indent(entry.call.depth);
        self.seq().symbol(entry.call.func);
        self.arguments(entry);
        self.seq().text(";");
        self.remarks(ret, return_address(entry), None, times);
        self.seq().text("\n");
        self.irq(ret.call.func, false);
    }

    /// Prints the entry of a call that calls other functions.
    fn nested(&mut self, entry: &RecordedEntry) {
        self.reading.depth = entry.call.depth;
        self.reading.set_open(&entry.call, true);
        self.no_duration();
        self.indent(entry.call.depth);
        self.seq().symbol(entry.call.func);
        self.arguments(entry);
        self.seq().text(" {");
        if let Some(address) = return_address(entry) {
            self.seq().text(" /* <-");
            self.seq().symbol_offset(address);
            self.seq().text(" */");
        }
        self.seq().text("\n");
    }

    fn ret(&mut self, ret: &GraphReturn) -> Printed {
        let times = match &self.reading.times {
            // There is a call of an interrupt between these times and the exit that they belong to.
            Some(times) if ret.call.depth > times.depth => None,
            _ => self.reading.times.take(),
        };
        if self.reading.hides_return(self.options, &ret.call) {
            return Printed::Done;
        }
        let times =
            times.filter(|times| times.func.0 == ret.call.func && times.depth == ret.call.depth);
        self.reading.depth = ret.call.depth.wrapping_sub(1);
        let matches = self.has_state && self.reading.is_open(&ret.call);
        self.prologue(None);
        self.duration(ret);
        self.indent(ret.call.depth);
        self.seq().text("}");
        let named = !matches || self.has(option::TAIL) || self.has(option::RETVAL);
        let name = named.then_some(ret.call.func);
        self.reading.set_open(&ret.call, false);
        self.remarks(ret, None, name, times.as_ref());
        self.seq().text("\n");
        if self.has(option::OVERRUN) {
            let _ = writeln!(self.seq(), " (Overruns: {})", ret.overrun);
        }
        self.irq(ret.call.func, false);
        Printed::Done
    }

    /// Prints a record of another type as a comment between the calls.
    fn comment(&mut self) -> Printed {
        self.prologue(None);
        self.no_duration();
        if self.reading.depth > 0 {
            self.indent(self.reading.depth.wrapping_add(1));
        }
        self.seq().text("/* ");
        match self.line.text() {
            Printed::Done => {}
            other => return other,
        }
        self.line.strip_newline();
        self.seq().text(" */\n");
        Printed::Done
    }
}

/// Returns the return address of a call, if it was recorded.
fn return_address(entry: &RecordedEntry) -> Option<usize> {
    match entry.nr_words {
        1 => entry.words.first().copied(),
        n if n > MAX_ARGS => entry.words.get(MAX_ARGS).copied(),
        _ => None,
    }
}
