// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output.

use std::io;

use anyhow::Context;

/// Returns the result of writing to standard output. A reader that went away, for example `head`,
/// is not an error.
pub fn ended(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
