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

use core::fmt::Write;

use crate::{
    events::{
        self,
        CONTEXTS, //
    },
    function_trace::option,
    ktrace::{
        escape::Escaped,
        output::{
            iter::{
                is_irq_entry,
                Entry,
                Header,
                Kind,
                Line, //
            },
            printed::Printed,
            seq::{
                self,
                Seq, //
            },
        },
        record::{
            context::MAX_ARGS,
            GraphEntry,
            GraphReturn, //
        },
        task::{
            sched_state::STATE_NAMES,
            Comm, //
        },
        value_names::Names, //
    },
};

/// The maximum depth for which entries and exits are matched, as in the kernel
/// (`FTRACE_RETFUNC_DEPTH`).
const MAX_DEPTH: usize = 50;

/// The number of spaces for each level.
const INDENT: usize = 2;

/// The state that is kept between the lines of one CPU.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// The task of the latest line.
    pid: Option<i32>,
    /// The depth at which comments are indented.
    depth: i32,
    /// The depth of the interrupt that is hidden together with its callees.
    hidden: Option<i32>,
    /// The functions whose entry was shown and whose exit was not, indexed by depth.
    open: [usize; MAX_DEPTH],
    /// The run, wait and block times of the next return.
    times: Option<Times>,
    /// An entry that was consumed from the buffer, but whose line did not fit.
    pending: Option<Pending>,
}

/// The content of [`Reading::pending`].
#[derive(Clone, Copy)]
struct Pending {
    entry: Entry,
    header: Header,
    /// In units of the trace clock.
    time: u64,
    times: Option<Times>,
}

/// The run, wait and block times of a call, as recorded.
type Times = events::funcgraph_times::Read;

impl Default for Reading {
    fn default() -> Self {
        Self {
            pid: None,
            depth: 0,
            hidden: None,
            open: [0; MAX_DEPTH],
            times: None,
            pending: None,
        }
    }
}

impl Reading {
    /// Records that the entry of a call was shown, or its exit.
    fn set_open(&mut self, call: &GraphEntry, open: bool) {
        if let Some(place) = usize::try_from(call.depth)
            .ok()
            .and_then(|depth| self.open.get_mut(depth))
        {
            *place = if open { call.func } else { 0 };
        }
    }

    /// Returns whether the latest entry that was shown at its depth is of this function. Returns
    /// true if the call is too deep to know.
    fn is_open(&self, call: &GraphEntry) -> bool {
        usize::try_from(call.depth)
            .ok()
            .and_then(|depth| self.open.get(depth))
            .is_none_or(|func| *func == call.func)
    }

    /// Returns whether an entry is hidden because it is of an interrupt, or of a call within one.
    fn hides_entry(&mut self, options: u32, call: &GraphEntry) -> bool {
        if options & option::IRQS != 0 {
            return false;
        }
        if self.hidden.is_none() && is_irq_entry(call.func) {
            self.hidden = Some(call.depth);
        }
        self.hidden.is_some()
    }

    /// Returns whether an exit is hidden because it is of an interrupt, or of a call within one.
    fn hides_return(&mut self, options: u32, call: &GraphEntry) -> bool {
        if options & option::IRQS != 0 {
            return false;
        }
        let Some(depth) = self.hidden else {
            // The entry may have been lost.
            return is_irq_entry(call.func);
        };
        if depth >= call.depth {
            self.hidden = None;
        }
        true
    }
}

