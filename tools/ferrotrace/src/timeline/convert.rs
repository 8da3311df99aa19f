// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns what the model finds into packets.

use std::io::Write;

use rustc_hash::FxHashMap;

use super::{
    chains::KeptEnd,
    marks::Marks,
    messages::{
        BlockedReason,
        FtraceEvent,
        Packet,
        TaskState,
        TaskStateKind,
        TrackEvent,
        TrackEventKind,
        Waking, //
    },
    tracks::{
        TaskTracks,
        Tracks, //
    },
    writer::{
        Arg,
        Writer, //
    },
};
use crate::{
    model::{
        Call,
        Chain,
        Detail,
        Ending,
        Interval,
        OpenCall,
        State,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        state_name, //
        Blocked,
        Comm,
        Since,
        Symbols,
        Waker,
    },
};

/// The flags of ftrace's record header for hardware and software interrupts.
const HARDIRQ: u32 = 0x08;
const SOFTIRQ: u32 = 0x10;

/// The state between two events.
#[derive(Default)]
pub struct Kept {
    pub tracks: Tracks,
    pub marks: Marks,
    /// How the tasks that wait for a CPU were woken.
    wakeups: FxHashMap<TaskId, Wakeup>,
    /// The reason why a task was blocked before it was woken.
    reasons: FxHashMap<TaskId, Blocked>,
    /// The CPU on which a task ran last, until its next state is written.
    ran_on: FxHashMap<TaskId, usize>,
    /// When the latest task on each CPU left it.
    left: FxHashMap<usize, u64>,
    /// The ends of the slices of blocked intervals that are not written yet.
    pub ends: FxHashMap<TaskId, KeptEnd>,
    next_flow: u64,
    lost: u64,
}

#[derive(Clone, Copy)]
struct Wakeup {
    time: u64,
    waker: Waker,
    flow: Option<u64>,
}

/// The visitor for one event.
pub struct Convert<'a, 'b, W> {
    pub writer: &'a mut Writer<W>,
    pub kept: &'a mut Kept,
    pub symbols: &'a Symbols<'b>,
}

impl<W: Write> Convert<'_, '_, W> {
    /// Returns the name that is shown for a task: the one that it had at the end, if it is known.
    pub(super) fn comm(&self, id: TaskId, now: Comm) -> Comm {
        let last = self.symbols.comm(id.pid());
        if last.is_empty() {
            now
        } else {
            last
        }
    }

    fn tracks(&mut self, task: &Task) -> TaskTracks {
        let (id, now) = (task.id(), task.name().comm);
        let symbols = self.symbols;
        self.kept.tracks.task(self.writer, id, || {
            let last = symbols.comm(id.pid());
            if last.is_empty() {
                now
            } else {
                last
            }
        })
    }

    /// Writes that records were lost.
    pub fn lost(&mut self, time: u64, cpu: usize, records: Option<u64>) {
        let (instants, counter) = self.kept.tracks.losses(self.writer);
        let name = match records {
            Some(records) => format!("{records} records lost"),
            None => "records lost".to_owned(),
        };
        let event = TrackEvent {
            name: Some(name),
            arguments: vec![Arg::Cpu.number(cpu as u64)],
            ..TrackEvent::default()
        };
        self.writer
            .event(time, instants, TrackEventKind::Instant, event);
        self.kept.lost += records.unwrap_or(0);
        let event = TrackEvent {
            counter_value: i64::try_from(self.kept.lost).ok(),
            ..TrackEvent::default()
        };
        self.writer
            .event(time, counter, TrackEventKind::Counter, event);
    }

    /// Writes that a task is in a state from `time` on. `cpu` is where it runs, or where it ran: so
    /// Perfetto knows which CPU it has left.
    fn state(&mut self, task: &Task, time: u64, kind: TaskStateKind, cpu: Option<usize>) {
        let state = TaskState {
            cpu: cpu.and_then(|cpu| i32::try_from(cpu).ok()),
            comm: Some(self.comm(task.id(), task.name().comm).to_string()),
            tid: Some(task.id().pid().into()),
            state: Some(kind.into()),
            prio: Some(task.prio()),
        };
        let packet = Packet {
            state: Some(state),
            ..Packet::default()
        };
        self.writer.packet(Some(time), packet);
    }

    /// Writes that a task runs. Two tasks never run on a CPU at the same time, but the times of
    /// their events can overlap by some ns.
    fn running(&mut self, task: &Task, interval: &Interval, cpu: usize) {
        let left = self.kept.left.insert(cpu, interval.end).unwrap_or(0);
        let start = interval.start.max(left).min(interval.end - 1);
        self.state(task, start, TaskStateKind::Running, Some(cpu));
        self.kept.ran_on.insert(task.id(), cpu);
    }

