// SPDX-License-Identifier: MIT OR Apache-2.0

//! The call graph as text.

use std::{
    collections::VecDeque,
    io::{
        self,
        Write, //
    },
};

use rustc_hash::FxHashMap;

use super::{
    line::{
        indent, //
        Columns,
        Times,
        HEADER,
    },
    Format,
};
use crate::recording::{
    value_text, //
    CallId,
    CallTimes,
    Comm,
    Event,
    Kind,
    Recording,
    ReturnValue,
    Symbols,
};

/// The maximum number of lines that are kept until it is known whether a call has callees.
const MAX_LINES: usize = 4096;

/// The writer of the text.
pub struct Graph<'a> {
    recording: &'a Recording,
    header_is_written: bool,
    /// The lines that are not written yet, because a line before them is not complete.
    lines: VecDeque<Line>,
    /// The number of the first of them.
    first: u64,
    /// The call that began with the latest event of a CPU: the number of its line.
    pending: FxHashMap<usize, Pending>,
    /// The times of the call that returns next on a CPU.
    times: FxHashMap<usize, CallTimes>,
    /// The depth of the call in which comments of a CPU are.
    depths: FxHashMap<usize, i32>,
    comms: FxHashMap<i32, Comm>,
    retval: Option<ReturnValue>,
}

/// A line, complete or not.
enum Line {
    Complete(String),
    Begin(Columns, String),
}

#[derive(Clone, Copy)]
struct Pending {
    line: u64,
    pid: i32,
    call: CallId,
}

impl<'a> Graph<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        Self {
            recording,
            header_is_written: false,
            lines: VecDeque::new(),
            first: 0,
            pending: FxHashMap::default(),
            times: FxHashMap::default(),
            depths: FxHashMap::default(),
            comms: FxHashMap::default(),
            retval: ReturnValue::new(recording),
        }
    }

    fn columns(&self, time: u64, event: &Event<'_>, symbols: &Symbols<'_>) -> Columns {
        let comm = match self.comms.get(&event.pid) {
            Some(comm) => *comm,
            None => symbols.comm(event.pid),
        };
        Columns {
            time,
            cpu: event.cpu,
            comm,
            pid: event.pid,
            duration: None,
        }
    }

    /// Adds a complete line.
    fn line(&mut self, text: String) {
        self.lines.push_back(Line::Complete(text));
    }

    /// The line of a call that began becomes that of a call with callees.
    fn complete_begin(&mut self, cpu: usize) {
        if let Some(pending) = self.pending.remove(&cpu) {
            self.complete(pending.line, |columns, function| {
                format!("{columns}{function}() {{\n")
            });
        }
    }

    fn complete(&mut self, line: u64, text: impl FnOnce(Columns, String) -> String) {
        let index = line.checked_sub(self.first);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let Some(line) = index.and_then(|index| self.lines.get_mut(index)) else {
            return;
        };
        if let Line::Begin(columns, function) =
            std::mem::replace(line, Line::Complete(String::new()))
        {
            *line = Line::Complete(text(columns, function));
        }
    }

    fn begin(&mut self, event: &Event<'_>, call: CallId, late_ns: u64, symbols: &Symbols<'_>) {
        let time = event.time.saturating_sub(late_ns);
        let columns = self.columns(time, event, symbols);
        let name = symbols.name(call.func);
        let function = format!("{:1$}{name}", "", indent(call.depth));
        let line = self.first + self.lines.len() as u64;
        self.lines.push_back(Line::Begin(columns, function));
        let pid = event.pid;
        self.pending.insert(event.cpu, Pending { line, pid, call });
        self.depths.insert(event.cpu, call.depth);
    }

    fn end(&mut self, event: &Event<'_>, call: CallId, ns: u64, symbols: &Symbols<'_>) {
        let times = self.times.remove(&event.cpu);
        let times = times.filter(|times| times.call == call);
        let times = times.map(|times| Times(&times, symbols).to_string());
        let retval = self.retval.as_ref().and_then(|retval| retval.get(event));
        let retval = retval.map(|value| format!("ret={}", value_text(value)));
        let remarks: Vec<_> = retval.into_iter().chain(times).collect();
        let remarks = remarks.join(" ");
        self.depths.insert(event.cpu, call.depth.saturating_sub(1));
        let pending = self.pending.get(&event.cpu).copied();
        if let Some(pending) = pending.filter(|p| p.call == call && p.pid == event.pid) {
            self.pending.remove(&event.cpu);
            let comment = match remarks.is_empty() {
                true => String::new(),
                false => format!(" /* {remarks} */"),
            };
            self.complete(pending.line, |mut columns, function| {
                columns.duration = Some(ns);
                format!("{columns}{function}();{comment}\n")
            });
            return;
        }
        self.complete_begin(event.cpu);
        let mut columns = self.columns(event.time, event, symbols);
        columns.duration = Some(ns);
        let (name, indent) = (symbols.name(call.func), indent(call.depth));
        let comment = match remarks.is_empty() {
            true => remarks,
            false => format!(" {remarks}"),
        };
        self.line(format!("{columns}{:indent$}}} /* {name}{comment} */\n", ""));
    }

    /// Adds a line with a comment.
    fn comment(&mut self, event: &Event<'_>, text: &str, symbols: &Symbols<'_>) {
        self.complete_begin(event.cpu);
        let columns = self.columns(event.time, event, symbols);
        // As in the kernel, comments in an outermost call are not indented.
        let depth = self.depths.get(&event.cpu).copied();
        let depth = depth.filter(|depth| *depth > 0);
        let depth = depth.map_or(0, |depth| depth.saturating_add(1));
        let text = text.trim_end().replace("*/", "*\\/");
        self.line(format!("{columns}{:1$}/* {text} */\n", "", indent(depth)));
    }

    fn write(&mut self, out: &mut dyn Write, all: bool) -> io::Result<()> {
        if !std::mem::replace(&mut self.header_is_written, true) {
            out.write_all(HEADER.as_bytes())?;
        }
        while let Some(line) = self.lines.front() {
            if let Line::Begin(columns, _) = line {
                if !all && self.lines.len() < MAX_LINES {
                    break;
                }
                let cpu = columns.cpu;
                self.complete_begin(cpu);
                continue;
            }
            if let Some(Line::Complete(text)) = self.lines.pop_front() {
                self.first += 1;
                out.write_all(text.as_bytes())?;
            }
        }
        Ok(())
    }
}

