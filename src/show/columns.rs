// SPDX-License-Identifier: GPL-2.0

//! Prints the columns of a line that precede the function: the time, the CPU, the task, the
//! duration and the indentation. Also prints the lines for a change of the task and for an
//! interrupt.

use core::fmt::Write;

use super::Page;
use crate::{
    ktrace::{
        output::{
            iter::is_irq_entry,
            seq, //
        },
        record::GraphReturn, //
    },
    option,
};

/// The number of spaces for each level.
const INDENT: usize = 2;

impl Page<'_, '_> {
    /// Prints what precedes the function: a line for a change of the task, a line for the start of
    /// an interrupt, and the first columns.
    pub(super) fn prologue(&mut self, call: Option<(usize, bool)>) {
        self.task();
        if let Some((func, begins)) = call {
            self.irq(func, begins);
        }
        self.columns();
    }

    /// Prints a line that shows the change of the task, if this CPU has switched to another task.
    fn task(&mut self) {
        let pid = self.header().pid();
        let before = self.reading.pid.replace(pid);
        let Some(before) = before.filter(|before| *before != pid) else {
            return;
        };
        if !self.has_state {
            return;
        }
        self.seq()
            .text(" ------------------------------------------\n");
        self.cpu();
        self.proc(before);
        self.seq().text(" => ");
        self.proc(pid);
        self.seq()
            .text("\n ------------------------------------------\n\n");
    }

    fn cpu(&mut self) {
        let width = digits(kernel::cpu::nr_cpu_ids().saturating_sub(1));
        let cpu = self.line.cpu();
        let _ = write!(self.seq(), " {cpu:width$}) ");
    }

    fn proc(&mut self, pid: i32) {
        /// The maximum number of bytes of a name that are shown.
        const NAME: usize = 7;
        /// The width of the name and the id together.
        const WIDTH: usize = 14;
        let comm = seq::comm_of(pid).escaped();
        let name = comm.prefix(NAME);
        let sign = usize::from(pid < 0);
        let len = name.len() + 1 + sign + digits(pid.unsigned_abs());
        let spaces = WIDTH.saturating_sub(len);
        let mut seq = self.seq();
        seq.spaces(spaces / 2);
        seq.bytes(name);
        let _ = write!(seq, "-{pid}");
        seq.spaces(spaces - spaces / 2);
    }

    /// Prints the columns before the duration.
    fn columns(&mut self) {
        if !self.line.has_context() {
            return;
        }
        let time = self
            .earlier
            .map_or_else(|| self.line.time(), |(_, time)| time);
        let time = match self.line.is_time_in_ns() {
            true => time.saturating_sub(self.late_ns),
            false => time,
        };
        if self.has(option::ABSTIME) {
            let us = time / 1000;
            let _ = write!(self.seq(), "{:5}.{:06} |  ", us / 1_000_000, us % 1_000_000);
        }
        if self.has(option::RELTIME) {
            let us = time.saturating_sub(self.line.start_time()) / 1000;
            let _ = write!(self.seq(), "{us:9} us |  ");
        }
        if self.has(option::CPU) {
            self.cpu();
        }
        if self.has(option::PROC) {
            let pid = self.header().pid();
            self.proc(pid);
            self.seq().text(" | ");
        }
        if self.line.is_latency_format() {
            self.seq().text(" ");
            let header = self.header();
            self.line.latency(&header);
            self.seq().text(" | ");
        }
    }

    /// Prints a line for the start or the end of an interrupt.
    pub(super) fn irq(&mut self, func: usize, begins: bool) {
        if !is_irq_entry(func) {
            return;
        }
        self.columns();
        let shown = self.shows_duration();
        if shown {
            self.seq().text("  ");
        }
        self.seq()
            .text(if begins { "==========>" } else { "<==========" });
        if shown {
            self.seq().text(" |");
        }
        self.seq().text("\n");
    }

    fn shows_duration(&self) -> bool {
        self.has(option::DURATION) && self.line.has_context()
    }

    pub(super) fn duration(&mut self, ret: &GraphReturn) {
        if !self.shows_duration() {
            return;
        }
        let ns = ret.rettime_ns.wrapping_sub(ret.calltime_ns);
        let mark = match self.has(option::OVERHEAD) {
            true => seq::mark(ns),
            false => ' ',
        };
        let mut seq = self.seq();
        let _ = write!(seq, "{mark} ");
        seq.duration(ns);
        seq.text("|  ");
    }

    pub(super) fn no_duration(&mut self) {
        if self.shows_duration() {
            self.seq().text("              |  ");
        }
    }

    pub(super) fn indent(&mut self, depth: i32) {
        let spaces = (depth.max(0) as usize).wrapping_mul(INDENT);
        self.seq().spaces(spaces);
    }
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}
