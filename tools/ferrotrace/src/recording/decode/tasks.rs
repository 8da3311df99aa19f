// SPDX-License-Identifier: MIT OR Apache-2.0

//! Readers of events about tasks.

use super::{
    super::event::{
        Comm,
        Kind,
        Since, //
    },
    places::Fields,
    reader,
    Reader, //
};

pub(super) fn wakeup(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, target_cpu) = (fields.number(c"prio")?, fields.number(c"target_cpu")?);
    let waker = fields.waker()?;
    reader(move |data, _| {
        Some(Kind::Wakeup {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            target_cpu: target_cpu.u32(data)?,
            waker: waker.get(data)?,
        })
    })
}

pub(super) fn wait(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let prev = fields.task(c"prev_pid", c"prev_comm")?;
    let (prio, prev_prio) = (fields.number(c"prio")?, fields.number(c"prev_prio")?);
    let (ns, since) = (fields.number(c"wait_ns")?, fields.number(c"since")?);
    reader(move |data, _| {
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
    })
}

pub(super) fn run(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, ns) = (fields.number(c"prio")?, fields.number(c"run_ns")?);
    let state = fields.number(c"state")?;
    let irq_ns = fields.irq();
    reader(move |data, _| {
        Some(Kind::Run {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            ns: ns.get(data)?,
            irq_ns: irq_ns.get(data)?,
            state: state.u32(data)?,
        })
    })
}

pub(super) fn block(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (prio, ns) = (fields.number(c"prio")?, fields.number(c"block_ns")?);
    let blocked = fields.blocked()?;
    reader(move |data, symbols| {
        Some(Kind::Block {
            task: task.get(data)?,
            prio: prio.i32(data)?,
            ns: ns.get(data)?,
            blocked: blocked.get(data, symbols)?,
        })
    })
}

pub(super) fn migrate(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (orig_cpu, dest_cpu) = (fields.number(c"orig_cpu")?, fields.number(c"dest_cpu")?);
    reader(move |data, _| {
        Some(Kind::Migrate {
            task: task.get(data)?,
            orig_cpu: orig_cpu.u32(data)?,
            dest_cpu: dest_cpu.u32(data)?,
        })
    })
}

pub(super) fn fork(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let child = fields.task(c"child_pid", c"child_comm")?;
    let child_tgid = fields.number(c"child_tgid")?;
    reader(move |data, _| {
        Some(Kind::Fork {
            task: task.get(data)?,
            child: child.get(data)?,
            child_tgid: child_tgid.i32(data)?,
        })
    })
}

pub(super) fn exec(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let old = fields.task(c"old_pid", c"old_comm")?;
    let filename = fields.bytes(c"filename")?;
    reader(move |data, _| {
        Some(Kind::Exec {
            task: task.get(data)?,
            old: old.get(data)?,
            filename: filename.text(data)?,
        })
    })
}

pub(super) fn set_comm(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let old_comm = fields.bytes(c"old_comm")?;
    reader(move |data, _| {
        Some(Kind::SetComm {
            task: task.get(data)?,
            old_comm: Comm::new(old_comm.text(data)?),
        })
    })
}

pub(super) fn exit(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let group_dead = fields.number(c"group_dead")?;
    let run_ns = fields.number(c"run_ns")?;
    let wait_ns = fields.number(c"wait_ns")?;
    let block_ns = fields.number(c"block_ns")?;
    reader(move |data, _| {
        Some(Kind::Exit {
            task: task.get(data)?,
            group_dead: group_dead.get(data)? != 0,
            run_ns: run_ns.get(data)?,
            wait_ns: wait_ns.get(data)?,
            block_ns: block_ns.get(data)?,
        })
    })
}

pub(super) fn section(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (kind, cookie) = (fields.number(c"kind")?, fields.number(c"cookie")?);
    let name = fields.bytes(c"name")?;
    let total_ns = fields.number(c"total_ns")?;
    let run_ns = fields.number(c"run_ns")?;
    let wait_ns = fields.number(c"wait_ns")?;
    let block_ns = fields.number(c"block_ns")?;
    reader(move |data, _| {
        Some(Kind::Section {
            task: task.get(data)?,
            is_async: kind.get(data)? != 0,
            cookie: cookie.signed(data)?,
            name: name.text(data)?,
            total_ns: total_ns.get(data)?,
            run_ns: run_ns.get(data)?,
            wait_ns: wait_ns.get(data)?,
            block_ns: block_ns.get(data)?,
        })
    })
}

pub(super) fn chain(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (hop, block_ns) = (fields.number(c"hop")?, fields.number(c"block_ns")?);
    let blocked = fields.blocked()?;
    let is_known = fields.number(c"known")?;
    let waker_block_ns = fields.number(c"waker_block_ns")?;
    let irq = fields.bytes(c"waker_irq");
    reader(move |data, symbols| {
        Some(Kind::Chain {
            task: task.get(data)?,
            hop: u8::try_from(hop.get(data)?).ok()?,
            block_ns: block_ns.get(data)?,
            blocked: blocked.get(data, symbols)?,
            irq: match &irq {
                Some(irq) => Comm::new(irq.text(data)?),
                None => Comm::default(),
            },
            is_known: is_known.get(data)? != 0,
            waker_block_ns: waker_block_ns.get(data)?,
        })
    })
}

pub(super) fn trigger(fields: &Fields<'_>) -> Option<Box<Reader>> {
    let task = fields.task(c"pid", c"comm")?;
    let (rule, value) = (fields.number(c"rule")?, fields.number(c"value")?);
    let text = fields.bytes(c"text")?;
    reader(move |data, _| {
        Some(Kind::Trigger {
            task: task.get(data)?,
            rule: rule.u32(data)?,
            value: value.signed(data)?,
            text: text.text(data)?,
        })
    })
}
