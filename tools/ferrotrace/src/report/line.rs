// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a line of the call graph, and the comment of a call.

use std::fmt::{
    self,
    Write, //
};

use crate::recording::{
    state_name, //
    CallTimes,
    Comm,
    Symbols,
};

/// The names of the columns.
pub const HEADER: &str = "\
#      TIME       CPU            TASK-PID         DURATION                  FUNCTION CALLS
#       |          |               |               |   |                     |   |   |   |
";

/// The columns before the function.
pub struct Columns {
    pub time: u64,
    pub cpu: usize,
    pub comm: Comm,
    pub pid: i32,
    pub duration: Option<u64>,
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.time / 1000;
        let (s, us) = (us / 1_000_000, us % 1_000_000);
        write!(f, "{s:>6}.{us:06} | {:>3}) {:>16}-", self.cpu, self.comm)?;
        write!(f, "{:<7} | ", self.pid)?;
        match self.duration {
            Some(ns) => write!(f, "{}", Duration(ns))?,
            None => write!(f, "{:14}", "")?,
        }
        f.write_str("|  ")
    }
}

/// A duration as the kernel's graph tracer prints it: a mark for long ones, and eight characters.
struct Duration(u64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.0 {
            1_000_000_001.. => '$',
            100_000_001.. => '@',
            10_000_001.. => '*',
            1_000_001.. => '#',
            100_001.. => '!',
            10_001.. => '+',
            _ => ' ',
        };
        let mut text = (self.0 / 1000).to_string();
        if text.len() < 7 {
            let digits = 7 - text.len();
            let ns = format!("{:03}", self.0 % 1000);
            write!(text, ".{}", ns.get(..digits.min(3)).unwrap_or(&ns))?;
        }
        let padding = 8usize.saturating_sub(text.len());
        write!(f, "{mark} {text} us {:padding$}", "")
    }
}

/// The indentation of a call.
pub fn indent(depth: i32) -> usize {
    usize::try_from(depth).unwrap_or(0).min(256) * 2
}

/// The times of a call as in a comment of the kernel.
pub struct Times<'a, 'b>(pub &'a CallTimes, pub &'a Symbols<'b>);

impl fmt::Display for Times<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(times, symbols) = self;
        if times.run_ns == 0 && times.wait_ns == 0 && times.block_ns == 0 {
            return write!(f, "times unknown, switches={}", times.switches);
        }
        let irq = (times.irq_ns != 0).then_some(("irq", times.irq_ns));
        let parts = [("wait", times.wait_ns), ("block", times.block_ns)];
        let run = [("run", times.run_ns)].into_iter();
        for (name, ns) in run.chain(irq).chain(parts) {
            write!(f, "{name}={}.{:03} ", ns / 1000, ns % 1000)?;
        }
        write!(f, "us switches={}", times.switches)?;
        if times.block_ns == 0 {
            return Ok(());
        }
        let blocked = &times.blocked;
        write!(f, " state={}", state_name(blocked.state))?;
        if let Some(caller) = blocked.caller {
            write!(f, " in {}", symbols.name(caller))?;
        }
        let by = blocked.waker.to_string().replace("*/", "*\\/");
        write!(f, " by {by}")
    }
}
