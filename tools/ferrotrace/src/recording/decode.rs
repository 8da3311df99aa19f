// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decodes records into events. The places of all fields are taken once.

use std::ffi::CStr;

use super::{
    event::{
        Blocked,
        CallId,
        CallTimes,
        Comm,
        Event,
        Kind,
        Since,
        TaskName,
        Waker, //
    },
    fields::{
        Bytes,
        Number, //
    },
    symbols::Symbols, //
};
use crate::sys::{
    EventFormat,
    Formats,
    RawRecord, //
};

#[path = "../../../../src/ktrace/record/compressed_delta.rs"]
#[allow(
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "shared with the module"
)]
mod compressed_delta;

/// The decoder of a recording.
pub struct Decoder {
    id: Number,
    pid: Number,
    /// The readers of the events that are known, by the event's id.
    readers: Vec<Option<Box<Reader>>>,
}

type Reader = dyn for<'a> Fn(&'a [u8], &mut Symbols<'_>) -> Option<Kind<'a>>;

/// The fields of an event.
struct Fields<'a> {
    format: EventFormat<'a>,
    big_endian: bool,
}

impl Fields<'_> {
    fn number(&self, name: &CStr) -> Option<Number> {
        Number::new(&self.format, name, self.big_endian)
    }

    fn bytes(&self, name: &CStr) -> Option<Bytes> {
        Bytes::new(&self.format, name, self.big_endian)
    }

    fn task(&self, pid: &CStr, comm: &CStr) -> Option<Task> {
        Some(Task {
            pid: self.number(pid)?,
            comm: self.bytes(comm)?,
        })
    }

    fn waker(&self) -> Option<WakerFields> {
        Some(WakerFields {
            task: self.task(c"waker_pid", c"waker_comm")?,
            context: self.number(c"waker_context")?,
        })
    }

    fn blocked(&self) -> Option<BlockedFields> {
        Some(BlockedFields {
            state: self.number(c"state")?,
            caller: self.number(c"caller")?,
            waker: self.waker()?,
        })
    }

    fn call(&self) -> Option<Call> {
        Some(Call {
            func: self.number(c"func")?,
            depth: self.number(c"depth")?,
        })
    }
}

#[derive(Clone, Copy)]
struct Task {
    pid: Number,
    comm: Bytes,
}

impl Task {
    fn get(&self, data: &[u8]) -> Option<TaskName> {
        Some(TaskName {
            pid: self.pid.i32(data)?,
            comm: Comm::new(self.comm.text(data)?),
        })
    }
}

#[derive(Clone, Copy)]
struct WakerFields {
    task: Task,
    context: Number,
}

impl WakerFields {
    fn get(&self, data: &[u8]) -> Option<Waker> {
        Some(Waker {
            task: self.task.get(data)?,
            context: u8::try_from(self.context.get(data)?).ok()?,
        })
    }
}

#[derive(Clone, Copy)]
struct BlockedFields {
    state: Number,
    caller: Number,
    waker: WakerFields,
}

impl BlockedFields {
    fn get(&self, data: &[u8], symbols: &mut Symbols<'_>) -> Option<Blocked> {
        let caller = self.caller.get(data)?;
        Some(Blocked {
            state: self.state.u32(data)?,
            caller: (caller != 0).then(|| symbols.func(caller)),
            waker: self.waker.get(data)?,
        })
    }
}

#[derive(Clone, Copy)]
struct Call {
    func: Number,
    depth: Number,
}

impl Call {
    #[inline]
    fn get(&self, data: &[u8], symbols: &mut Symbols<'_>) -> Option<CallId> {
        Some(CallId {
            func: symbols.func(self.func.get(data)?),
            depth: self.depth.i32(data)?,
        })
    }
}

impl Decoder {
    /// Takes the places of all fields that are known.
    pub fn new(formats: &Formats) -> Self {
        let big_endian = formats.is_big_endian();
        let common = formats.event(Some(c"ftrace"), c"function");
        let place = |name: &CStr, offset, size, signed| {
            let field = common.and_then(|format| Number::new(&format, name, big_endian));
            field.unwrap_or(Number::at(offset, size, signed, big_endian))
        };
        let mut this = Self {
            id: place(c"common_type", 0, 2, false),
            pid: place(c"common_pid", 4, 4, true),
            readers: Vec::new(),
        };
        for (system, name, make) in READERS {
            if let Some(format) = formats.event(Some(system), name) {
                let fields = Fields { format, big_endian };
                this.add(format.id(), make(&fields));
            }
        }
        this
    }

