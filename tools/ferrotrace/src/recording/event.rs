// SPDX-License-Identifier: MIT OR Apache-2.0

//! The events of a recording.

use std::{
    borrow::Cow,
    fmt,
    hash::{
        Hash,
        Hasher, //
    }, //
};

use super::symbols::FuncId;

/// The name of a task. The bytes after its end are 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Comm([u8; Comm::SIZE]);

impl Hash for Comm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Faster than a slice of bytes.
        state.write_u128(u128::from_ne_bytes(self.0));
    }
}

impl Comm {
    /// The size of a name in the kernel.
    pub const SIZE: usize = 16;

    /// Creates a name from the bytes up to the first NUL. Names have at most 16 bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut chunk = [0; Self::SIZE];
        chunk
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        Self::of_chunk(&chunk)
    }

    /// Creates a name from the bytes up to the first NUL.
    #[inline]
    pub fn of_chunk(chunk: &[u8; Self::SIZE]) -> Self {
        // Most names are short. Two words need fewer instructions than one of 128 bits.
        let word = u128::from_le_bytes(*chunk);
        let (low, is_short) = up_to_nul(word as u64);
        let high = match is_short {
            true => 0,
            false => up_to_nul((word >> 64) as u64).0,
        };
        Self(((u128::from(high) << 64) | u128::from(low)).to_le_bytes())
    }

    /// Returns the bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Returns whether the name is empty, that is, unknown.
    pub fn is_empty(&self) -> bool {
        self.0[0] == 0
    }
}

/// Returns the bytes of a little-endian word before the first NUL, and whether it has one.
#[inline]
fn up_to_nul(word: u64) -> (u64, bool) {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // The highest bit of the first NUL, and of some bytes after it.
    let ends = word.wrapping_sub(ONES) & !word & (ONES << 7);
    // All bits before the first NUL; without one, all bits.
    let before = match ends {
        0 => u64::MAX,
        _ => (ends ^ (ends - 1)) >> 8,
    };
    (word & before, ends != 0)
}

impl fmt::Display for Comm {
    /// Writes the name as the kernel does in `/proc/PID/status`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape(String::from_utf8_lossy(self.as_bytes())))
    }
}

/// Returns the text of a program as it is shown: control characters and backslashes are escaped.
pub fn printable(text: &[u8]) -> String {
    escape(String::from_utf8_lossy(text)).into_owned()
}

fn escape(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() || c == '\\') {
        return text;
    }
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped.into()
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A task with its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskName {
    /// The thread id; 0 is the idle task of a CPU.
    pub pid: i32,
    /// The name.
    pub comm: Comm,
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}", self.comm, self.pid))
    }
}

/// The task or interrupt that woke a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Waker {
    /// The task that was running.
    pub task: TaskName,
    /// 0: that task itself; 1 to 3: a softirq, hardirq or NMI on top of it.
    pub context: u8,
}

impl Waker {
    /// Returns the name of the context.
    pub fn context_name(&self) -> &'static str {
        context_name(self.context)
    }
}

/// Returns the name of a context, as in [`Waker`].
pub fn context_name(context: u8) -> &'static str {
    match context {
        0 => "task",
        1 => "softirq",
        2 => "hardirq",
        _ => "nmi",
    }
}

impl fmt::Display for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.context {
            0 => self.task.fmt(f),
            _ => f.pad(&format!("{}/{}", self.task, self.context_name())),
        }
    }
}

/// How a task was blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocked {
    /// The state, a bit mask of the kernel.
    pub state: u32,
    /// The function in which the task slept, if it is known.
    pub caller: Option<FuncId>,
    /// The waker.
    pub waker: Waker,
}

/// The names of the bits of a task's state, as in `sched_switch`.
const STATES: [&str; 9] = ["S", "D", "T", "t", "X", "Z", "P", "I", "R+"];

/// Returns the letters of a state of a task, as `sched_switch` has them.
pub fn state_name(state: u32) -> &'static str {
    match usize::try_from(state.trailing_zeros()) {
        _ if state == 0 => "R",
        Ok(bit) => STATES.get(bit).copied().unwrap_or("?"),
        Err(_) => "?",
    }
}

/// Why a task began to wait for a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The task was woken.
    Woken,
    /// The task was preempted, or yielded its CPU without sleeping.
    Preempted,
}

impl Since {
    /// Returns the word that the kernel prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Woken => "woken",
            Self::Preempted => "preempted",
        }
    }
}

/// A call in the call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId {
    /// The function.
    pub func: FuncId,
    /// The depth of the call in its task.
    pub depth: i32,
}

