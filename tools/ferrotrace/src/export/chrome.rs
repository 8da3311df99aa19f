// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trace event format of Chrome.
//!
//! Each task has two threads: one with its calls, and one with its states, whose id is that of the
//! task plus 1,000,000,000. If it marked sections, it has a third one, whose id is that of the task
//! plus 500,000,000. Beginnings have no arguments, because speedscope adds them to names. Ends have
//! them, and the names of the beginnings, without which speedscope ignores them.

use std::io::{
    self,
    Write, //
};

use rustc_hash::{
    FxHashMap,
    FxHashSet, //
};

use super::{
    records::{
        Args,
        Category,
        Ns,
        Record,
        Thread, //
    },
    Stream, //
};
use crate::{
    model::{
        Call,
        Chain,
        Detail,
        Ending,
        Interval,
        Model,
        Nesting,
        OpenCall,
        State,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        state_name, //
        Comm,
        Event,
        Kind,
        Symbols,
    },
};

/// The writer of the format.
#[derive(Default)]
pub struct Chrome {
    /// Whether no record was written.
    is_first: bool,
    /// The threads whose names were written.
    named: FxHashSet<TaskId>,
    tgids: FxHashMap<i32, i32>,
    /// The innermost calls of tasks that all began at the same time, and are not written.
    begun: FxHashMap<TaskId, Vec<OpenCall>>,
    /// The sections of tasks.
    sections: FxHashMap<TaskId, Nesting>,
    /// The number of asynchronous sections.
    nr_async: u64,
}

/// The visitor for one event.
pub(super) struct Records<'a, 'b> {
    out: &'a mut dyn Write,
    kept: &'a mut Chrome,
    symbols: &'a Symbols<'b>,
    written: io::Result<()>,
}

impl Stream for Chrome {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.is_first = true;
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
    }

    fn event(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        let mut records = Records::new(out, self, symbols);
        if let Kind::Fork {
            child, child_tgid, ..
        } = event.kind
        {
            records.kept.tgids.insert(child.pid, child_tgid);
        }
        records.marks(event);
        model.event(event, symbols, &mut records);
        records.written
    }

    fn finish(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        let mut records = Records::new(out, self, symbols);
        model.finish(&mut records);
        records.written?;
        writeln!(out, "\n]}}")
    }
}

impl<'a, 'b> Records<'a, 'b> {
    fn new(out: &'a mut dyn Write, kept: &'a mut Chrome, symbols: &'a Symbols<'b>) -> Self {
        Self {
            out,
            kept,
            symbols,
            written: Ok(()),
        }
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
        let separator = if std::mem::take(&mut self.kept.is_first) {
            "\n"
        } else {
            ",\n"
        };
        if self.written.is_ok() {
            let written = self.out.write_all(separator.as_bytes());
            self.written =
                written.and_then(|()| Ok(serde_json::to_writer(&mut *self.out, record)?));
        }
    }

    /// Returns the thread with the calls of a task. Writes its name when it occurs first: the name
    /// that the task had at the end, if it is known.
    pub(super) fn thread(&mut self, id: TaskId, now: Comm) -> Thread {
        let pid = id.pid();
        let process = self.kept.tgids.get(&pid).copied().unwrap_or(pid);
        let thread = match id.idle_cpu() {
            Some(cpu) => Thread::idle(cpu),
            None => Thread::new(process, pid),
        };
        if self.kept.named.insert(id) {
            let comm = self.comm(id, now).to_string();
            if thread.is_first() {
                self.name(thread, "process_name", comm.clone());
            }
            self.name(thread.states(), "thread_name", format!("{comm} states"));
            self.name(thread, "thread_name", comm);
        }
        thread
    }

    /// Returns the names of functions.
    pub(super) fn symbols(&self) -> &'a Symbols<'b> {
        self.symbols
    }

    fn name(&mut self, thread: Thread, record: &str, name: String) {
        self.record(&Record {
            args: Some(Args {
                name: Some(name),
                ..Args::default()
            }),
            ..Record::new('M', thread, record)
        });
    }

    /// Returns the thread with the sections of a task. Writes its name when it occurs first.
    pub(super) fn section_thread(&mut self, id: TaskId, now: Comm) -> Thread {
        let thread = self.thread(id, now).sections();
        if !self.kept.sections.contains_key(&id) {
            let comm = self.comm(id, now);
            self.name(thread, "thread_name", format!("{comm} sections"));
        }
        thread
    }

