// SPDX-License-Identifier: MIT OR Apache-2.0

//! The summary as text.

use std::{
    cmp::Reverse,
    fmt,
    io, //
};

use super::{
    by_name,
    collect::{
        FuncSums,
        Summary,
        TaskSums, //
    },
    Sort, //
};
use crate::{
    model::{
        Split,
        Sum, //
    },
    percent,
    recording::{
        context_name,
        state_name, //
    },
};

/// A time in ms with three digits after the point.
pub struct Ms(pub u64);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = (self.0 + 500) / 1000;
        f.pad(&format!("{}.{:03}", us / 1000, us % 1000))
    }
}

/// A part of a time, in percent.
pub struct Percent(pub u64, pub u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&percent::text(self.0, self.1))
    }
}

/// The maximum number of lines in the tables of functions by run, wait and block time.
const PART_LINES: usize = 5;

/// Which tables are written.
pub struct Tables {
    /// The maximum number of lines in each table.
    pub limit: usize,
    /// Whether there are short tables of functions by run, wait and block time.
    pub has_parts: bool,
    /// The selection, unless it is all of the recording.
    pub selected: Option<String>,
}

/// Writes the summary.
pub fn write(
    out: &mut impl io::Write,
    summary: &Summary,
    names: &[String],
    tables: &Tables,
) -> io::Result<()> {
    let limit = tables.limit;
    let name = |index: usize| names.get(index).map_or("?", String::as_str);
    writeln!(
        out,
        "{} ms, {} events",
        Ms(summary.duration),
        summary.events
    )?;
    write_losses(out, summary)?;
    if let Some(selected) = &tables.selected {
        writeln!(out, "selection: {selected}")?;
    }
    write_tasks(out, summary, limit)?;
    if !summary.functions.is_empty() {
        writeln!(
            out,
            "\n{:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>9}  FUNCTION",
            "TOTAL/ms", "run/ms", "wait/ms", "block/ms", "self/ms", "max/ms", "calls"
        )?;
        for (index, func) in summary.functions.iter().take(limit) {
            write!(out, "{:>12} ", Ms(func.total.wall()))?;
            write_split(out, &func.total)?;
            let (own, max) = (Ms(func.own.wall()), Ms(func.max));
            write!(
                out,
                " {own:>12} {max:>12} {:>9}  {}",
                func.calls,
                name(*index)
            )?;
            match func.unfinished {
                0 => writeln!(out)?,
                n => writeln!(out, " ({n} unfinished)")?,
            }
        }
        write_rest(out, summary.functions.len(), limit, "functions")?;
        if tables.has_parts {
            for (head, sort) in [
                ("RUN/ms", Sort::Run),
                ("WAIT/ms", Sort::Wait),
                ("BLOCK/ms", Sort::Block),
            ] {
                let rows = by_part(&summary.functions, sort, PART_LINES.min(limit));
                write_part(out, head, &rows, |index| name(index))?;
            }
        }
    }
    if !summary.blocked.is_empty() {
        write_head(out, "BLOCKED/ms", "IN FUNCTION (STATE) <- WAKER")?;
        let rows = by_name::blocked(&summary.blocked);
        for row in rows.iter().take(limit) {
            write_sum(out, &row.sum)?;
            let place = row.key;
            let function = place.caller.map_or("?", |func| name(func.index()));
            write!(out, "{function} ({}) <- ", state_name(place.state))?;
            match place.context {
                0 => writeln!(out, "{}", row.tasks(place.comm))?,
                context => writeln!(out, "{}", context_name(context))?,
            }
        }
        write_rest(out, rows.len(), limit, "places")?;
    }
    if !summary.behind.is_empty() {
        write_head(out, "WAITED/ms", "BEHIND")?;
        let rows = by_name::tasks(&summary.behind);
        for row in rows.iter().take(limit) {
            write_sum(out, &row.sum)?;
            match row.is_idle() {
                true => writeln!(out, "{} (the CPU was idle)", row.key)?,
                false => writeln!(out, "{}", row.tasks(row.key))?,
            }
        }
        write_rest(out, rows.len(), limit, "tasks")?;
    }
    if !summary.interrupts.is_empty() {
        write_head(out, "IRQ/ms", "INTERRUPTS ON TOP OF")?;
        let rows = by_name::tasks(&summary.interrupts);
        for row in rows.iter().take(limit) {
            write_sum(out, &row.sum)?;
            writeln!(out, "{}", row.tasks(row.key))?;
        }
        write_rest(out, rows.len(), limit, "tasks")?;
    }
    write_chains(out, summary, names, limit)?;
    write_sections(out, summary, limit)?;
    write_triggers(out, summary, limit)
}

