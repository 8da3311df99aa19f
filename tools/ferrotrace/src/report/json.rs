// SPDX-License-Identifier: MIT OR Apache-2.0

//! Events as JSON, one object a line, after one that names the schema. `docs/reference/json.md`
//! describes the objects; adding members is compatible.

use std::{
    collections::BTreeMap,
    io::{
        self,
        Write, //
    },
};

use serde::Serialize;

use super::Format;
use crate::recording::{
    state_name, //
    Blocked,
    CallId,
    Event,
    FieldValue,
    Kind,
    Recording,
    ReturnValue,
    Symbols,
    TaskName,
    Waker,
};

/// The writer of JSON.
pub struct Json<'a> {
    recording: &'a Recording,
    retval: Option<ReturnValue>,
}

/// The first line.
#[derive(Serialize)]
struct Head {
    schema: &'static str,
}

#[derive(Serialize)]
struct Line<'a> {
    time_ns: u64,
    cpu: usize,
    pid: i32,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
struct Task {
    pid: i32,
    comm: String,
}

impl Task {
    fn new(name: &TaskName) -> Self {
        Self {
            pid: name.pid,
            comm: name.comm.to_string(),
        }
    }
}

#[derive(Serialize)]
struct Woken {
    waker: Task,
    waker_context: &'static str,
}

impl Woken {
    fn new(waker: &Waker) -> Self {
        Self {
            waker: Task::new(&waker.task),
            waker_context: waker.context_name(),
        }
    }
}

#[derive(Serialize)]
struct Block<'a> {
    state: &'static str,
    caller: Option<&'a str>,
    #[serde(flatten)]
    woken: Woken,
}

impl<'a> Block<'a> {
    fn new(blocked: &Blocked, symbols: &'a Symbols<'_>) -> Self {
        Self {
            state: state_name(blocked.state),
            caller: blocked.caller.map(|func| symbols.name(func)),
            woken: Woken::new(&blocked.waker),
        }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    function: &'a str,
    depth: i32,
}

impl<'a> Call<'a> {
    fn new(call: &CallId, symbols: &'a Symbols<'_>) -> Self {
        Self {
            function: symbols.name(call.func),
            depth: call.depth,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Body<'a> {
    Function {
        function: &'a str,
        parent: &'a str,
    },
    CallBegin {
        #[serde(flatten)]
        call: Call<'a>,
        start_ns: u64,
    },
    CallEnd {
        #[serde(flatten)]
        call: Call<'a>,
        duration_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        retval: Option<i64>,
    },
    Call {
        #[serde(flatten)]
        call: Call<'a>,
        start_ns: u64,
        duration_ns: u64,
    },
    CallTimes {
        #[serde(flatten)]
        call: Call<'a>,
        run_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        irq_ns: Option<u64>,
        wait_ns: u64,
        block_ns: u64,
        switches: u32,
        #[serde(flatten)]
        block: Option<Block<'a>>,
    },
    TaskWakeup {
        task: Task,
        prio: i32,
        target_cpu: u32,
        #[serde(flatten)]
        woken: Woken,
    },
    TaskWait {
        task: Task,
        prio: i32,
        wait_ns: u64,
        since: &'static str,
        prev: Task,
        prev_prio: i32,
    },
    TaskRun {
        task: Task,
        prio: i32,
        run_ns: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        irq_ns: Option<u64>,
        state: &'static str,
    },
    TaskBlock {
        task: Task,
        prio: i32,
        block_ns: u64,
        #[serde(flatten)]
        block: Block<'a>,
    },
    TaskMigrate {
        task: Task,
        orig_cpu: u32,
        dest_cpu: u32,
    },
    TaskFork {
        task: Task,
        child: Task,
        child_tgid: i32,
    },
    TaskExec {
        task: Task,
        old: Task,
        filename: String,
    },
    TaskSetComm {
        task: Task,
        old_comm: String,
    },
    TaskExit {
        task: Task,
        group_dead: bool,
        run_ns: u64,
        wait_ns: u64,
        block_ns: u64,
    },
    TaskSection {
        task: Task,
        kind: &'static str,
        cookie: i64,
        total_ns: u64,
        run_ns: u64,
        wait_ns: u64,
        block_ns: u64,
        name: String,
    },
    TaskChain {
        task: Task,
        hop: u8,
        block_ns: u64,
        known: bool,
        waker_irq: String,
        waker_block_ns: u64,
        #[serde(flatten)]
        block: Block<'a>,
    },
    Trigger {
        task: Task,
        rule: u32,
        value: i64,
        text: String,
    },
    Marker {
        text: String,
    },
    Lost {
        records: Option<u64>,
    },
    Other {
        name: String,
        fields: BTreeMap<&'a str, FieldValue>,
    },
}

impl<'a> Json<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        Self {
            recording,
            retval: ReturnValue::new(recording),
        }
    }