/// Prints a record of `cpu`. `readings` has the state of each CPU.
pub(crate) fn print(line: &mut Line<'_>, readings: Option<&mut [Reading]>, cpu: usize) -> Printed {
    let options = line.options();
    // Records of calls may remain from a time when the option was on, and so may a pending entry.
    // They are printed in the same way.
    let kept = readings.as_deref().and_then(|readings| readings.get(cpu));
    let waits = kept.is_some_and(|reading| reading.pending.is_some());
    if options & option::GRAPH == 0 && !waits && !is_of_call(line) {
        return Printed::Unhandled;
    }
    let known = kept.is_some();
    let mut next = kept.copied().unwrap_or_default();
    let mut page = Page {
        line,
        options,
        reading: &mut next,
        known,
        ago_ns: 0,
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
    matches!(line.kind(), Kind::GraphEntry(_) | Kind::GraphReturn(_))
        || events::funcgraph_times::read(&line.record()).is_some()
}

/// A line that is being printed.
struct Page<'a, 'b> {
    line: &'a mut Line<'b>,
    options: u32,
    reading: &'a mut Reading,
    /// Whether there is state that is kept between lines.
    known: bool,
    /// The time from the event that is shown to its record, in ns.
    ago_ns: u64,
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
            if !self.known {
                // Without state between lines, as in `ftrace_dump()`, the times cannot be shown on
                // the line of the call.
                return self.comment();
            }
            // The times are shown on the line of the call's exit, which is the next record.
            self.reading.times = Some(times);
            return Printed::Done;
        }
        match self.line.kind() {
            Kind::GraphEntry(entry) => self.entry(&entry),
            Kind::GraphReturn(ret) => self.ret(&ret),
            Kind::Plain => Printed::Unhandled,
            Kind::Other => self.comment(),
        }
    }

    /// Prints a pending entry. The current record is the one after it, which may be the record of
    /// the call's times.
    fn finish_pending(&mut self, pending: Pending, times: Option<Times>) -> Printed {
        let entry = &pending.entry;
        let is_its = |func: usize, depth: i32| func == entry.call.func && depth == entry.call.depth;
        let same_task = pending.header.pid() == self.line.pid();
        if let Some(times) = times.filter(|times| same_task && is_its(times.func.0, times.depth)) {
            // The exit is the next record.
            self.reading.pending = Some(Pending {
                times: Some(times),
                ..pending
            });
            return Printed::Done;
        }
        self.earlier = Some((pending.header, pending.time));
        self.ago_ns = entry.late_ns;
        self.prologue(Some((entry.call.func, true)));
        if let Kind::GraphReturn(ret) = self.line.kind() {
            if same_task && is_its(ret.call.func, ret.call.depth) {
                self.leaf(entry, &ret, pending.times.as_ref());
                return Printed::Done;
            }
        }
        self.reading.times = pending.times;
        self.nested(entry);
        Printed::Earlier
    }

    fn entry(&mut self, entry: &Entry) -> Printed {
        if self.reading.hides_entry(self.options, &entry.call) {
            return Printed::Done;
        }
        self.ago_ns = entry.late_ns;
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
            self.reading.pending = Some(Pending {
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
    fn leaf(&mut self, entry: &Entry, ret: &GraphReturn, times: Option<&Times>) {
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
    fn nested(&mut self, entry: &Entry) {
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
        let matches = self.known && self.reading.is_open(&ret.call);
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

    fn arguments(&mut self, entry: &Entry) {
        match entry.words.first_chunk::<MAX_ARGS>() {
            Some(args) if entry.nr_words >= MAX_ARGS => self.seq().arguments(entry.call.func, args),
            _ => self.seq().text("()"),
        }
    }

    /// Prints the comment behind a call.
    fn remarks(
        &mut self,
        ret: &GraphReturn,
        address: Option<usize>,
        name: Option<usize>,
        times: Option<&Times>,
    ) {
        let value = ret.value.filter(|_| self.has(option::RETVAL));
        if value.is_none() && address.is_none() && name.is_none() && times.is_none() {
            return;
        }
        let hexadecimal = self.has(option::RETVAL_HEX);
        let mut seq = self.seq();
        seq.text(" /*");
        if let Some(name) = name {
            seq.text(" ");
            seq.symbol(name);
        }
        if let Some(address) = address {
            seq.text(" <-");
            seq.symbol_offset(address);
        }
        if let Some(value) = value {
            let _ = match as_error(value).filter(|_| !hexadecimal) {
                Some(error) => write!(seq, " ret={error}"),
                None => write!(seq, " ret={value:#x}"),
            };
        }
        if let Some(times) = times {
            write_times(&mut seq, times);
        }
        seq.text(" */");
    }

    /// Prints what precedes the function: a line for a change of the task, a line for the start of
    /// an interrupt, and the first columns.
    fn prologue(&mut self, call: Option<(usize, bool)>) {
        self.task();
        if let Some((func, begins)) = call {
            self.irq(func, begins);
        }
        self.columns();
    }

    /// Prints a line that shows the change of the task, if this CPU has switched to another task.
    fn task(&mut self) {
        let pid = self.header().pid();
        let before = self.reading.pid.replace(pid);
        let Some(before) = before.filter(|before| *before != pid) else {
            return;
        };
        if !self.known {
            return;
        }
        self.seq()
            .text(" ------------------------------------------\n");
        self.cpu();
        self.proc(before);
        self.seq().text(" => ");
        self.proc(pid);
        self.seq()
            .text("\n ------------------------------------------\n\n");
    }

    fn cpu(&mut self) {
        let width = digits(kernel::cpu::nr_cpu_ids().saturating_sub(1));
        let cpu = self.line.cpu();
        let _ = write!(self.seq(), " {cpu:width$}) ");
    }

    fn proc(&mut self, pid: i32) {
        /// The maximum number of bytes of a name that are shown.
        const NAME: usize = 7;
        /// The width of the name and the id together.
        const WIDTH: usize = 14;
        let comm = seq::comm_of(pid).escaped();
        let name = comm.prefix(NAME);
        let sign = usize::from(pid < 0);
        let len = name.len() + 1 + sign + digits(pid.unsigned_abs());
        let spaces = WIDTH.saturating_sub(len);
        let mut seq = self.seq();
        seq.spaces(spaces / 2);
        seq.bytes(name);
        let _ = write!(seq, "-{pid}");
        seq.spaces(spaces - spaces / 2);
    }

    /// Prints the columns before the duration.
    fn columns(&mut self) {
        if !self.line.has_context() {
            return;
        }
        let time = self
            .earlier
            .map_or_else(|| self.line.time(), |(_, time)| time);
        let time = match self.line.is_time_in_ns() {
            true => time.saturating_sub(self.ago_ns),
            false => time,
        };
        if self.has(option::ABSTIME) {
            let us = time / 1000;
            let _ = write!(self.seq(), "{:5}.{:06} |  ", us / 1_000_000, us % 1_000_000);
        }
        if self.has(option::RELTIME) {
            let us = time.saturating_sub(self.line.start_time()) / 1000;
            let _ = write!(self.seq(), "{us:9} us |  ");
        }
        if self.has(option::CPU) {
            self.cpu();
        }
        if self.has(option::PROC) {
            let pid = self.header().pid();
            self.proc(pid);
            self.seq().text(" | ");
        }
        if self.line.is_latency_format() {
            self.seq().text(" ");
            let header = self.header();
            self.line.latency(&header);
            self.seq().text(" | ");
        }
    }

    /// Prints a line for the start or the end of an interrupt.
    fn irq(&mut self, func: usize, begins: bool) {
        if !is_irq_entry(func) {
            return;
        }
        self.columns();
        let shown = self.shows_duration();
        if shown {
            self.seq().text("  ");
        }
        self.seq()
            .text(if begins { "==========>" } else { "<==========" });
        if shown {
            self.seq().text(" |");
        }
        self.seq().text("\n");
    }

    fn shows_duration(&self) -> bool {
        self.has(option::DURATION) && self.line.has_context()
    }

    fn duration(&mut self, ret: &GraphReturn) {
        if !self.shows_duration() {
            return;
        }
        let ns = ret.rettime_ns.wrapping_sub(ret.calltime_ns);
        let mark = match self.has(option::OVERHEAD) {
            true => seq::mark(ns),
            false => ' ',
        };
        let mut seq = self.seq();
        let _ = write!(seq, "{mark} ");
        seq.duration(ns);
        seq.text("|  ");
    }

    fn no_duration(&mut self) {
        if self.shows_duration() {
            self.seq().text("              |  ");
        }
    }

    fn indent(&mut self, depth: i32) {
        let spaces = (depth.max(0) as usize).wrapping_mul(INDENT);
        self.seq().spaces(spaces);
    }
}

/// Returns the return address of a call, if it was recorded.
fn return_address(entry: &Entry) -> Option<usize> {
    match entry.nr_words {
        1 => entry.words.first().copied(),
        n if n > MAX_ARGS => entry.words.get(MAX_ARGS).copied(),
        _ => None,
    }
}

/// Returns the error number that a value represents, if it is one: in 64 bits, or in 32 bits for a
/// function that returns an `int`.
fn as_error(value: usize) -> Option<i64> {
    const MAX_ERRNO: i64 = 4095;
    let is_int = value >> 32 == 0;
    let number = match is_int {
        true => i64::from(value as u32 as i32),
        false => value as i64,
    };
    (-MAX_ERRNO..0).contains(&number).then_some(number)
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

fn name_of(value: u64, names: Names) -> &'static str {
    let name = names.iter().find(|(number, _)| *number == value);
    name.and_then(|(_, name)| name.to_str().ok()).unwrap_or("?")
}

/// Prints the run, wait and block times of a call in us.
fn write_times(seq: &mut Seq<'_>, times: &Times) {
    if times.run_ns | times.wait_ns | times.block_ns == 0 {
        let _ = write!(seq, " times unknown, switches={}", times.switches);
        return;
    }
    for (name, ns) in [
        (" run=", times.run_ns),
        (" wait=", times.wait_ns),
        (" block=", times.block_ns),
    ] {
        let _ = write!(seq, "{name}{}.{:03}", ns / 1000, ns % 1000);
    }
    let _ = write!(seq, " us switches={}", times.switches);
    if times.block_ns == 0 {
        return;
    }
    let _ = write!(
        seq,
        " state={}",
        name_of(u64::from(times.state), STATE_NAMES)
    );
    if times.caller.0 != 0 {
        seq.text(" in ");
        seq.symbol(times.caller.0);
    }
    seq.text(" by ");
    seq.bytes(Escaped::in_comment(Comm::new(&times.waker_comm).as_bytes()).as_bytes());
    let _ = write!(seq, "-{}", times.waker_pid.0);
    if times.waker_context != 0 {
        let _ = write!(
            seq,
            "/{}",
            name_of(u64::from(times.waker_context), CONTEXTS)
        );
    }
}