    fn add(&mut self, id: u16, reader: Option<Box<Reader>>) {
        let id = usize::from(id);
        if self.readers.len() <= id {
            self.readers.resize_with(id + 1, || None);
        }
        self.readers[id] = reader;
    }

    /// Returns the id of the event of a record.
    #[inline]
    pub fn id(&self, data: &[u8]) -> u16 {
        u16::try_from(self.id.get(data).unwrap_or(0)).unwrap_or(0)
    }

    /// Returns the task that wrote a record.
    #[inline]
    pub(super) fn pid(&self, data: &[u8]) -> i32 {
        self.pid.i32(data).unwrap_or(0)
    }

    /// Returns the event of a record.
    #[inline]
    pub fn event<'a>(&self, raw: &RawRecord<'a>, symbols: &mut Symbols<'_>) -> Event<'a> {
        let id = self.id(raw.data);
        Event {
            time: raw.time,
            cpu: raw.cpu,
            pid: self.pid(raw.data),
            id,
            data: raw.data,
            kind: self.decode(id, raw.data, symbols).unwrap_or(Kind::Other),
        }
    }

    /// Returns an event that says that records are missing before this one, if any are.
    pub fn lost(&self, raw: &RawRecord<'_>) -> Option<Event<'static>> {
        Some(Event {
            time: raw.time,
            cpu: raw.cpu,
            pid: self.pid(raw.data),
            id: 0,
            data: &[],
            kind: Kind::Lost {
                records: u64::try_from(raw.missed?).ok(),
            },
        })
    }

    /// Decodes a record. `None` if the event is not known, or the record is too short.
    #[inline]
    fn decode<'a>(&self, id: u16, data: &'a [u8], symbols: &mut Symbols<'_>) -> Option<Kind<'a>> {
        let reader = self.readers.get(usize::from(id))?.as_ref()?;
        reader(data, symbols)
    }
}

type Make = fn(&Fields<'_>) -> Option<Box<Reader>>;

/// The events that are known. A function returns `None` if an event lacks a field.
const READERS: [(&CStr, &CStr, Make); 14] = [
    (c"ftrace", c"function", function),
    (c"ftrace", c"funcgraph_entry", entry),
    (c"ftrace", c"funcgraph_exit", exit),
    (c"ftrace", c"funcgraph_times", times),
    (c"ftrace", c"print", print),
    (c"ferrotrace", c"task_wakeup", wakeup),
    (c"ferrotrace", c"task_wait", wait),
    (c"ferrotrace", c"task_run", run),
    (c"ferrotrace", c"task_block", block),
    (c"ferrotrace", c"task_migrate", migrate),
    (c"ferrotrace", c"task_fork", fork),
    (c"ferrotrace", c"task_exec", exec),
    (c"ferrotrace", c"task_set_comm", set_comm),
    (c"ferrotrace", c"task_exit", task_exit),
];

fn function(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let (ip, parent_ip) = (fields.number(c"ip")?, fields.number(c"parent_ip")?);
    Some(Box::new(move |data, symbols| {
        Some(Kind::Function {
            func: symbols.func(ip.get(data)?),
            parent: symbols.func(parent_ip.get(data)?),
        })
    }))
}

fn entry(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let call = fields.call()?;
    let fixed = call.depth.end();
    let big_endian = fields.big_endian;
    Some(Box::new(move |data, symbols| {
        // The module appends words of 8 bytes, and how late the record is in 4 bytes.
        let rest = data.len().saturating_sub(fixed) % 8;
        let late_ns = match rest {
            4.. => {
                let place = Number::at(data.len() - rest, 4, false, big_endian);
                compressed_delta::CompressedDelta::from_bits(place.u32(data)?).ns()
            }
            _ => 0,
        };
        Some(Kind::CallBegin {
            call: call.get(data, symbols)?,
            late_ns,
        })
    }))
}

fn exit(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let call = fields.call()?;
    let (begin, end) = (fields.number(c"calltime")?, fields.number(c"rettime")?);
    Some(Box::new(move |data, symbols| {
        Some(Kind::CallEnd {
            call: call.get(data, symbols)?,
            duration_ns: end.get(data)?.saturating_sub(begin.get(data)?),
        })
    }))
}

fn times(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let (call, blocked) = (fields.call()?, fields.blocked()?);
    let run_ns = fields.number(c"run_ns")?;
    let wait_ns = fields.number(c"wait_ns")?;
    let block_ns = fields.number(c"block_ns")?;
    let switches = fields.number(c"switches")?;
    Some(Box::new(move |data, symbols| {
        Some(Kind::CallTimes(CallTimes {
            call: call.get(data, symbols)?,
            run_ns: run_ns.get(data)?,
            wait_ns: wait_ns.get(data)?,
            block_ns: block_ns.get(data)?,
            switches: switches.u32(data)?,
            blocked: blocked.get(data, symbols)?,
        }))
    }))
}

fn print(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let text = fields.bytes(c"buf")?;
    Some(Box::new(move |data, _| {
        Some(Kind::Marker {
            text: text.text(data)?.trim_ascii_end(),
        })
    }))
}

fn wakeup(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, target_cpu) = (fields.number(c"prio")?, fields.number(c"target_cpu")?);
    let waker = fields.waker()?;
    Some(Box::new(move |data, _| {
        Some(Kind::Wakeup {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            target_cpu: target_cpu.u32(data)?,
            waker: waker.get(data)?,
        })
    }))
}

fn wait(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let prev = fields.task(c"prev_pid", c"prev_comm")?;
    let (prio, prev_prio) = (fields.number(c"prio")?, fields.number(c"prev_prio")?);
    let (ns, since) = (fields.number(c"wait_ns")?, fields.number(c"since")?);
    Some(Box::new(move |data, _| {
        Some(Kind::Wait {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            ns: ns.get(data)?,
            since: match since.get(data)? {
                0 => Since::Woken,
                _ => Since::Preempted,
            },
            prev: prev.get(data)?,
            prev_prio: prev_prio.i32(data)?,
        })
    }))
}

fn run(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, ns) = (fields.number(c"prio")?, fields.number(c"run_ns")?);
    let state = fields.number(c"state")?;
    Some(Box::new(move |data, _| {
        Some(Kind::Run {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            ns: ns.get(data)?,
            state: state.u32(data)?,
        })
    }))
}

