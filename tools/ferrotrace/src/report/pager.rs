// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output, through a pager if it is a terminal.

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

    /// Starts the pager if standard output is a terminal, and there is one.
    pub fn new() -> Self {
        if !io::stdout().is_terminal() {
            return Self::none();
        }
        let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
        if pager.is_empty() || pager == "cat" {
            return Self::none();
        }
        let mut command = Command::new("sh");
        command.args(["-c", &pager]).stdin(Stdio::piped());
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

    /// Writes everything, and waits until the pager ends.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Direct(mut out) => out.flush(),
            Self::Paged(mut out, mut child) => {
                let written = out.flush();
                drop(out);
                child.wait()?;
                written
            }
        }
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