    /// Returns when a section that ended at `end` began.
    pub(super) fn section_begin(&mut self, id: TaskId, end: u64, ns: u64) -> u64 {
        self.kept.sections.entry(id).or_default().begin(end, ns)
    }

    /// Returns the number of the next asynchronous section.
    pub(super) fn next_async(&mut self) -> u64 {
        self.kept.nr_async += 1;
        self.kept.nr_async
    }

    /// Returns the name that a task had at the end, if it is known.
    fn comm(&self, id: TaskId, now: Comm) -> Comm {
        let last = self.symbols.comm(id.pid());
        if last.is_empty() {
            now
        } else {
            last
        }
    }

    pub(super) fn instant(&mut self, thread: Thread, name: &str, cat: Category, time: u64) {
        self.record(&Record {
            cat: Some(cat),
            ts: Some(Ns(time)),
            scope: Some('t'),
            ..Record::new('i', thread, name)
        });
    }

    pub(super) fn begin(&mut self, thread: Thread, name: &str, cat: Category, time: u64) {
        self.record(&Record {
            cat: Some(cat),
            ts: Some(Ns(time)),
            ..Record::new('B', thread, name)
        });
    }

    pub(super) fn end(&mut self, thread: Thread, name: &str, time: u64, args: Option<Args<'_>>) {
        self.record(&Record {
            ts: Some(Ns(time)),
            args,
            ..Record::new('E', thread, name)
        });
    }

    /// Writes the beginnings of calls that were kept.
    fn write_begun(&mut self, task: &Task, thread: Thread) {
        let symbols = self.symbols;
        let mut begun = std::mem::take(self.kept.begun.entry(task.id()).or_default());
        for call in begun.drain(..) {
            let name = symbols.name(call.id.func);
            self.begin(thread, name, Category::Call, call.start);
        }
        self.kept.begun.insert(task.id(), begun);
    }
}

impl Visitor for Records<'_, '_> {
    fn state_end(&mut self, task: &Task, interval: &Interval) {
        let thread = self.thread(task.id(), task.name().comm).states();
        let symbols = self.symbols;
        let mut args = Args::default();
        let name = match interval.state {
            State::Run { cpu } => {
                args.cpu = Some(cpu);
                "run"
            }
            State::Wait { .. } => "wait",
            State::Block { state } => {
                args.state = Some(state_name(state));
                "block"
            }
            State::Unknown => "unknown",
            State::Dead => return,
        };
        match &interval.detail {
            Detail::Blocked(blocked) => {
                args.place = blocked.caller.map(|func| symbols.name(func));
                args.waker = Some(blocked.waker.to_string());
            }
            Detail::Behind(prev, _) => args.behind = Some(prev.to_string()),
            Detail::None | Detail::Left(_) => {}
        }
        self.begin(thread, name, Category::State, interval.start);
        self.end(thread, name, interval.end, Some(args));
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        let thread = self.thread(task.id(), task.name().comm);
        let begun = self.kept.begun.entry(task.id()).or_default();
        if begun.last().is_some_and(|last| last.start != call.start) {
            self.write_begun(task, thread);
        }
        self.kept.begun.entry(task.id()).or_default().push(*call);
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let thread = self.thread(task.id(), task.name().comm);
        let name = self.symbols.name(call.func);
        let begun = self.kept.begun.entry(task.id()).or_default();
        if call.start == call.end && begun.pop().is_some() {
            // Calls that took less than the resolution of the clock are instants: speedscope takes
            // an end for one that has no beginning if both, and another beginning, have one time.
            return self.instant(thread, name, Category::Call, call.end);
        }
        self.write_begun(task, thread);
        let mut args = Args::default();
        if call.split.wait != 0 || call.split.block != 0 {
            args.run_ns = Some(call.split.run);
            args.wait_ns = Some(call.split.wait);
            args.block_ns = Some(call.split.block);
        }
        if let Some(blocked) = &call.blocked {
            args.state = Some(state_name(blocked.state));
            args.place = blocked.caller.map(|func| self.symbols.name(func));
            args.waker = Some(blocked.waker.to_string());
        }
        args.note = match call.ending {
            Ending::Returned => None,
            Ending::Lost => Some("the record of the return was lost"),
            Ending::Open => Some("had not returned"),
        };
        let has_args = args.run_ns.is_some() || args.note.is_some();
        self.end(thread, name, call.end, has_args.then_some(args));
    }

    fn chain(&mut self, chain: &Chain) {
        self.write_chain(chain);
    }
}
