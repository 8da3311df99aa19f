// SPDX-License-Identifier: GPL-2.0

//! Formats lines of the call graph like the kernel's `function_graph` tracer, whose format programs
//! can parse.

use core::fmt::{
    self,
    Write, //
};

use super::{
    pack::Line,
    word::{
        Item, //
        PackedCall,
    },
};

/// A source of function names. If a function has no name, its address is written.
pub trait Names {
    fn write_name(&self, out: &mut dyn Write, address: usize) -> fmt::Result;
}

/// The maximum width of a duration in columns, and the width to which shorter ones are padded.
const LONGEST: usize = 8;
const DURATION: usize = 7;

/// The marks of calls that are longer than a number of ns, as in the kernel's `trace_find_mark()`.
const MARKS: [(u64, &str); 6] = [
    (1_000_000_000, "$ "),
    (100_000_000, "@ "),
    (10_000_000, "* "),
    (1_000_000, "# "),
    (100_000, "! "),
    (10_000, "+ "),
];

/// Writes text until a number of columns is full.
struct Columns<'a> {
    out: &'a mut dyn Write,
    left: usize,
}

impl Write for Columns<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = text.get(..self.left.min(text.len())).unwrap_or("");
        self.left -= text.len();
        self.out.write_str(text)
    }
}

fn write_duration(out: &mut dyn Write, ns: u64) -> fmt::Result {
    let mark = MARKS.iter().find(|(from, _)| ns > *from);
    out.write_str(mark.map_or("  ", |(_, mark)| mark))?;
    let us = ns / 1000;
    write!(out, "{us}")?;
    let whole = us.checked_ilog10().unwrap_or(0) as usize + 1;
    let left = LONGEST.saturating_sub(whole);
    let mut columns = Columns { out, left };
    if left > 1 {
        write!(columns, ".{:03}", ns % 1000)?;
    }
    let left = columns.left.saturating_sub(LONGEST - DURATION);
    write!(out, " us {:left$}", "")
}

fn write_call(
    out: &mut dyn Write,
    names: &impl Names,
    call: &PackedCall,
    end: &str,
) -> fmt::Result {
    let indent = 2 * call.depth.max(0) as usize;
    write!(out, "|  {:indent$}", "")?;
    names.write_name(out, call.func)?;
    out.write_str(end)
}

/// Writes the text of a line after the time and the event's name.
pub fn write_line(out: &mut dyn Write, names: &impl Names, line: &Line) -> fmt::Result {
    match (line.said.item, line.ret.map(|ret| ret.item)) {
        (Item::Function { ip, parent_ip }, _) => {
            names.write_name(out, ip)?;
            out.write_str(" <-- ")?;
            names.write_name(out, parent_ip)
        }
        (Item::Leaf(call), _) | (Item::Begin(_), Some(Item::Return(call))) => {
            write_duration(out, call.ns)?;
            write_call(out, names, &call, "();")
        }
        (Item::Begin(call), _) => {
            write!(out, "  {:1$}", "", DURATION + " us ".len())?;
            write_call(out, names, &call, "() {")
        }
        (Item::Return(call), _) => {
            let indent = 2 * call.depth.max(0) as usize;
            write_duration(out, call.ns)?;
            write!(out, "|  {:indent$}}}", "")
        }
    }
}
