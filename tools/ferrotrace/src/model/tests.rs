// SPDX-License-Identifier: MIT OR Apache-2.0

//! Properties of the model, for random sequences of events: of one that a kernel could have
//! written, and of any.

use super::{
    Call,
    Interval,
    Model,
    Names,
    OpenCall,
    Split,
    State,
    Task,
    TaskId,
    Visitor, //
};
use crate::recording::{
    Blocked,
    CallId,
    CallTimes,
    Comm,
    Event,
    FuncId,
    Kind,
    Since,
    TaskName,
    Waker, //
};
use rustc_hash::FxHashMap;

/// A generator of numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

struct NoNames;

impl Names for NoNames {
    fn comm(&self, _: i32) -> Comm {
        Comm::default()
    }
}

/// Checks each thing that the model reports.
#[derive(Default)]
struct Checker {
    ends: FxHashMap<TaskId, u64>,
    sums: FxHashMap<TaskId, Split>,
    unknown: u64,
    begun: u64,
    calls: Vec<(FuncId, Split)>,
    stacks: FxHashMap<TaskId, Vec<(OpenCall, u64)>>,
}

impl Visitor for Checker {
    fn state_begin(&mut self, task: &Task, _: u64, state: State) {
        if state == State::Dead {
            // Another task can have its id later.
            self.ends.remove(&task.id());
        }
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        assert!(interval.start < interval.end, "{interval:?}");
        if let Some(end) = self.ends.insert(task.id(), interval.end) {
            assert_eq!(interval.start, end, "a gap or an overlap: {interval:?}");
        }
        let sum = self.sums.entry(task.id()).or_default();
        match interval.state {
            State::Run { .. } => sum.run += interval.ns(),
            State::Wait { .. } => sum.wait += interval.ns(),
            State::Block { .. } => sum.block += interval.ns(),
            State::Unknown => self.unknown += interval.ns(),
            State::Dead => panic!("a task that has ended has no more states"),
        }
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        self.begun += 1;
        let stack = self.stacks.entry(task.id()).or_default();
        if let Some((caller, floor)) = stack.last_mut() {
            assert!(caller.id.depth < call.id.depth);
            assert!(
                *floor <= call.start,
                "a callee begins before the previous one ends"
            );
        }
        stack.push((*call, call.start));
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        let stack = self.stacks.entry(task.id()).or_default();
        let (begin, floor) = stack.pop().expect("a call that ends has begun");
        assert_eq!(begin.id.func, call.func);
        assert!(call.end >= floor, "a call ends before its callees");
        assert_eq!(task.calls().len(), stack.len());
        if let Some((_, floor)) = stack.last_mut() {
            *floor = call.end;
        }
        // `Split::new()` divides the duration; what is left of it is not negative.
        assert!(call.own.run <= call.split.run);
        assert!(call.own.wait <= call.split.wait);
        assert!(call.own.block <= call.split.block);
        assert!(call.split.wall() <= call.end - begin.start);
        self.calls.push((call.func, call.split));
    }
}

