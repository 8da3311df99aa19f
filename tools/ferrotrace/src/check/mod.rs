// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace check`: shows what recordings need, and what this machine lacks.

mod facts;
mod kernel;
mod module;
mod programs;

use std::{
    io::{
        self,
        stdout,
        IsTerminal,
        Write, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process::ExitCode, //
};

use crate::output;
use facts::Facts;

const EXAMPLES: &str = "\
Examples:
  ferrotrace check
  ferrotrace check && ferrotrace record -- make
  ferrotrace check --module ferrotrace.ko     was this file built for the kernel that runs?

Each line is 'ok', 'missing' (recording is impossible), or 'warning' (something is limited).
Exit status: 0 if nothing is missing, else 1.";

/// Checks whether this machine can record, and says what to do if it cannot.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Also checks whether a file of the module was built for the kernel that runs.
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,

    /// Directory in which the files of the system are read, for tests.
    #[arg(long, hide = true, default_value = "/")]
    root: PathBuf,
}

/// The result of one check.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    result: Result,
    what: &'static str,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Result {
    Ok,
    Missing,
    Warning,
}

impl Line {
    fn new(result: Result, what: &'static str, text: impl Into<String>) -> Self {
        Self {
            result,
            what,
            text: text.into(),
        }
    }

    fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Result::Ok, what, text)
    }

    fn missing(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Result::Missing, what, text)
    }

    fn warning(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Result::Warning, what, text)
    }

    fn write(&self, to: &mut impl Write, colours: bool) -> io::Result<()> {
        let (word, colour) = match self.result {
            Result::Ok => ("ok", 32),
            Result::Missing => ("missing", 31),
            Result::Warning => ("warning", 33),
        };
        let Self { what, text, .. } = self;
        if colours {
            writeln!(to, "\x1b[{colour}m{word:<8}\x1b[0m{what:<14}{text}")
        } else {
            writeln!(to, "{word:<8}{what:<14}{text}")
        }
    }
}

/// Runs `ferrotrace check`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let lines = check(&Facts::new(&args.root), args.module.as_deref());
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colours = stdout().is_terminal() && !plain;
    let mut out = stdout().lock();
    let mut each = lines.iter();
    output::ended(each.try_for_each(|line| line.write(&mut out, colours)))?;
    let missing = lines.iter().any(|line| line.result == Result::Missing);
    Ok(ExitCode::from(u8::from(missing)))
}

fn check(facts: &Facts, file: Option<&Path>) -> Vec<Line> {
    let mut lines = vec![kernel::options(facts), kernel::rights(facts)];
    lines.push(kernel::lockdown(facts));
    lines.push(kernel::tracefs(facts));
    lines.push(module::loaded(facts));
    lines.extend(file.map(|file| module::file(facts, file)));
    lines.extend(kernel::tracer(facts));
    lines.extend(kernel::compact(facts));
    lines.push(programs::trace_cmd(facts));
    lines.push(programs::plugin(facts));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Makes a directory with these files.
    fn tree(files: &[(&str, &str)]) -> anyhow::Result<tempfile::TempDir> {
        let root = tempfile::tempdir()?;
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(root.path()))?;
            fs::write(path, text)?;
        }
        Ok(root)
    }

    const GOOD: &[(&str, &str)] = &[
        ("proc/sys/kernel/osrelease", "7.2.12+deb13-amd64\n"),
        (
            "proc/self/status",
            "Name:\tferrotrace\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
        ),
        (
            "proc/self/mounts",
            "none /sys/kernel/tracing tracefs rw 0 0\n",
        ),
        (
            "sys/kernel/security/lockdown",
            "[none] integrity confidentiality\n",
        ),
        (
            "sys/kernel/tracing/available_tracers",
            "ferrotrace function nop\n",
        ),
        ("sys/module/ferrotrace/version", "0.2.0\n"),
    ];

    fn config() -> String {
        let options = kernel::OPTIONS.join("=y\nCONFIG_");
        format!("CONFIG_{options}=y\n")
    }

    fn results(files: &[(&str, &str)], boot: &str) -> anyhow::Result<Vec<(&'static str, Result)>> {
        let root = tree(files)?;
        fs::create_dir_all(root.path().join("boot"))?;
        fs::write(root.path().join("boot/config-7.2.12+deb13-amd64"), boot)?;
        let lines = check(&Facts::new(root.path()), None);
        Ok(lines
            .iter()
            .filter(|line| line.result != Result::Ok)
            .map(|line| (line.what, line.result))
            .collect())
    }

    #[test]
    fn good_machine() -> anyhow::Result<()> {
        // The programs are those of the made-up tree, which has none.
        let programs = [("trace-cmd", Result::Missing), ("plugin", Result::Warning)];
        assert_eq!(results(GOOD, &config())?, programs);
        Ok(())
    }

    #[test]
    fn bad_machines() -> anyhow::Result<()> {
        let changed = |name: &str, text: &'static str| {
            let mut files = GOOD.to_vec();
            for file in &mut files {
                if file.0.ends_with(name) {
                    file.1 = text;
                }
            }
            results(&files, &config()).map(|results| results[0])
        };
        assert_eq!(
            changed("lockdown", "none [confidentiality]")?,
            ("lockdown", Result::Missing)
        );
        assert_eq!(
            changed("lockdown", "none [integrity]")?,
            ("lockdown", Result::Warning)
        );
        assert_eq!(
            changed("status", "Uid:\t1000\t1000\nCapEff:\t0\n")?,
            ("rights", Result::Missing)
        );
        assert_eq!(
            changed("tracers", "function nop")?,
            ("tracer", Result::Missing)
        );
        assert_eq!(changed("mounts", "")?, ("tracefs", Result::Missing));
        let without = config().replace("CONFIG_KPROBES=y\n", "# CONFIG_KPROBES is not set\n");
        assert_eq!(results(GOOD, &without)?[0], ("kernel", Result::Missing));
        let without = config().replace("CONFIG_RUST=y\n", "");
        assert_eq!(results(GOOD, &without)?[0], ("kernel", Result::Missing));
        assert_eq!(
            results(&GOOD[..5], &config())?[0],
            ("module", Result::Missing)
        );
        Ok(())
    }
}
