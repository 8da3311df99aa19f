// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line: verbs, options and their help. Man pages and completions are generated from
//! this definition, too.

use std::process::ExitCode;

use clap::{
    Parser,
    Subcommand, //
};

use crate::{
    check,
    export,
    flame,
    generate,
    html,
    record,
    report,
    summary,
    timeline,
    top, //
};

/// Records where the time of tasks goes, and shows it.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Record(Box<record::Args>),
    Report(report::Args),
    Summary(summary::Args),
    Timeline(timeline::Args),
    Flame(flame::Args),
    Export(export::Args),
    Html(html::Args),
    Top(top::Args),
    Check(check::Args),
    #[command(hide = true)]
    Generate(generate::Args),
}

impl Cli {
    /// Runs the verb. Returns the exit status of the program.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Record(args) => record::run(&args),
            Verb::Report(args) => report::run(&args),
            Verb::Summary(args) => summary::run(&args),
            Verb::Timeline(args) => timeline::run(&args),
            Verb::Flame(args) => flame::run(&args),
            Verb::Export(args) => export::run(&args),
            Verb::Html(args) => html::run(&args),
            Verb::Top(args) => top::run(&args),
            Verb::Check(args) => check::run(&args),
            Verb::Generate(args) => generate::run::<Self>(&args),
        }
    }
}
