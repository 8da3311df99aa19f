// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace record`: records tasks in an instance of its own, with trace-cmd.

mod args;
mod child;
mod command;
mod filter;
mod flight;
mod progress;
mod recorder;
mod session;
mod snapshot;
mod start;

use std::{
    env,
    ffi::OsString,
    process::ExitCode, //
};

use clap::{
    error::ErrorKind, //
    Args as _,
};

pub use args::Args;

use crate::{
    message,
    signals, //
};
use child::CannotExecute;
use session::Interrupted;

/// Runs `ferrotrace record`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Err(message) = args.check() {
        let mut command = Args::augment_args(clap::Command::new("ferrotrace record"));
        command
            .error(ErrorKind::ArgumentConflict, message)
            .print()?;
        return Ok(ExitCode::from(2));
    }
    let error = match start::run(args) {
        Ok(code) => return Ok(ExitCode::from(code)),
        Err(error) => error,
    };
    if let Some(Interrupted(signal)) = error.downcast_ref() {
        return Ok(ExitCode::from(signals::exit_code(*signal)));
    }
    match error.downcast_ref::<CannotExecute>() {
        Some(reason) => {
            message::print(format_args!("ferrotrace: {reason}"));
            Ok(ExitCode::from(reason.status()))
        }
        None => Err(error),
    }
}

/// If this process is one that `ferrotrace record` has started for itself, does its work.
pub fn run_as_helper() -> Option<ExitCode> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let (first, rest) = args.split_first()?;
    match first.to_str()? {
        child::EXECUTE => Some(ExitCode::from(child::execute(rest))),
        recorder::HOLD => Some(match recorder::hold() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }),
        _ => None,
    }
}