fn event(time: u64, pid: i32, kind: Kind<'static>) -> Event<'static> {
    Event {
        time,
        cpu: 0,
        pid,
        id: 0,
        data: &[],
        kind,
    }
}

fn task(pid: i32) -> TaskName {
    let comm = Comm::new(b"task");
    TaskName { pid, comm }
}

fn call(number: u64, depth: usize) -> CallId {
    CallId {
        func: FuncId::new(u32::try_from(number).unwrap()),
        depth: i32::try_from(depth).unwrap(),
    }
}

/// A task that runs, waits, blocks and calls functions at random. It knows the true times.
struct Simulated {
    events: Vec<Event<'static>>,
    time: u64,
    since: u64,
    total: Split,
    stack: Vec<(CallId, u64, Split)>,
    calls: Vec<(FuncId, Split)>,
}

impl Simulated {
    fn new() -> Self {
        Self {
            events: vec![event(
                1000,
                1,
                Kind::Wait {
                    task: task(1),
                    prio: 120,
                    ns: 0,
                    since: Since::Woken,
                    prev: task(0),
                    prev_prio: 120,
                },
            )],
            time: 1000,
            since: 1000,
            total: Split::default(),
            stack: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Writes an event some time after it happened.
    fn push(&mut self, late: u64, kind: Kind<'static>) {
        self.events.push(event(self.time + late, 1, kind));
    }

    fn begin(&mut self, random: &mut Random) {
        let id = call(random.below(20), self.stack.len());
        self.stack.push((id, self.time, self.total));
        self.push(
            0,
            Kind::CallBegin {
                call: id,
                late_ns: 0,
            },
        );
    }

    fn end(&mut self, recorded: bool) {
        let Some((id, start, before)) = self.stack.pop() else {
            return;
        };
        let ns = self.time - start;
        let off = self.total - before;
        let split = Split::new(ns, off.wait, off.block);
        self.calls.push((id.func, split));
        if recorded && off.wait + off.block != 0 {
            let times = CallTimes {
                call: id,
                run_ns: split.run,
                irq_ns: 0,
                wait_ns: split.wait,
                block_ns: split.block,
                switches: 1,
                blocked: Blocked::default(),
            };
            self.push(0, Kind::CallTimes(times));
        }
        let kind = Kind::CallEnd {
            call: id,
            duration_ns: ns,
        };
        self.push(0, kind);
    }

    /// Leaves the CPU and gets it back.
    fn switch(&mut self, random: &mut Random) {
        let blocks = random.below(2) == 0;
        let run = self.time - self.since;
        self.total.run += run;
        self.push(
            0,
            Kind::Run {
                task: task(1),
                prio: 120,
                ns: run,
                irq_ns: 0,
                state: if blocks { 1 } else { 0x100 },
            },
        );
        if blocks {
            let block = 1 + random.below(1_000_000);
            self.time += block;
            self.total.block += block;
            let blocked = Blocked {
                state: 1,
                ..Blocked::default()
            };
            let kind = Kind::Block {
                task: task(1),
                prio: 120,
                ns: block,
                blocked,
            };
            self.push(random.below(100), kind);
        }
        let wait = 200 + random.below(100_000);
        self.time += wait;
        self.total.wait += wait;
        self.push(
            0,
            Kind::Wait {
                task: task(1),
                prio: 120,
                ns: wait,
                since: Since::Woken,
                prev: task(0),
                prev_prio: 120,
            },
        );
        self.since = self.time;
    }
}

fn run(events: &[Event<'static>]) -> Checker {
    let mut checker = Checker::default();
    let mut model = Model::default();
    for event in events {
        model.event(event, &NoNames, &mut checker);
    }
    model.finish(&mut checker);
    assert_eq!(checker.begun, checker.calls.len() as u64, "all calls end");
    checker
}

#[test]
fn true_times_are_found() {
    for seed in 1..300 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
        let recorded = seed % 2 == 0;
        let mut simulated = Simulated::new();
        for _ in 0..200 {
            simulated.time += 1 + random.below(10_000);
            match random.below(4) {
                0 if simulated.stack.len() < 10 => simulated.begin(&mut random),
                1 => simulated.end(recorded),
                2 => simulated.switch(&mut random),
                _ => {}
            }
        }
        while !simulated.stack.is_empty() {
            simulated.time += 1;
            simulated.end(recorded);
        }
        simulated.time += 1;
        simulated.switch(&mut random);
        let checker = run(&simulated.events);
        assert_eq!(checker.calls, simulated.calls, "seed {seed}");
        assert_eq!(
            checker.sums[&TaskId::new(1, 0)],
            simulated.total,
            "seed {seed}"
        );
        assert_eq!(checker.unknown, 0);
        let wall = simulated.time - 1000;
        assert_eq!(simulated.total.wall(), wall);
    }
}

/// Returns the times of the only call, which begins at 1,000 and never returns.
fn unfinished(mut events: Vec<Event<'static>>) -> Split {
    let begin = Kind::CallBegin {
        call: call(7, 0),
        late_ns: 0,
    };
    events.insert(1, event(1_000, 1, begin));
    // Another task is recorded for longer.
    let other = Kind::Call {
        call: call(8, 0),
        duration_ns: 1,
    };
    events.push(event(9_000, 2, other));
    let calls = run(&events).calls;
    let (_, split) = calls
        .iter()
        .find(|(func, _)| *func == FuncId::new(7))
        .unwrap();
    *split
}

#[test]
fn unfinished_calls_end_with_their_task() {
    let wait = || Kind::Wait {
        task: task(1),
        prio: 120,
        ns: 0,
        since: Since::Woken,
        prev: task(9),
        prev_prio: 120,
    };
    let left = |ns, state| Kind::Run {
        task: task(1),
        prio: 120,
        ns,
        irq_ns: 0,
        state,
    };
    // It exits 2,000 ns after the call.
    let dead = unfinished(vec![
        event(500, 1, wait()),
        event(3_000, 1, left(2_500, 0x10)),
    ]);
    assert_eq!((dead.run, dead.wait, dead.block), (2_000, 0, 0));
    // It sleeps until the end.
    let asleep = unfinished(vec![event(500, 1, wait()), event(3_000, 1, left(2_500, 1))]);
    assert_eq!((asleep.run, asleep.wait, asleep.block), (2_000, 0, 6_000));
    // It runs until the end.
    let running = unfinished(vec![event(500, 1, wait())]);
    assert_eq!((running.run, running.wait, running.block), (8_000, 0, 0));
    // Its states are not recorded. It called something that returned at 3,000.
    let inner = |begin: bool| match begin {
        true => Kind::CallBegin {
            call: call(9, 1),
            late_ns: 0,
        },
        false => Kind::CallEnd {
            call: call(9, 1),
            duration_ns: 1_000,
        },
    };
    let first = Kind::Call {
        call: call(8, 0),
        duration_ns: 1,
    };
    let unknown = unfinished(vec![
        event(500, 2, first),
        event(2_000, 1, inner(true)),
        event(3_000, 1, inner(false)),
    ]);
    assert_eq!((unknown.run, unknown.wait, unknown.block), (2_000, 0, 0));
}

#[test]
fn lost_and_damaged_events_break_no_property() {
    for seed in 1..500 {
        let mut random = Random(0x2545_f491_4f6c_dd1d ^ seed);
        let mut time = 1_000_000;
        let mut events = Vec::new();
        for _ in 0..300 {
            time += random.below(20_000_000);
            let pid = i32::try_from(random.below(3)).unwrap();
            let ns = random.below(30_000_000);
            let id = call(random.below(4), usize::try_from(random.below(5)).unwrap());
            let kind = match random.below(10) {
                0 | 1 => Kind::CallBegin {
                    call: id,
                    late_ns: random.below(3) * ns,
                },
                2 | 3 => Kind::CallEnd {
                    call: id,
                    duration_ns: ns,
                },
                4 => Kind::Call {
                    call: id,
                    duration_ns: ns,
                },
                5 => Kind::Run {
                    task: task(pid),
                    prio: 120,
                    ns,
                    irq_ns: 0,
                    state: [0, 1, 2, 0x20, 0x100][usize::try_from(random.below(5)).unwrap()],
                },
                6 => Kind::Wait {
                    task: task(pid),
                    prio: 120,
                    ns,
                    since: Since::Preempted,
                    prev: task(9),
                    prev_prio: 120,
                },
                7 => Kind::Block {
                    task: task(pid),
                    prio: 120,
                    ns,
                    blocked: Blocked::default(),
                },
                8 => Kind::Wakeup {
                    task: task(pid),
                    prio: 120,
                    target_cpu: 0,
                    waker: Waker::default(),
                },
                _ => Kind::Lost { records: None },
            };
            events.push(event(time, pid, kind));
        }
        run(&events);
    }
}
