// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace`: records where the time of tasks goes, with the kernel module of the same name, and
//! shows it.

mod cli;
mod model;
mod output;
mod recording;
mod report;
mod summary;
mod sys;
mod timeline;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ferrotrace: {error:#}");
            ExitCode::FAILURE
        }
    }
}
