// SPDX-License-Identifier: MIT OR Apache-2.0
//! x
use std::process::ExitCode;
/// Checks.
#[derive(clap::Args)]
pub struct Args {}
/// Runs.
pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
