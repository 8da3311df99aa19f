// SPDX-License-Identifier: MIT OR Apache-2.0

//! A table of calls as CSV (RFC 4180, with line feeds). `docs/reference/command.md` describes the
//! columns; adding columns at the end is compatible.

use std::{
    borrow::Cow,
    io::{
        self,
        Write, //
    },
};

use super::Stream;
use crate::{
    model::{
        Call,
        Ending,
        Model,
        Task,
        Visitor, //
    },
    recording::{
        state_name, //
        Event,
        Symbols,
    },
};

const HEADER: &str = "task,tid,cpu,function,depth,start_ns,duration_ns,run_ns,wait_ns,block_ns,\
    self_run_ns,self_wait_ns,self_block_ns,switches,blocked_in,state,waker,waker_context,end";

/// The writer of CSV.
pub struct Csv;

/// The visitor for one event.
struct Lines<'a, 'b> {
    out: &'a mut dyn Write,
    symbols: &'a Symbols<'b>,
    written: io::Result<()>,
}

impl Stream for Csv {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{HEADER}")
    }

    fn event(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        event: &Event<'_>,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        let mut lines = Lines::new(out, symbols);
        model.event(event, symbols, &mut lines);
        lines.written
    }

    fn finish(
        &mut self,
        out: &mut dyn Write,
        model: &mut Model,
        symbols: &Symbols<'_>,
    ) -> io::Result<()> {
        let mut lines = Lines::new(out, symbols);
        model.finish(&mut lines);
        lines.written
    }
}

impl<'a, 'b> Lines<'a, 'b> {
    fn new(out: &'a mut dyn Write, symbols: &'a Symbols<'b>) -> Self {
        Self {
            out,
            symbols,
            written: Ok(()),
        }
    }

    fn line(&mut self, task: &Task, call: &Call) -> io::Result<()> {
        let (split, own) = (&call.split, &call.own);
        write!(
            self.out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},",
            quoted(&task.name().comm.to_string()),
            task.id().pid(),
            task.cpu(),
            quoted(self.symbols.name(call.func)),
            task.calls().len(),
            call.start,
            split.wall(),
            split.run,
            split.wait,
            split.block,
            own.run,
            own.wait,
            own.block,
            call.switches,
        )?;
        match &call.blocked {
            Some(blocked) => write!(
                self.out,
                "{},{},{},{},",
                quoted(blocked.caller.map_or("", |func| self.symbols.name(func))),
                state_name(blocked.state),
                quoted(&blocked.waker.task.to_string()),
                blocked.waker.context_name(),
            )?,
            None => write!(self.out, ",,,,")?,
        }
        let end = match call.ending {
            Ending::Returned => "returned",
            Ending::Lost => "lost",
            Ending::Open => "open",
        };
        writeln!(self.out, "{end}")
    }
}

impl Visitor for Lines<'_, '_> {
    fn call_end(&mut self, task: &Task, call: &Call) {
        if self.written.is_ok() {
            self.written = self.line(task, call);
        }
    }
}

/// Returns the text as a field: between quotes if it has characters that separate fields.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\"")).into();
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes() {
        assert_eq!(quoted("kworker/0:1"), "kworker/0:1");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
    }
}
