// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of `ferrotrace record`.

use std::{
    ffi::OsString,
    path::PathBuf,
    time::Duration, //
};

use crate::{
    control::Tasks,
    units, //
};

const EXAMPLES: &str = "\
Examples:
  ferrotrace record -- make -j4               a command, without its children
  ferrotrace record -f -- make -j4            with all its children
  ferrotrace record -p 1234 --time 10s        a process with all its threads, for 10 seconds
  ferrotrace record -n 'nginx*' -l 'vfs_*'    tasks by name, some functions; Ctrl-C ends it
  ferrotrace record -p 1234 --over 'block 2ms'  only calls that were blocked for 2 ms or more
  ferrotrace record -a --no-calls --time 10s  the states of all tasks, without calls
  ferrotrace record -G /system.slice/cron.service  a service: all tasks of a cgroup
  ferrotrace record -n 'cam*' --no-calls --chains 20ms
                                              why tasks were blocked for 20 ms or more
  ferrotrace record -n 'cam*' --compact -b 64M --on 'exit vfs_read if block > 20ms' --after 2s
                                              for days, with a file each time this happens

Then: ferrotrace summary, ferrotrace timeline, ferrotrace report, trace-cmd report, KernelShark.

Ctrl-C ends a recording of -p, -t, -n, -G or -a, which is a success (exit status 0). A command
receives the signal, and the recording ends with the command; a second signal kills the command.
While the file is being written, a second signal discards it.

On a terminal, a line shows the state of the recording, unless a command can print there, too: it is
shown with a command whose output is redirected, as in ferrotrace record -- make >make.log.

Exit status: that of the command (128+N if signal N killed it); 0 without one, 1 if something
failed, 2 for wrong usage, 130, 143 or 129 if SIGINT, SIGTERM or SIGHUP interrupted the program.";

/// Records the kernel function calls and the states of tasks in a file.
///
/// trace-cmd and KernelShark can read the file, too. The recording has a trace array of its own, so
/// other users of the tracing directory are not affected.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The tasks to record.
    #[command(flatten)]
    pub tasks: Tasks,

    /// Records all tasks.
    #[arg(short, long)]
    pub all: bool,

    /// Records only calls of functions that match a pattern. Can be repeated.
    #[arg(short = 'l', long = "function", value_name = "FUNC")]
    pub functions: Vec<String>,

    /// Records only calls of functions of a kernel module.
    #[arg(short, long, value_name = "MOD")]
    pub module: Option<String>,

    /// Records only calls that take this time: '[total|run|wait|block] TIME'. Can be repeated; then
    /// one of the thresholds is enough.
    #[arg(long, value_name = "[PART ]TIME", value_parser = units::Threshold::parse)]
    pub over: Vec<units::Threshold>,

    /// Records the chain of wakeups behind each blocked interval that takes this time or more: the
    /// waker, what the waker was blocked on itself, the waker of the waker, and so on.
    #[arg(long, value_name = "TIME", value_parser = units::micros, conflicts_with = "no_events")]
    pub chains: Option<u64>,

    /// Also records the work that recorded tasks queue on workqueues, while a worker (kworker)
    /// executes it.
    #[arg(long)]
    pub follow_work: bool,

    /// Records calls only down to this depth.
    #[arg(short = 'D', long, value_name = "LEVELS", value_parser = units::count::<u32>)]
    pub max_depth: Option<u32>,

    /// Records no states of tasks (run, wait, block), which summary and timeline need.
    #[arg(long)]
    pub no_events: bool,

    /// Records no calls, only states and events.
    #[arg(long)]
    pub no_calls: bool,

    /// Also records an event of the kernel, for all tasks: SYSTEM or SYSTEM:EVENT. Can be repeated.
    #[arg(short, long = "event", value_name = "EVENT")]
    pub events: Vec<String>,

    /// Stores many calls in one record, so that the file is smaller. trace-cmd and KernelShark need
    /// a plugin to read it.
    #[arg(long)]
    pub compact: bool,

    /// Sets an option of the trace array, for example ferro-args or noferro-irqs. Can be repeated.
    #[arg(short = 'O', long = "option", value_name = "OPTION")]
    pub options: Vec<String>,

    /// Size of the ring buffer of each CPU.
    #[arg(short, long, value_name = "SIZE", default_value = "4M", value_parser = units::size)]
    pub buffer: u64,

    /// Ends the recording after this time. A command continues.
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub time: Option<Duration>,

    /// Keeps the recording in memory, and writes a file only when this happens, for example 'exit
    /// vfs_read if block > 20ms' or 'signal fatal'; docs/reference/triggers.md has all forms. Can
    /// be repeated. The files are trace.1.dat, trace.2.dat and so on.
    #[arg(long, value_name = "WHEN [if CONDITION]")]
    pub on: Vec<String>,

    /// Time from this moment until the file is written, so that it has what followed.
    #[arg(long, value_name = "TIME", value_parser = units::duration, requires = "on")]
    pub after: Option<Duration>,

    /// The number of files to keep, the newest ones.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        requires = "on",
        value_parser = units::count::<usize>
    )]
    pub keep: usize,

    /// File to write.
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat")]
    pub output: PathBuf,

    /// Runs the command as this user.
    #[arg(long, requires = "command")]
    pub user: Option<String>,

    /// Shows neither the state of the recording nor the result.
    #[arg(short, long)]
    pub quiet: bool,

    /// Command to run and to record, with its arguments. A name that begins with - is after --.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