    /// Writes that a task does not run.
    fn not_running(&mut self, task: &Task, time: u64, kind: TaskStateKind) {
        let cpu = self.kept.ran_on.remove(&task.id());
        self.state(task, time, kind, cpu);
    }

    /// Writes that it is not known what a task does. Perfetto has no such state: a task that ran
    /// sleeps, any other task keeps its state.
    fn unknown(&mut self, task: &Task, interval: &Interval) {
        if self.kept.ran_on.contains_key(&task.id()) {
            self.not_running(task, interval.start, TaskStateKind::InterruptibleSleep);
        }
        let event = TrackEvent {
            name: Some("state unknown".to_owned()),
            ..TrackEvent::default()
        };
        self.off_cpu(task, interval, event);
    }

    /// Writes that a task was woken, with the function in which it had slept.
    fn waking(&mut self, task: &Task, time: u64, waker: &Waker) {
        let pid = task.id().pid();
        let waking = Waking {
            comm: Some(self.comm(task.id(), task.name().comm).to_string()),
            pid: Some(pid),
            prio: Some(task.prio()),
            success: Some(1),
            target_cpu: i32::try_from(task.cpu()).ok(),
        };
        let by = u32::try_from(waker.task.pid).ok();
        self.writer.ftrace(
            task.cpu(),
            FtraceEvent {
                timestamp: Some(time),
                pid: by,
                common_flags: Some(match waker.context {
                    0 => 0,
                    1 => SOFTIRQ,
                    _ => HARDIRQ,
                }),
                waking: Some(waking),
                ..FtraceEvent::default()
            },
        );
        let Some(blocked) = self.kept.reasons.remove(&task.id()) else {
            return;
        };
        let Some(caller) = blocked.caller else {
            return;
        };
        let caller = self.writer.function(caller, self.symbols.name(caller));
        let reason = BlockedReason {
            pid: Some(pid),
            caller: Some(caller),
            io_wait: Some(0),
        };
        self.writer.ftrace(
            task.cpu(),
            FtraceEvent {
                timestamp: Some(time),
                pid: by,
                blocked_reason: Some(reason),
                ..FtraceEvent::default()
            },
        );
    }

    fn off_cpu(&mut self, task: &Task, interval: &Interval, event: TrackEvent) {
        let track = self.begin_off_cpu(task, interval, event);
        let end = TrackEvent::default();
        self.writer
            .event(interval.end, track, TrackEventKind::End, end);
    }

    fn begin_off_cpu(&mut self, task: &Task, interval: &Interval, event: TrackEvent) -> u64 {
        let track = self.tracks(task).off_cpu();
        self.writer
            .event(interval.start, track, TrackEventKind::Begin, event);
        track
    }

    /// Returns whether a task that waits for a CPU was woken at `time` or before.
    pub(super) fn woken_before(&self, id: TaskId, time: u64) -> bool {
        let wakeup = self.kept.wakeups.get(&id);
        wakeup.is_some_and(|wakeup| wakeup.time <= time)
    }

    /// Writes the slice for an interval in which a task was blocked. Its end is kept, because the
    /// chain of wakeups may follow.
    fn blocked(&mut self, task: &Task, interval: &Interval, state: u32) {
        let letter = state_name(state);
        let event = match &interval.detail {
            Detail::Blocked(blocked) => {
                self.kept.reasons.insert(task.id(), *blocked);
                let function = blocked.caller.map_or("?", |func| self.symbols.name(func));
                TrackEvent {
                    name: Some(format!("{function} ({letter})")),
                    arguments: vec![
                        Arg::Waker.text(blocked.waker.task.to_string()),
                        Arg::Context.text(blocked.waker.context_name()),
                    ],
                    ..TrackEvent::default()
                }
            }
            _ => TrackEvent {
                name: Some(format!("blocked ({letter})")),
                ..TrackEvent::default()
            },
        };
        let track = self.begin_off_cpu(task, interval, event);
        let time = interval.end;
        self.kept.ends.insert(task.id(), KeptEnd { time, track });
    }

