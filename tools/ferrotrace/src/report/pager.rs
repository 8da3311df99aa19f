// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output, through a pager if it is a terminal.
//!
//! `$PAGER` is a command of the shell. Only the shell's exit status says whether there is one, when
//! the text was written to it: the caller then writes it again, without a pager.

use std::{
    env,
    io::{
        self,
        BufWriter,
        IsTerminal,
        Stdout,
        Write, //
    },
    process::{
        Child,
        ChildStdin,
        Command,
        ExitStatus,
        Stdio, //
    },
};

/// Where text goes.
pub enum Pager {
    /// To standard output.
    Direct(BufWriter<Stdout>),
    /// To a pager.
    Paged(BufWriter<ChildStdin>, Child),
}

impl Pager {
    /// Returns standard output.
    pub fn none() -> Self {
        Self::Direct(BufWriter::with_capacity(1 << 16, io::stdout()))
    }

    /// Starts the pager if standard output is a terminal.
    pub fn new() -> Self {
        if !io::stdout().is_terminal() {
            return Self::none();
        }
        let mut command = match env::var("PAGER") {
            Err(_) => Command::new("less"),
            Ok(pager) if pager.is_empty() || pager == "cat" => return Self::none(),
            Ok(pager) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &pager]);
                shell
            }
        };
        command.stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            // Long lines are cut, and a text that fits on the screen is only printed.
            command.env("LESS", "FRSX");
        }
        match command.spawn() {
            Ok(mut child) => match child.stdin.take() {
                Some(input) => Self::Paged(BufWriter::with_capacity(1 << 16, input), child),
                None => Self::none(),
            },
            Err(_) => Self::none(),
        }
    }

    /// Writes everything, and waits until the pager ends. `written` is the result of writing
    /// before.
    pub fn finish(self, written: io::Result<()>) -> io::Result<Shown> {
        match self {
            Self::Direct(mut out) => {
                written.and_then(|()| out.flush())?;
                Ok(Shown::Yes)
            }
            Self::Paged(mut out, mut child) => {
                let written = written.and_then(|()| out.flush());
                // Dropping it would write again what could not be written.
                drop(out.into_parts());
                match shown(child.wait()?) {
                    Shown::Yes => written.map(|()| Shown::Yes),
                    Shown::No => Ok(Shown::No),
                }
            }
        }
    }
}

/// Whether the text was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It was.
    Yes,
    /// The shell could not execute the pager.
    No,
}

/// Returns whether the pager that ended with this status has shown the text. The shell ends with
/// 127 if there is no such command, and with 126 if it cannot be executed.
fn shown(status: ExitStatus) -> Shown {
    match status.code() {
        Some(126 | 127) => Shown::No,
        _ => Shown::Yes,
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Direct(out) => out.write(bytes),
            Self::Paged(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Direct(out) => out.flush(),
            Self::Paged(out, _) => out.flush(),
        }
    }
}
