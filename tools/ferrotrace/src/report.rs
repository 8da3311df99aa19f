// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace report`: prints a recording as text.

use std::{
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode, //
};

use crate::recording::Recording;

/// Prints a recording as text.
#[derive(clap::Args)]
pub struct Args {
    /// The recording, a file of `ferrotrace record` or `trace-cmd record`.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
}

/// Runs `ferrotrace report`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recording = Recording::open(&args.file)?;
    let mut symbols = recording.symbols();
    recording.for_each(&mut symbols, |event, _| {
        println!("{event:?}");
        ControlFlow::Continue(())
    })?;
    Ok(ExitCode::SUCCESS)
}
