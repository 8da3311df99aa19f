// SPDX-License-Identifier: MIT OR Apache-2.0

//! The places of fields that several events have.

use std::ffi::CStr;

use super::super::{
    event::{
        Blocked,
        CallId,
        TaskName,
        Waker, //
    },
    fields::{
        Bytes,
        Number, //
    },
    symbols::Symbols, //
};
use crate::sys::EventFormat;

/// The fields of an event.
pub(super) struct Fields<'a> {
    pub(super) format: EventFormat<'a>,
    pub(super) big_endian: bool,
}

/// The time of interrupts. Recordings of older versions have no such field.
pub(super) struct IrqTime(Option<Number>);

impl IrqTime {
    pub(super) fn get(&self, data: &[u8]) -> Option<u64> {
        match &self.0 {
            Some(number) => number.get(data),
            None => Some(0),
        }
    }
}

impl Fields<'_> {
    pub(super) fn number(&self, name: &CStr) -> Option<Number> {
        Number::new(&self.format, name, self.big_endian)
    }

    pub(super) fn bytes(&self, name: &CStr) -> Option<Bytes> {
        Bytes::new(&self.format, name, self.big_endian)
    }

    /// Finds the time of interrupts.
    pub(super) fn irq(&self) -> IrqTime {
        IrqTime(self.number(c"irq_ns"))
    }

    pub(super) fn task(&self, pid: &CStr, comm: &CStr) -> Option<Task> {
        Some(Task {
            pid: self.number(pid)?,
            comm: self.bytes(comm)?,
        })
    }

    pub(super) fn waker(&self) -> Option<WakerFields> {
        Some(WakerFields {
            task: self.task(c"waker_pid", c"waker_comm")?,
            context: self.number(c"waker_context")?,
        })
    }

    pub(super) fn blocked(&self) -> Option<BlockedFields> {
        Some(BlockedFields {
            state: self.number(c"state")?,
            caller: self.number(c"caller")?,
            waker: self.waker()?,
        })
    }

    pub(super) fn call(&self) -> Option<Call> {
        Some(Call {
            func: self.number(c"func")?,
            depth: self.number(c"depth")?,
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Task {
    pid: Number,
    comm: Bytes,
}

impl Task {
    #[inline]
    pub(super) fn get(&self, data: &[u8]) -> Option<TaskName> {
        Some(TaskName {
            pid: self.pid.i32(data)?,
            comm: self.comm.comm(data)?,
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct WakerFields {
    task: Task,
    context: Number,
}

impl WakerFields {
    pub(super) fn get(&self, data: &[u8]) -> Option<Waker> {
        Some(Waker {
            task: self.task.get(data)?,
            context: u8::try_from(self.context.get(data)?).ok()?,
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct BlockedFields {
    state: Number,
    caller: Number,
    waker: WakerFields,
}

impl BlockedFields {
    pub(super) fn get(&self, data: &[u8], symbols: &mut Symbols<'_>) -> Option<Blocked> {
        let caller = self.caller.get(data)?;
        Some(Blocked {
            state: self.state.u32(data)?,
            caller: (caller != 0).then(|| symbols.func(caller)),
            waker: self.waker.get(data)?,
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Call {
    func: Number,
    pub(super) depth: Number,
}

impl Call {
    #[inline]
    pub(super) fn get(&self, data: &[u8], symbols: &mut Symbols<'_>) -> Option<CallId> {
        Some(CallId {
            func: symbols.func(self.func.get(data)?),
            depth: self.depth.i32(data)?,
        })
    }
}