/// The run, wait and block times of a call that lost the CPU or was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimes {
    /// The call.
    pub call: CallId,
    /// Time on a CPU in ns.
    pub run_ns: u64,
    /// The part of `run_ns` that was the time of interrupts; 0 if it was not measured.
    pub irq_ns: u64,
    /// Time in ns during which the task was runnable, but not running.
    pub wait_ns: u64,
    /// Time in ns during which the task was not runnable.
    pub block_ns: u64,
    /// How often the task lost its CPU.
    pub switches: u32,
    /// The last blocked interval.
    pub blocked: Blocked,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The timestamp in ns.
    pub time: u64,
    /// The CPU that wrote the event.
    pub cpu: usize,
    /// The task that was running on the CPU.
    pub pid: i32,
    /// The id of the event's format; 0 if the event has no record of its own.
    pub id: u16,
    /// The record; empty if the event has no record of its own.
    pub data: &'a [u8],
    /// The content of the event.
    pub kind: Kind<'a>,
}

/// The content of an event. Unless it names a task, it is about the task that was running.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A function was called (no call graph).
    Function { func: FuncId, parent: FuncId },
    /// A call began, `late_ns` before the event.
    CallBegin { call: CallId, late_ns: u64 },
    /// A call returned.
    CallEnd { call: CallId, duration_ns: u64 },
    /// A call returned that has no event of its own for its beginning.
    Call { call: CallId, duration_ns: u64 },
    /// The times of the call that returns next.
    CallTimes(CallTimes),
    /// `task` became runnable.
    Wakeup {
        task: TaskName,
        prio: i32,
        target_cpu: u32,
        waker: Waker,
    },
    /// `task` got a CPU after it waited for it.
    Wait {
        task: TaskName,
        prio: i32,
        ns: u64,
        since: Since,
        prev: TaskName,
        prev_prio: i32,
    },
    /// `task` left its CPU. `irq_ns` is the part of `ns` that was the time of interrupts; 0 if it
    /// was not measured.
    Run {
        task: TaskName,
        prio: i32,
        ns: u64,
        irq_ns: u64,
        state: u32,
    },
    /// `task` was woken after it was blocked.
    Block {
        task: TaskName,
        prio: i32,
        ns: u64,
        blocked: Blocked,
    },
    /// `task` was moved to another CPU.
    Migrate {
        task: TaskName,
        orig_cpu: u32,
        dest_cpu: u32,
    },
    /// `task` created another task.
    Fork {
        task: TaskName,
        child: TaskName,
        child_tgid: i32,
    },
    /// `task` executed a program.
    Exec {
        task: TaskName,
        old: TaskName,
        filename: &'a [u8],
    },
    /// `task` was renamed.
    SetComm { task: TaskName, old_comm: Comm },
    /// `task` exits; its total times are known.
    Exit {
        task: TaskName,
        group_dead: bool,
        run_ns: u64,
        wait_ns: u64,
        block_ns: u64,
    },
    /// A section that `task` marked through `trace_marker` ended. Its parts are 0 if it is
    /// asynchronous.
    Section {
        task: TaskName,
        is_async: bool,
        cookie: i64,
        name: &'a [u8],
        total_ns: u64,
        run_ns: u64,
        wait_ns: u64,
        block_ns: u64,
    },
    /// A part of the chain of wakeups that ended a blocked interval of `task` of `block_ns`. `hop`
    /// is its number, from 1 on. `blocked` has a waker, and where this waker was blocked itself,
    /// for `waker_block_ns` of the interval. `irq` is the name of the interrupt, if the waker is
    /// one and its name is known. If not `is_known`, the kernel does not know whether it
    /// was blocked.
    Chain {
        task: TaskName,
        hop: u8,
        block_ns: u64,
        blocked: Blocked,
        irq: Comm,
        is_known: bool,
        waker_block_ns: u64,
    },
    /// A trigger rule about `task` fired. `rule` is the number of its line, `text` the rule.
    Trigger {
        task: TaskName,
        rule: u32,
        value: i64,
        text: &'a [u8],
    },
    /// A program wrote to `trace_marker`, or the kernel used `trace_printk()`.
    Marker { text: &'a [u8] },
    /// Records of this CPU are missing; their number is not always known.
    Lost { records: Option<u64> },
    /// Any other event: [`Event::id`] and [`Event::data`] say more.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_first_nul() {
        for len in 0..=16 {
            let name: Vec<u8> = (1..=len)
                .map(|n| if n % 3 == 0 { 0x80 } else { n })
                .collect();
            for rest in [&b""[..], b"\0", b"\0\x01\x01\x80garbage after it"] {
                let bytes = [&name, rest].concat();
                let comm = Comm::new(&bytes);
                assert_eq!(comm.as_bytes(), name, "{bytes:?}");
                assert_eq!(comm, Comm::new(&name));
                assert_eq!(comm.is_empty(), len == 0);
            }
        }
        assert_eq!(
            Comm::new(b"more than 16 bytes").as_bytes(),
            b"more than 16 byt"
        );
    }
}