/// Returns the functions with the largest times of one part, and these times. There are none if the
/// table by total time begins with the same functions.
fn by_part(functions: &[(usize, FuncSums)], sort: Sort, limit: usize) -> Vec<(usize, u64, u64)> {
    let row = |(index, func): &(usize, FuncSums)| {
        let part = sort.key(&func.total, &func.own);
        (*index, part, func.calls)
    };
    let mut rows: Vec<_> = functions.iter().map(row).collect();
    rows.sort_by_key(|(_, part, _)| Reverse(*part));
    rows.truncate(limit);
    rows.retain(|(_, part, _)| *part != 0);
    let is_equal = rows
        .iter()
        .zip(functions)
        .all(|(row, (index, _))| row.0 == *index);
    match is_equal {
        true => Vec::new(),
        false => rows,
    }
}

fn write_part<'a>(
    out: &mut impl io::Write,
    head: &str,
    rows: &[(usize, u64, u64)],
    name: impl Fn(usize) -> &'a str,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{head:>12} {:>9}  FUNCTION", "calls")?;
    for (index, part, calls) in rows {
        writeln!(out, "{:>12} {calls:>9}  {}", Ms(*part), name(*index))?;
    }
    Ok(())
}

fn write_chains(
    out: &mut impl io::Write,
    summary: &Summary,
    names: &[String],
    limit: usize,
) -> io::Result<()> {
    if summary.chains.is_empty() {
        return Ok(());
    }
    write_head(out, "BLOCKED/ms", "TASK: CHAIN")?;
    for chain in summary.chains.iter().take(limit) {
        write_sum(out, &chain.sum)?;
        writeln!(out, "{}: {}", chain.comm, chain.text(names))?;
    }
    write_rest(out, summary.chains.len(), limit, "chains")
}

fn write_sections(out: &mut impl io::Write, summary: &Summary, limit: usize) -> io::Result<()> {
    if summary.sections.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:>12} {:>12} {:>12} {:>12} {:>12} {:>9}  TASK: SECTION",
        "TOTAL/ms", "run/ms", "wait/ms", "block/ms", "max/ms", "count"
    )?;
    for sums in summary.sections.iter().take(limit) {
        write!(out, "{:>12} ", Ms(sums.total))?;
        match &sums.split {
            Some(split) => write_split(out, split)?,
            None => write!(out, "{:>12} {:>12} {:>12}", "-", "-", "-")?,
        }
        write!(out, " {:>12} {:>9}  ", Ms(sums.max), sums.count)?;
        let kind = match sums.split {
            Some(_) => "",
            None => " (async)",
        };
        writeln!(out, "{}: {}{kind}", sums.comm, sums.name)?;
    }
    write_rest(out, summary.sections.len(), limit, "sections")
}

fn write_triggers(out: &mut impl io::Write, summary: &Summary, limit: usize) -> io::Result<()> {
    if summary.triggers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{:>12} {:>20}  TASK: TRIGGER", "TIME/s", "value")?;
    for trigger in summary.triggers.iter().take(limit) {
        // The time as `ferrotrace report` shows it.
        let us = trigger.time / 1000;
        let (s, us) = (us / 1_000_000, us % 1_000_000);
        write!(out, "{s:>5}.{us:06} {:>20}  ", trigger.value)?;
        writeln!(out, "{}: {}", trigger.task, trigger.text)?;
    }
    write_rest(out, summary.triggers.len(), limit, "triggers")
}