impl Format for Graph<'_> {
    fn event(
        &mut self,
        out: &mut dyn Write,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        match event.kind {
            Kind::CallBegin { call, late_ns } => {
                self.complete_begin(event.cpu);
                self.begin(event, call, late_ns, symbols);
            }
            Kind::CallEnd { call, duration_ns } => self.end(event, call, duration_ns, symbols),
            Kind::Call { call, duration_ns } => {
                self.complete_begin(event.cpu);
                self.begin(event, call, duration_ns, symbols);
                self.end(event, call, duration_ns, symbols);
            }
            Kind::CallTimes(times) => {
                self.times.insert(event.cpu, times);
            }
            Kind::Function { func, parent } => {
                self.complete_begin(event.cpu);
                let columns = self.columns(event.time, event, symbols);
                let (func, parent) = (symbols.name(func), symbols.name(parent));
                self.line(format!("{columns}{func} <-{parent}\n"));
            }
            Kind::Marker { text } => {
                let text = String::from_utf8_lossy(text);
                self.comment(event, &text, symbols);
            }
            Kind::Lost { records } => {
                self.complete_begin(event.cpu);
                self.times.remove(&event.cpu);
                let text = match records {
                    Some(records) => format!("CPU:{} [LOST {records} EVENTS]\n", event.cpu),
                    None => format!("CPU:{} [LOST EVENTS]\n", event.cpu),
                };
                self.line(text);
            }
            _ => {
                if let Kind::SetComm { task, .. } | Kind::Exec { task, .. } = event.kind {
                    self.comms.insert(task.pid, task.comm);
                }
                let text = self.recording.text(event);
                self.comment(event, &text, symbols);
            }
        }
        self.write(out, false)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, true)
    }
}