fn block(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, ns) = (fields.number(c"prio")?, fields.number(c"block_ns")?);
    let blocked = fields.blocked()?;
    Some(Box::new(move |data, symbols| {
        Some(Kind::Block {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            ns: ns.get(data)?,
            blocked: blocked.get(data, symbols)?,
        })
    }))
}

fn migrate(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (orig_cpu, dest_cpu) = (fields.number(c"orig_cpu")?, fields.number(c"dest_cpu")?);
    Some(Box::new(move |data, _| {
        Some(Kind::Migrate {
            task: task.get(data)?,
            orig_cpu: orig_cpu.u32(data)?,
            dest_cpu: dest_cpu.u32(data)?,
        })
    }))
}

fn fork(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let child = fields.task(c"child_pid", c"child_comm")?;
    let child_tgid = fields.number(c"child_tgid")?;
    Some(Box::new(move |data, _| {
        Some(Kind::Fork {
            task: task.get(data)?,
            child: child.get(data)?,
            child_tgid: child_tgid.i32(data)?,
        })
    }))
}

fn exec(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let old = fields.task(c"old_pid", c"old_comm")?;
    let filename = fields.bytes(c"filename")?;
    Some(Box::new(move |data, _| {
        Some(Kind::Exec {
            task: task.get(data)?,
            old: old.get(data)?,
            filename: filename.text(data)?,
        })
    }))
}

fn set_comm(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let old_comm = fields.bytes(c"old_comm")?;
    Some(Box::new(move |data, _| {
        Some(Kind::SetComm {
            task: task.get(data)?,
            old_comm: Comm::new(old_comm.text(data)?),
        })
    }))
}

fn task_exit(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let group_dead = fields.number(c"group_dead")?;
    let run_ns = fields.number(c"run_ns")?;
    let wait_ns = fields.number(c"wait_ns")?;
    let block_ns = fields.number(c"block_ns")?;
    Some(Box::new(move |data, _| {
        Some(Kind::Exit {
            task: task.get(data)?,
            group_dead: group_dead.get(data)? != 0,
            run_ns: run_ns.get(data)?,
            wait_ns: wait_ns.get(data)?,
            block_ns: block_ns.get(data)?,
        })
    }))
}
