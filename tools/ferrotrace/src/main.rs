// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace`: records where the time of tasks goes, with the kernel module of the same name, and
//! shows it.

mod check;
mod cli;
mod control;
mod export;
mod flame;
mod generate;
mod glob;
mod html;
mod leftovers;
mod message;
mod model;
mod output;
mod percent;
mod record;
mod recording;
mod report;
mod select;
mod signals;
mod source;
mod stats;
mod summary;
mod sys;
mod timeline;
mod top;
mod tracefs;
mod units;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if let Some(code) = record::run_as_helper() {
        return code;
    }
    let cli = cli::Cli::parse();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            message::print(format_args!("ferrotrace: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
