// SPDX-License-Identifier: MIT OR Apache-2.0

//! Marks of programs, the sections that they mark, triggers, and chains of wakeups, in the trace
//! event format.

use super::{
    chrome::Records,
    records::{
        Args,
        Category,
        Ns,
        Record, //
    },
};
use crate::{
    model::{
        chain_text,
        Chain,
        TaskId, //
    },
    recording::{
        printable,
        Comm,
        Event,
        Kind,
        TaskName, //
    },
};

impl Records<'_, '_> {
    /// Writes a mark, the end of a section, a trigger, or that records were lost.
    ///
    /// Marks can begin within a call and end outside of it: marks of atrace are therefore not
    /// shown as intervals. Sections are, on a thread of their own.
    pub(super) fn marks(&mut self, event: &Event<'_>) {
        let id = TaskId::new(event.pid, event.cpu);
        match event.kind {
            Kind::Marker { text } => {
                let text = String::from_utf8_lossy(text);
                self.mark(id, event.time, &text);
            }
            Kind::Lost { .. } => self.mark(id, event.time, "records lost"),
            Kind::Section {
                task,
                is_async,
                cookie,
                name,
                total_ns,
                run_ns,
                wait_ns,
                block_ns,
            } => {
                let name = printable(name);
                if is_async {
                    return self.async_section(event, task, (&name, cookie), total_ns);
                }
                let args = Args {
                    run_ns: Some(run_ns),
                    wait_ns: Some(wait_ns),
                    block_ns: Some(block_ns),
                    ..Args::default()
                };
                self.section(event, task, &name, total_ns, args);
            }
            Kind::Trigger {
                task,
                rule,
                value,
                text,
            } => {
                let args = Args {
                    rule: Some(rule),
                    value: Some(value),
                    ..Args::default()
                };
                self.trigger(event, task, &printable(text), args);
            }
            _ => {}
        }
    }

    fn mark(&mut self, id: TaskId, time: u64, name: &str) {
        let thread = self.thread(id, Comm::default());
        self.instant(thread, name, Category::Mark, time);
    }

    fn section(&mut self, event: &Event<'_>, task: TaskName, name: &str, ns: u64, args: Args<'_>) {
        let id = TaskId::new(task.pid, event.cpu);
        let thread = self.section_thread(id, task.comm);
        let begin = self.section_begin(id, event.time, ns);
        self.begin(thread, name, Category::Section, begin);
        self.end(thread, name, event.time, Some(args));
    }

    /// Writes an asynchronous section. Each of them has an id of its own: only those of the same
    /// id are nested.
    fn async_section(
        &mut self,
        event: &Event<'_>,
        task: TaskName,
        (name, cookie): (&str, i64),
        ns: u64,
    ) {
        let id = TaskId::new(task.pid, event.cpu);
        let thread = self.thread(id, task.comm);
        let number = self.next_async();
        let record = |ph, time, args| Record {
            cat: Some(Category::Section),
            ts: Some(Ns(time)),
            id: Some(number),
            args,
            ..Record::new(ph, thread, name)
        };
        let args = Args {
            cookie: Some(cookie),
            ..Args::default()
        };
        self.record(&record('b', event.time.saturating_sub(ns), None));
        self.record(&record('e', event.time, Some(args)));
    }

    fn trigger(&mut self, event: &Event<'_>, task: TaskName, text: &str, args: Args<'_>) {
        let thread = self.thread(TaskId::new(task.pid, event.cpu), task.comm);
        self.record(&Record {
            cat: Some(Category::Trigger),
            ts: Some(Ns(event.time)),
            scope: Some('t'),
            args: Some(args),
            ..Record::new('i', thread, &format!("trigger: {text}"))
        });
    }

    /// Writes a chain of wakeups, at the time when its task was woken.
    pub(super) fn write_chain(&mut self, chain: &Chain) {
        let symbols = self.symbols();
        let text = chain_text(&chain.steps(), |func| symbols.name(func));
        let thread = self.thread(chain.id, chain.task.comm);
        self.record(&Record {
            cat: Some(Category::Chain),
            ts: Some(Ns(chain.time)),
            scope: Some('t'),
            args: Some(Args {
                block_ns: Some(chain.block_ns),
                ..Args::default()
            }),
            ..Record::new('i', thread, &format!("woken by chain: {text}"))
        });
    }
}