    /// Writes the slice for an interval in which a task waited for a CPU.
    fn waited(&mut self, task: &Task, interval: &Interval, since: Since, flow: Option<u64>) {
        let mut event = TrackEvent {
            name: Some("runnable".to_owned()),
            arguments: vec![Arg::Since.text(since.name())],
            ending_flows: flow.into_iter().collect(),
            ..TrackEvent::default()
        };
        if let Detail::Behind(prev, prio) = &interval.detail {
            event.name = Some(match prev.pid {
                0 => "waiting for an idle CPU".to_owned(),
                _ => format!("behind {prev}"),
            });
            let prio = u64::try_from(*prio).unwrap_or(0);
            event.arguments.push(Arg::Prio.number(prio));
        }
        self.off_cpu(task, interval, event);
    }
}

impl<W: Write> Visitor for Convert<'_, '_, W> {
    fn state_begin(&mut self, task: &Task, at: u64, state: State) {
        if state == State::Dead {
            self.tracks(task);
            self.not_running(task, at, TaskStateKind::Dead);
            self.kept.wakeups.remove(&task.id());
            self.kept.reasons.remove(&task.id());
        }
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        self.tracks(task);
        self.end_blocked(task.id(), Vec::new());
        let start = interval.start;
        match interval.state {
            State::Run { cpu } => self.running(task, interval, cpu),
            State::Block { state } => {
                self.not_running(task, start, sleep(state));
                self.blocked(task, interval, state);
            }
            State::Wait { since } => {
                let wakeup = self.kept.wakeups.remove(&task.id());
                let wakeup = wakeup.filter(|_| since == Since::Woken);
                match &wakeup {
                    Some(wakeup) => self.waking(task, start, &wakeup.waker),
                    None => self.not_running(task, start, TaskStateKind::Runnable),
                }
                let flow = wakeup.and_then(|wakeup| wakeup.flow);
                self.waited(task, interval, since, flow);
            }
            State::Unknown => self.unknown(task, interval),
            State::Dead => {}
        }
    }

    /// The arrow to the slice of the waiting begins at `at`, as the slice does. Perfetto ignores
    /// arrows that go back in time.
    fn wakeup(&mut self, task: &Task, (at, time): (u64, u64), waker: &Waker) {
        let by = TaskId::new(waker.task.pid, usize::MAX);
        let mut flow = None;
        if waker.context == 0 && by.idle_cpu().is_none() && self.kept.tracks.has(by) {
            self.kept.next_flow += 1;
            flow = Some(self.kept.next_flow);
            let comm = waker.task.comm;
            let tracks = self.kept.tracks.task(self.writer, by, || comm);
            let event = TrackEvent {
                name: Some(format!("wakes {}", task.name())),
                flows: flow.into_iter().collect(),
                ..TrackEvent::default()
            };
            self.writer
                .event(at, tracks.calls(), TrackEventKind::Instant, event);
        }
        let wakeup = Wakeup {
            time,
            waker: *waker,
            flow,
        };
        self.kept.wakeups.insert(task.id(), wakeup);
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        let track = self.tracks(task).calls();
        let name = self.symbols.name(call.id.func);
        let name = self.writer.function(call.id.func, name);
        self.writer.begin(call.start, track, name);
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let track = self.tracks(task).calls();
        let times = [
            (Arg::RunNs, call.split.run),
            (Arg::WaitNs, call.split.wait),
            (Arg::BlockNs, call.split.block),
        ];
        if call.switches == 0 && call.blocked.is_none() && call.ending == Ending::Returned {
            return self.writer.end(call.end, track, times);
        }
        let mut arguments = times.map(|(name, ns)| name.number(ns)).to_vec();
        if call.switches != 0 {
            arguments.push(Arg::Switches.number(call.switches.into()));
        }
        if let Some(blocked) = &call.blocked {
            arguments.push(Arg::State.text(state_name(blocked.state)));
            if let Some(caller) = blocked.caller {
                arguments.push(Arg::In.text(self.symbols.name(caller)));
            }
            arguments.push(Arg::Waker.text(blocked.waker.to_string()));
        }
        match call.ending {
            Ending::Returned => {}
            Ending::Lost => arguments.push(Arg::Note.text("the record of the return was lost")),
            Ending::Open => arguments.push(Arg::Note.text("had not returned")),
        }
        let event = TrackEvent {
            arguments,
            ..TrackEvent::default()
        };
        self.writer
            .event(call.end, track, TrackEventKind::End, event);
    }

    fn chain(&mut self, chain: &Chain) {
        self.write_chain(chain);
    }
}

/// Returns Perfetto's name for a state of a task that is not runnable.
fn sleep(state: u32) -> TaskStateKind {
    match state_name(state) {
        "D" | "I" => TaskStateKind::UninterruptibleSleep,
        "T" | "t" => TaskStateKind::Stopped,
        _ => TaskStateKind::InterruptibleSleep,
    }
}
