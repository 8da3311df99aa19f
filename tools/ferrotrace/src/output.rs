// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output, and files that are written instead of it.

use std::{
    fs::File,
    io::{
        self,
        Write, //
    },
    path::Path, //
};

use anyhow::Context;

/// Returns the result of writing to standard output. A reader that went away, for example `head`,
/// is not an error.
pub fn ended(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}

/// Writes to a file, or to standard output if there is no path.
///
/// # Errors
///
/// If the file cannot be created, or if writing fails.
pub fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = path else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        return ended(write(&mut out).and_then(|()| out.flush()));
    };
    let context = || path.display().to_string();
    let mut out = io::BufWriter::new(File::create(path).with_context(context)?);
    write(&mut out)
        .and_then(|()| out.flush())
        .with_context(context)
}
