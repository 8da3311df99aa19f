// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace report`: prints a recording as text.

use std::{
    path::PathBuf,
    process::ExitCode, //
};

use crate::sys::Input;

/// Prints a recording as text.
#[derive(clap::Args)]
pub struct Args {
    /// The recording, a file of `ferrotrace record` or `trace-cmd record`.
    #[arg(default_value = "trace.dat")]
    file: PathBuf,
}

/// Runs `ferrotrace report`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let input = Input::open(&args.file)?;
    println!("{} CPUs", input.nr_cpus());
    Ok(ExitCode::SUCCESS)
}
