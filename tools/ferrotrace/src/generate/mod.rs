// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace generate`: writes man pages and completions, for packages. They are made from the
//! definition of the command line.

mod man;

use std::{
    fs,
    path::PathBuf,
    process::ExitCode, //
};

use anyhow::Context;
use clap::{
    Command,
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
    let mut command = shown(&C::command());
    let directory = &args.directory;
    fs::create_dir_all(directory)
        .and_then(|()| match args.what {
            What::Man => man::write(command, directory),
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

/// Returns the command line without hidden verbs, which completions would offer.
fn shown(all: &Command) -> Command {
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    let about = all.get_about().cloned().unwrap_or_default();
    Command::new("ferrotrace")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .propagate_version(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(verbs.cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn completions() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        run::<Cli>(&Args {
            what: What::Completions,
            directory: directory.path().into(),
        })?;
        for name in ["ferrotrace.bash", "_ferrotrace", "ferrotrace.fish"] {
            let text = fs::read_to_string(directory.path().join(name))?;
            assert!(text.contains("no-events"), "{name}");
            assert!(!text.contains("generate"), "{name}: a hidden verb");
        }
        Ok(())
    }

    #[test]
    fn man_pages() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        run::<Cli>(&Args {
            what: What::Man,
            directory: directory.path().into(),
        })?;
        let page = |name| fs::read_to_string(directory.path().join(name));
        let record = page("ferrotrace-record.1")?;
        for line in [
            ".TH ferrotrace\\-record 1 \"\" \"ferrotrace 0.2.0\" \"User Commands\"",
            ".SH EXAMPLES",
            "ferrotrace record \\-f \\-\\- make \\-j4            with all its children",
        ] {
            assert!(
                record.lines().any(|found| found == line),
                "{line}\n{record}"
            );
        }
        for part in [
            "[\\fB\\-p\\fR \\fIPID\\fR]",
            "[\\fB\\-\\-time\\fR \\fITIME\\fR]",
            "[\\fB\\-f\\fR]",
            "[\\fICOMMAND\\fR]...",
        ] {
            assert!(record.contains(part), "{part}\n{record}");
        }
        assert!(!record.contains("EXTRA"));
        assert!(page("ferrotrace-export.1")?.contains("\\fIFORMAT\\fR [\\fIFILE\\fR]"));
        assert!(page("ferrotrace.1")?.contains("ferrotrace\\-record(1)"));
        assert!(page("ferrotrace-generate.1").is_err());
        Ok(())
    }

    #[test]
    fn definition() {
        Cli::command().debug_assert();
    }
}
