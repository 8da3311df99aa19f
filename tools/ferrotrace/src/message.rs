// SPDX-License-Identifier: MIT OR Apache-2.0

//! Messages on standard error.

use std::{
    fmt::Display,
    io::{
        stderr,
        Write, //
    },
};

/// Prints a line on standard error. If this is impossible, the line is lost. `eprintln` would end
/// the program with a panic, and with it a recording whose terminal was closed, or whose messages
/// go to a disk that is full.
pub fn print(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}
