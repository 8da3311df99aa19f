// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of `ferrotrace top`.

use std::time::Duration;

use crate::{
    control::Tasks,
    units, //
};

/// The limits of an interval.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3600);

const EXAMPLES: &str = "\
Examples:
  ferrotrace top                       all tasks
  ferrotrace top -p 1234               a process with all its threads
  ferrotrace top -f -p 1234 -d 500ms   also its children, twice a second
  ferrotrace top -n 'nginx*' -l 'vfs_*'  threads by name, and the times of some functions
  ferrotrace top --once -p 1234        prints one screen after one interval

Keys: q quits, space holds the screen, t sets a trigger such as 'block 2ms', ? shows the others.
NO_COLOR=1 turns colours off. The same numbers of a recording: ferrotrace summary.
Exit status: 0, also after Ctrl-C; 1 if something failed, 2 for wrong usage, 143 or 129 if SIGTERM
or SIGHUP ended the program, 130 if SIGINT interrupted --once.";

/// Shows live where the time goes: run, wait and block of each thread, and why it is blocked.
///
/// The view has a trace array of its own, so other users of the tracing directory are not affected.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The tasks to show; all of them if none are selected.
    #[command(flatten)]
    pub tasks: Tasks,

    /// Shows the times of functions that match a pattern; system calls by default. Can be repeated.
    #[arg(short = 'l', long = "function", value_name = "FUNC")]
    pub functions: Vec<String>,

    /// Shows no functions.
    #[arg(long, conflicts_with = "functions")]
    pub no_calls: bool,

    /// Length of an interval, such as 500ms or 2s. A number without a unit is in seconds.
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub delay: Duration,

    /// Prints one screen after one interval. It needs no terminal: the width is that of COLUMNS, or
    /// 80.
    #[arg(long)]
    pub once: bool,
}

impl Args {
    /// Checks what the definition of the options cannot express. An error is one of usage.
    pub fn check(&self) -> Result<(), &'static str> {
        match self.tasks.follow && self.tasks.is_all() {
            true => Err("all tasks are shown: -f has no effect without -p, -t, -n or -G"),
            false => Ok(()),
        }
    }

    /// Returns a text for the selection of tasks.
    pub fn selection(&self) -> String {
        let list = |ids: &[u32]| {
            let ids: Vec<_> = ids.iter().map(u32::to_string).collect();
            ids.join(",")
        };
        let mut parts = Vec::new();
        if !self.tasks.pids.is_empty() {
            parts.push(format!("pid {}", list(&self.tasks.pids)));
        }
        if !self.tasks.tids.is_empty() {
            parts.push(format!("tid {}", list(&self.tasks.tids)));
        }
        parts.extend(self.tasks.names.iter().map(|name| format!("'{name}'")));
        let cgroups = &self.tasks.cgroups;
        parts.extend(cgroups.iter().map(|path| format!("cgroup {path}")));
        match parts.is_empty() {
            true => "all tasks".into(),
            false => parts.join(", "),
        }
    }
}

/// Parses the length of an interval: a time with a unit, or a number of seconds as with `top`.
fn interval(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => units::duration(text).ok(),
    };
    time.filter(|time| (SHORTEST..=LONGEST).contains(time))
        .ok_or_else(|| "expected a time from 100ms to 1h, such as 500ms, 2s or 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parse(line: &str) -> Args {
        let words = std::iter::once("top").chain(line.split_whitespace());
        match Cli::try_parse_from(words) {
            Ok(cli) => cli.args,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn selections() {
        let args = parse("-p 1,2 -t 3 -n a* -d 0.5");
        assert_eq!(args.selection(), "pid 1,2, tid 3, 'a*'");
        assert_eq!(args.delay, Duration::from_millis(500));
        assert_eq!(args.check(), Ok(()));
        assert_eq!(parse("").selection(), "all tasks");
        assert_eq!(parse("").check(), Ok(()));
        assert!(parse("-f").check().is_err());
        assert_eq!(parse("-f -n x").check(), Ok(()));
    }

    #[test]
    fn intervals() {
        for (text, ms) in [
            ("1", 1000),
            ("0.5", 500),
            ("1s", 1000),
            ("500ms", 500),
            ("0.1", 100),
            ("1h", 3_600_000),
            ("3600", 3_600_000),
        ] {
            assert_eq!(interval(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for wrong in [
            "", "0", "0.05", "50ms", "-1", "4000", "2h", "1 week", "nan", "inf",
        ] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
