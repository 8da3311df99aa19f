// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace generate`: writes man pages and completions, for packages. They are made from the
//! definition of the command line.

use std::{
    fs,
    path::PathBuf,
    process::ExitCode, //
};

use anyhow::Context;
use clap::{
    CommandFactory,
    ValueEnum, //
};
use clap_complete::Shell;

/// Writes man pages or completions.
#[derive(clap::Args)]
pub struct Args {
    /// Kind of files: `man` writes a page for each verb, `completions` a file for each shell.
    what: What,
    /// Directory to write to.
    directory: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Man,
    Completions,
}

/// Runs `ferrotrace generate` for a command line.
pub fn run<C: CommandFactory>(args: &Args) -> anyhow::Result<ExitCode> {
    let mut command = C::command().disable_help_subcommand(true);
    let directory = &args.directory;
    fs::create_dir_all(directory)
        .and_then(|()| match args.what {
            What::Man => clap_mangen::generate_to(command, directory),
            What::Completions => [Shell::Bash, Shell::Zsh, Shell::Fish]
                .into_iter()
                .try_for_each(|shell| {
                    clap_complete::generate_to(shell, &mut command, "ferrotrace", directory)
                        .map(drop)
                }),
        })
        .with_context(|| directory.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn files() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        for what in [What::Man, What::Completions] {
            let directory = directory.path().into();
            run::<Cli>(&Args { what, directory })?;
        }
        let text = |name| fs::read_to_string(directory.path().join(name));
        assert!(text("ferrotrace-record.1")?.contains("Examples:"));
        assert!(!directory.path().join("ferrotrace-generate.1").exists());
        for name in ["ferrotrace.bash", "_ferrotrace", "ferrotrace.fish"] {
            assert!(text(name)?.contains("no-events"), "{name}");
        }
        Ok(())
    }

    #[test]
    fn definition() {
        Cli::command().debug_assert();
    }
}
