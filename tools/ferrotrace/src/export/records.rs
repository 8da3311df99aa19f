// SPDX-License-Identifier: MIT OR Apache-2.0

//! The records of the trace event format. Members have the names of the format where no other name
//! is given.

use serde::{
    Serialize,
    Serializer, //
};

/// Added to the id of a thread, which is less than that, for its states.
const STATES: u32 = 1_000_000_000;
/// Added to the id of a thread for its sections.
const SECTIONS: u32 = 500_000_000;
/// Added to the number of a CPU for the thread id of its idle task.
const IDLE: u32 = 2_000_000_000;

/// A time, written in us.
#[derive(Clone, Copy)]
pub struct Ns(pub u64);

impl Serialize for Ns {
    /// Writes the ns as a fraction. They are exact up to 2^53 ns, which is 104 days.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(clippy::cast_precision_loss, reason = "numbers in JSON have 53 bits")]
        serializer.serialize_f64(self.0 as f64 / 1000.0)
    }
}

/// A thread of the format.
#[derive(Clone, Copy, Serialize)]
pub struct Thread {
    pid: u32,
    tid: u32,
}

impl Thread {
    /// Returns the thread with the calls of a task.
    pub fn new(pid: i32, tid: i32) -> Self {
        let unsigned = |pid| u32::try_from(pid).unwrap_or(0);
        Self {
            pid: unsigned(pid),
            tid: unsigned(tid),
        }
    }

    /// Returns the thread with the calls of the idle task of a CPU.
    pub fn idle(cpu: usize) -> Self {
        Self {
            pid: 0,
            tid: u32::try_from(cpu).map_or(IDLE, |cpu| IDLE.saturating_add(cpu)),
        }
    }

    /// Returns the thread with the states of the same task.
    pub fn states(self) -> Self {
        Self {
            tid: self.tid.saturating_add(STATES),
            ..self
        }
    }

    /// Returns the thread with the sections of the same task.
    pub fn sections(self) -> Self {
        Self {
            tid: self.tid.saturating_add(SECTIONS),
            ..self
        }
    }

    /// Returns whether this is the first thread of a process.
    pub fn is_first(self) -> bool {
        self.pid == self.tid
    }
}

/// A category of events.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Call,
    State,
    Mark,
    Chain,
    Section,
    Trigger,
}

/// An event of the format, or the name of a thread.
#[derive(Serialize)]
pub struct Record<'a> {
    pub ph: char,
    #[serde(flatten)]
    pub thread: Thread,
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cat: Option<Category>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<Ns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The number of an asynchronous section.
    pub id: Option<u64>,
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub scope: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Args<'a>>,
}

impl<'a> Record<'a> {
    /// Returns a record without optional members.
    pub fn new(ph: char, thread: Thread, name: &'a str) -> Self {
        Self {
            ph,
            thread,
            name,
            cat: None,
            ts: None,
            id: None,
            scope: None,
            args: None,
        }
    }
}

/// The arguments of the end of a call, state or section, of a trigger, or of a name.
#[derive(Default, Serialize)]
pub struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a str>,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub place: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
}