fn write_losses(out: &mut impl io::Write, summary: &Summary) -> io::Result<()> {
    if summary.losses == 0 {
        return writeln!(out, "no records lost");
    }
    let (losses, lost) = (summary.losses, summary.lost);
    let more = if summary.unknown_losses == 0 {
        ""
    } else {
        "at least "
    };
    writeln!(
        out,
        "LOST: {more}{lost} records, at {losses} places; times are incomplete"
    )
}

fn write_tasks(out: &mut impl io::Write, summary: &Summary, limit: usize) -> io::Result<()> {
    if summary.tasks.is_empty() {
        return Ok(());
    }
    let what = if summary.has_states {
        "TASK"
    } else {
        "TASK (time in recorded calls only)"
    };
    writeln!(
        out,
        "\n{:>12} {:>6} {:>12} {:>6} {:>12} {:>6} {:>9}  {what}",
        "RUN/ms", "%", "WAIT/ms", "%", "BLOCK/ms", "%", "calls"
    )?;
    for task in summary.tasks.iter().take(limit) {
        let TaskSums { split, unknown, .. } = task;
        let wall = split.wall() + unknown;
        for part in [split.run, split.wait, split.block] {
            write!(out, "{:>12} {:>6} ", Ms(part), Percent(part, wall))?;
        }
        write!(out, "{:>9}  ", task.calls)?;
        match task.idle_cpu {
            Some(cpu) => write!(out, "idle task of CPU {cpu}")?,
            None => write!(out, "{}", task.name)?,
        }
        match unknown {
            0 => writeln!(out)?,
            _ => writeln!(out, " ({} ms unknown)", Ms(*unknown))?,
        }
    }
    write_rest(out, summary.tasks.len(), limit, "tasks")
}

fn write_split(out: &mut impl io::Write, split: &Split) -> io::Result<()> {
    let Split { run, wait, block } = *split;
    write!(out, "{:>12} {:>12} {:>12}", Ms(run), Ms(wait), Ms(block))
}

fn write_head(out: &mut impl io::Write, total: &str, what: &str) -> io::Result<()> {
    writeln!(out, "\n{total:>12} {:>12} {:>9}  {what}", "max/ms", "count")
}

fn write_sum(out: &mut impl io::Write, sum: &Sum) -> io::Result<()> {
    write!(
        out,
        "{:>12} {:>12} {:>9}  ",
        Ms(sum.total),
        Ms(sum.max),
        sum.count
    )
}

fn write_rest(out: &mut impl io::Write, len: usize, limit: usize, what: &str) -> io::Result<()> {
    match len.checked_sub(limit) {
        None | Some(0) => Ok(()),
        Some(rest) => writeln!(out, "{:>12} more {what} (--limit 0 shows all)", rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{
        Comm,
        TaskName, //
    };

    #[test]
    fn interrupts_are_added_up_by_name() {
        let task = |pid, comm: &[u8]| TaskName {
            pid,
            comm: Comm::new(comm),
        };
        let mut summary = Summary::default();
        for (pid, comm, irq_ns) in [
            (7, b"dd".as_slice(), 0),
            (1, b"sh", 2_000_000),
            (1, b"sh", 1_000_000),
            (2, b"sh", 4_000_000),
            (3, b"cat", 5_000_000),
        ] {
            summary.interrupt(task(pid, comm), irq_ns);
        }
        summary.finish((0, 10_000_000), Sort::All);
        let tables = Tables {
            limit: 10,
            has_parts: true,
            selected: None,
        };
        let mut text = Vec::new();
        write(&mut text, &summary, &[], &tables).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<Vec<_>> = text
            .lines()
            .skip_while(|line| !line.contains("IRQ/ms"))
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[1][..], ["7.000", "4.000", "3", "sh", "(2", "tasks)"]);
        assert_eq!(lines[2][..], ["5.000", "5.000", "1", "cat-3"]);
        assert_eq!(lines.len(), 3);
    }
}
