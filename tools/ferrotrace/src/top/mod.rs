// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace top`: shows live where the time of tasks goes.

mod args;
mod data;
mod input;
mod live;
mod once;
mod procfs;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;

use std::{
    io::{
        stdout,
        IsTerminal, //
    },
    process::ExitCode,
    sync::mpsc::channel, //
};

use anyhow::bail;
use clap::{
    error::ErrorKind,
    Args as _, //
};

use crate::{
    leftovers,
    signals,
    sys::Formats,
    tracefs::Tracefs, //
};
use live::Live;

pub use args::Args;

/// Runs `ferrotrace top`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Err(message) = args.check() {
        let mut command = Args::augment_args(clap::Command::new("ferrotrace top"));
        command
            .error(ErrorKind::ArgumentConflict, message)
            .print()?;
        return Ok(ExitCode::from(2));
    }
    if !args.once && !stdout().is_terminal() {
        bail!("standard output is not a terminal: use --once to print one screen");
    }
    let (sender, signals) = channel();
    // Nothing receives a signal after the end of the view.
    signals::receive(move |signal| {
        let _ = sender.send(signal);
    })?;
    let tracefs = Tracefs::find()?;
    if !tracefs.has_tracer("ferrotrace")? {
        bail!("the module is not loaded: sudo modprobe ferrotrace (or: sudo insmod ferrotrace.ko)");
    }
    args.tasks.check()?;
    leftovers::remove(&tracefs)?;
    let formats = Formats::of_kernel(&tracefs.path(""), &[c"ftrace", c"ferrotrace"])?;
    let live = Live::start(leftovers::create(&tracefs)?, &formats, args)?;
    let code = match args.once {
        true => once::run(live, args, &signals)?,
        false => terminal::run(live, args, &signals)?,
    };
    Ok(ExitCode::from(code))
}