    fn body<'b>(&'b self, event: &Event<'_>, symbols: &'b Symbols<'_>) -> Body<'b> {
        let call = |call: &CallId| Call::new(call, symbols);
        match event.kind {
            Kind::Function { func, parent } => Body::Function {
                function: symbols.name(func),
                parent: symbols.name(parent),
            },
            Kind::CallBegin { call: id, late_ns } => Body::CallBegin {
                call: call(&id),
                start_ns: event.time.saturating_sub(late_ns),
            },
            Kind::CallEnd {
                call: id,
                duration_ns,
            } => Body::CallEnd {
                call: call(&id),
                duration_ns,
                retval: self
                    .retval
                    .as_ref()
                    .and_then(|retval| Some(retval.get(event)? as i64)),
            },
            Kind::Call {
                call: id,
                duration_ns,
            } => Body::Call {
                call: call(&id),
                start_ns: event.time.saturating_sub(duration_ns),
                duration_ns,
            },
            Kind::CallTimes(times) => Body::CallTimes {
                call: call(&times.call),
                run_ns: times.run_ns,
                irq_ns: (times.irq_ns != 0).then_some(times.irq_ns),
                wait_ns: times.wait_ns,
                block_ns: times.block_ns,
                switches: times.switches,
                block: (times.block_ns != 0).then(|| Block::new(&times.blocked, symbols)),
            },
            Kind::Wakeup {
                task,
                prio,
                target_cpu,
                waker,
            } => Body::TaskWakeup {
                task: Task::new(&task),
                prio,
                target_cpu,
                woken: Woken::new(&waker),
            },
            Kind::Wait {
                task,
                prio,
                ns,
                since,
                prev,
                prev_prio,
            } => Body::TaskWait {
                task: Task::new(&task),
                prio,
                wait_ns: ns,
                since: since.name(),
                prev: Task::new(&prev),
                prev_prio,
            },
            Kind::Run {
                task,
                prio,
                ns,
                irq_ns,
                state,
            } => Body::TaskRun {
                task: Task::new(&task),
                prio,
                run_ns: ns,
                irq_ns: (irq_ns != 0).then_some(irq_ns),
                state: state_name(state),
            },
            Kind::Block {
                task,
                prio,
                ns,
                blocked,
            } => Body::TaskBlock {
                task: Task::new(&task),
                prio,
                block_ns: ns,
                block: Block::new(&blocked, symbols),
            },
            Kind::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } => Body::TaskMigrate {
                task: Task::new(&task),
                orig_cpu,
                dest_cpu,
            },
            Kind::Fork {
                task,
                child,
                child_tgid,
            } => Body::TaskFork {
                task: Task::new(&task),
                child: Task::new(&child),
                child_tgid,
            },
            Kind::Exec {
                task,
                old,
                filename,
            } => Body::TaskExec {
                task: Task::new(&task),
                old: Task::new(&old),
                filename: String::from_utf8_lossy(filename).into_owned(),
            },
            Kind::SetComm { task, old_comm } => Body::TaskSetComm {
                task: Task::new(&task),
                old_comm: old_comm.to_string(),
            },
            Kind::Exit {
                task,
                group_dead,
                run_ns,
                wait_ns,
                block_ns,
            } => Body::TaskExit {
                task: Task::new(&task),
                group_dead,
                run_ns,
                wait_ns,
                block_ns,
            },
            Kind::Section {
                task,
                is_async,
                cookie,
                name,
                total_ns,
                run_ns,
                wait_ns,
                block_ns,
            } => Body::TaskSection {
                task: Task::new(&task),
                kind: if is_async { "async" } else { "sync" },
                cookie,
                total_ns,
                run_ns,
                wait_ns,
                block_ns,
                name: String::from_utf8_lossy(name).into_owned(),
            },
            Kind::Chain {
                task,
                hop,
                block_ns,
                blocked,
                irq,
                is_known,
                waker_block_ns,
            } => Body::TaskChain {
                task: Task::new(&task),
                hop,
                block_ns,
                known: is_known,
                waker_irq: irq.to_string(),
                waker_block_ns,
                block: Block::new(&blocked, symbols),
            },
            Kind::Trigger {
                task,
                rule,
                value,
                text,
            } => Body::Trigger {
                task: Task::new(&task),
                rule,
                value,
                text: String::from_utf8_lossy(text).into_owned(),
            },
            Kind::Marker { text } => Body::Marker {
                text: String::from_utf8_lossy(text).into_owned(),
            },
            Kind::Lost { records } => Body::Lost { records },
            Kind::Other => {
                let (name, fields) = self.recording.fields(event);
                Body::Other { name, fields }
            }
        }
    }
}

impl Format for Json<'_> {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let schema = "ferrotrace-report-1";
        serde_json::to_writer(&mut *out, &Head { schema })?;
        out.write_all(b"\n")
    }

    fn event(
        &mut self,
        out: &mut dyn Write,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        let line = Line {
            time_ns: event.time,
            cpu: event.cpu,
            pid: event.pid,
            body: self.body(event, symbols),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
