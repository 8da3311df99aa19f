// SPDX-License-Identifier: MIT OR Apache-2.0

//! Marks of programs, the sections that they mark, and triggers.

use std::io::Write;

use rustc_hash::{
    FxHashMap,
    FxHashSet, //
};

use super::{
    convert::Convert,
    messages::{
        FtraceEvent,
        Print,
        TrackEvent,
        TrackEventKind, //
    },
    tracks::TaskTracks,
    writer::Arg, //
};
use crate::{
    model::{
        Nesting,
        TaskId, //
    },
    recording::{
        Event,
        Kind,
        TaskName, //
    },
};

/// The state between two marks.
#[derive(Default)]
pub struct Marks {
    /// The tasks with marks of atrace, from which Perfetto makes the sections.
    with_atrace: FxHashSet<TaskId>,
    /// The sections of the other tasks.
    sections: FxHashMap<TaskId, Nesting>,
    /// The ends of the last asynchronous sections, by the numbers of their tracks.
    lanes: FxHashMap<TaskId, Vec<u64>>,
}

impl Marks {
    /// Returns the number of a track of this task that is free since `begin`. The sections must
    /// be in the order of `end`.
    fn lane(&mut self, id: TaskId, begin: u64, end: u64) -> usize {
        let lanes = self.lanes.entry(id).or_default();
        let free = lanes.iter().position(|last| *last <= begin);
        let lane = free.unwrap_or(lanes.len());
        match lanes.get_mut(lane) {
            Some(last) => *last = end,
            None => lanes.push(end),
        }
        lane
    }
}

impl<W: Write> Convert<'_, '_, W> {
    /// Writes a mark, the end of a section or a trigger.
    pub fn mark(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Marker { text } => self.marker(event, text),
            Kind::Section {
                task,
                is_async: false,
                name,
                total_ns,
                run_ns,
                wait_ns,
                block_ns,
                ..
            } => {
                let times = [
                    (Arg::RunNs, run_ns),
                    (Arg::WaitNs, wait_ns),
                    (Arg::BlockNs, block_ns),
                ];
                self.section(event, task, name, total_ns, times);
            }
            Kind::Section {
                task,
                cookie,
                name,
                total_ns,
                ..
            } => self.async_section(event, task, name, total_ns, cookie),
            Kind::Trigger {
                task,
                rule,
                value,
                text,
            } => self.trigger(event, task, (rule, value), text),
            _ => {}
        }
    }

    pub(super) fn tracks_of(&mut self, id: TaskId, now: TaskName) -> TaskTracks {
        let comm = self.comm(id, now.comm);
        self.kept.tracks.task(self.writer, id, || comm)
    }

    /// Writes a mark that a program made with `trace_marker`. Perfetto knows those of atrace.
    fn marker(&mut self, event: &Event<'_>, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let id = TaskId::new(event.pid, event.cpu);
        if is_atrace(&text) {
            self.kept.marks.with_atrace.insert(id);
            let print = FtraceEvent {
                timestamp: Some(event.time),
                pid: u32::try_from(event.pid).ok(),
                print: Some(Print {
                    buf: Some(format!("{text}\n")),
                }),
                ..FtraceEvent::default()
            };
            return self.writer.ftrace(event.cpu, print);
        }
        let mark = TrackEvent {
            name: Some(text.into_owned()),
            ..TrackEvent::default()
        };
        let tracks = self.tracks_of(id, TaskName::default());
        self.writer
            .event(event.time, tracks.task(), TrackEventKind::Instant, mark);
    }

    /// Writes a section of a thread, unless Perfetto makes it from marks.
    fn section(
        &mut self,
        event: &Event<'_>,
        task: TaskName,
        name: &[u8],
        ns: u64,
        times: [(Arg, u64); 3],
    ) {
        let id = TaskId::new(task.pid, event.cpu);
        if self.kept.marks.with_atrace.contains(&id) {
            return;
        }
        let nesting = self.kept.marks.sections.entry(id).or_default();
        let begin = nesting.begin(event.time, ns);
        let tracks = self.tracks_of(id, task);
        let track = self.kept.tracks.sections(self.writer, id, tracks);
        self.writer
            .event(begin, track, TrackEventKind::Begin, named(name));
        self.writer.end(event.time, track, times);
    }

    /// Writes an asynchronous section, unless Perfetto makes it from marks. Those that overlap are
    /// on different tracks.
    fn async_section(
        &mut self,
        event: &Event<'_>,
        task: TaskName,
        name: &[u8],
        ns: u64,
        cookie: i64,
    ) {
        let id = TaskId::new(task.pid, event.cpu);
        if self.kept.marks.with_atrace.contains(&id) {
            return;
        }
        let begin = event.time.saturating_sub(ns);
        let lane = self.kept.marks.lane(id, begin, event.time);
        let tracks = self.tracks_of(id, task);
        let tracks = self.kept.tracks.lane(self.writer, id, tracks, lane);
        self.writer
            .event(begin, tracks, TrackEventKind::Begin, named(name));
        let end = TrackEvent {
            arguments: vec![Arg::Cookie.signed(cookie)],
            ..TrackEvent::default()
        };
        self.writer
            .event(event.time, tracks, TrackEventKind::End, end);
    }

    /// Writes that a trigger rule about a task fired.
    fn trigger(
        &mut self,
        event: &Event<'_>,
        task: TaskName,
        (rule, value): (u32, i64),
        text: &[u8],
    ) {
        let mark = TrackEvent {
            name: Some(format!("trigger: {}", String::from_utf8_lossy(text))),
            arguments: vec![Arg::Rule.number(rule.into()), Arg::Value.signed(value)],
            ..TrackEvent::default()
        };
        let tracks = self.tracks_of(TaskId::new(task.pid, event.cpu), task);
        self.writer
            .event(event.time, tracks.task(), TrackEventKind::Instant, mark);
    }
}

fn named(name: &[u8]) -> TrackEvent {
    TrackEvent {
        name: Some(String::from_utf8_lossy(name).into_owned()),
        ..TrackEvent::default()
    }
}

/// Returns whether a mark has the format of Android's `atrace`, for example `B|PID|NAME`.
fn is_atrace(text: &str) -> bool {
    let mut chars = text.chars();
    let kind = chars.next().is_some_and(|kind| "BECSFINGH".contains(kind));
    let pid = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    kind && (chars.as_str().is_empty() && text == "E"
        || chars.as_str().strip_prefix('|').is_some_and(pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_of_asynchronous_sections_are_used_again() {
        let mut marks = Marks::default();
        let (a, b) = (TaskId::new(1, 0), TaskId::new(2, 0));
        assert_eq!(marks.lane(a, 0, 10), 0);
        assert_eq!(marks.lane(a, 5, 20), 1, "it overlaps the first one");
        assert_eq!(marks.lane(b, 5, 20), 0, "it is of another task");
        assert_eq!(marks.lane(a, 10, 21), 0);
        assert_eq!(marks.lane(a, 19, 22), 2);
        assert_eq!(marks.lane(a, 20, 23), 1);
    }

    #[test]
    fn marks_of_atrace() {
        for text in ["B|1|x", "E", "E|1", "S|12|x|3", "F|12|x|3", "C|1|n|5"] {
            assert!(is_atrace(text), "{text}");
        }
        for text in ["", "B", "B|x", "End", "X|1|x", "EE", "hello"] {
            assert!(!is_atrace(text), "{text}");
        }
    }
}