impl Args {
    /// Checks what the definition of the options cannot express. An error is one of usage.
    pub fn check(&self) -> Result<(), &'static str> {
        let selects = !self.tasks.is_all();
        if self.all && selects {
            Err("-a records all tasks: it cannot be combined with -p, -t, -n or -G")
        } else if self.all && self.tasks.follow {
            Err("-a records all tasks: -f has no effect")
        } else if self.all && self.follow_work {
            Err("-a records all tasks: --follow-work has no effect")
        } else if !self.all && !selects && self.command.is_empty() {
            Err("which tasks? Give a command, -p PID, -t TID, -n GLOB, -G CGROUP, or -a for all")
        } else if self.no_calls && self.no_events && self.events.is_empty() {
            Err("--no-calls and --no-events leave nothing to record")
        } else if self.keep == 0 {
            Err("--keep 0 keeps no file")
        } else if self.no_calls && self.has_call_options() {
            Err("-l, -m, -D, --over and --compact select calls, which --no-calls turns off")
        } else {
            Ok(())
        }
    }

    fn has_call_options(&self) -> bool {
        !self.functions.is_empty()
            || self.module.is_some()
            || !self.over.is_empty()
            || self.max_depth.is_some()
            || self.compact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{
        error::ErrorKind,
        Parser, //
    };

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parse(line: &str) -> Args {
        let words = std::iter::once("record").chain(line.split_whitespace());
        match Cli::try_parse_from(words) {
            Ok(cli) => cli.args,
            Err(error) => panic!("{error}"),
        }
    }

    fn error(line: &str) -> Option<ErrorKind> {
        let words = std::iter::once("record").chain(line.split_whitespace());
        Cli::try_parse_from(words).err().map(|error| error.kind())
    }

    #[test]
    fn commands() {
        for line in ["-f -l vfs_* -- ls -l /", "-f -l vfs_* ls -l /"] {
            let args = parse(line);
            assert_eq!(args.command, ["ls", "-l", "/"]);
            assert!(args.tasks.follow && args.check().is_ok());
        }
    }

    #[test]
    fn unknown_options_are_no_commands() {
        for wrong in ["--events true", "-f --evnt x -- true", "-z true", "-1"] {
            assert_eq!(error(wrong), Some(ErrorKind::UnknownArgument), "{wrong}");
        }
        assert_eq!(parse("-- -odd-name -a").command, ["-odd-name", "-a"]);
        assert_eq!(parse("ls --events -l").command, ["ls", "--events", "-l"]);
        assert_eq!(parse("-f ls -- -l").command, ["ls", "--", "-l"]);
    }

    #[test]
    fn chains_need_events() {
        assert_eq!(parse("-a").chains, None);
        assert_eq!(parse("-a --no-calls --chains 20ms").chains, Some(20_000));
        let conflict = error("-a --no-events --chains 20ms");
        assert_eq!(conflict, Some(ErrorKind::ArgumentConflict));
        for wrong in ["20", "100ns", "0s", "block"] {
            let kind = error(&format!("-a --chains {wrong}"));
            assert_eq!(kind, Some(ErrorKind::ValueValidation), "{wrong}");
        }
    }

    #[test]
    fn selections() {
        let args = parse("-p 1,2 -t 3 -n a* -n b");
        assert_eq!(args.tasks.pids, [1, 2]);
        assert_eq!(args.tasks.names, ["a*", "b"]);
        for right in ["-p 1", "-t 1", "-n x", "-a", "-a sleep 1", "-p 1 sleep 1"] {
            assert_eq!(parse(right).check(), Ok(()), "{right}");
        }
        for wrong in [
            "",
            "-a -p 1",
            "-a -G /x",
            "-a -f",
            "-a --follow-work",
            "-p 1 --no-calls --no-events",
            "-a --no-calls -l x",
        ] {
            assert!(parse(wrong).check().is_err(), "{wrong}");
        }
        assert!(parse("-a -p 1")
            .check()
            .is_err_and(|error| error.contains("-G")));
    }

    #[test]
    fn errors_say_what_is_expected() {
        for (line, expected) in [
            ("-p abc", "expected the number of a process or thread"),
            ("-t 1,x", "expected the number of a process or thread"),
            ("-a -D x", "expected a whole number, such as 5"),
            (
                "-a --on fork --keep some",
                "expected a whole number, such as 5",
            ),
            (
                "-a --over foo",
                "expected [total|run|wait|block] TIME, such as 'block 2ms'",
            ),
        ] {
            let words = std::iter::once("record").chain(line.split_whitespace());
            let error = Cli::try_parse_from(words).err().expect(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
