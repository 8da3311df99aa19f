// SPDX-License-Identifier: MIT OR Apache-2.0

//! How far a recording is: a line on the terminal while it runs, and one at its end.

use std::{
    io::{
        stderr,
        stdout,
        IsTerminal, //
    },
    path::Path,
    time::Duration, //
};

use indicatif::{
    ProgressBar,
    ProgressStyle, //
};

use super::args::Args;
use crate::{
    message,
    stats::Stats,
    units::Size, //
};

/// The line on the terminal. It is not shown if the output of a command goes to the terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// Begins the line.
    pub fn start(args: &Args) -> Self {
        let used = !args.command.is_empty() && stdout().is_terminal();
        if args.quiet || used || !stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Returns whether a line is shown.
    pub fn is_shown(&self) -> bool {
        !self.0.is_hidden()
    }

    /// Resets the time that is shown.
    pub fn reset_time(&self) {
        self.0.reset_elapsed();
    }

    /// Shows the state of the recording.
    pub fn show(&self, stats: &Stats, bytes: u64) {
        let tasks = tasks(stats);
        self.0.set_message(format!(
            "{} calls, {}, {tasks}, lost {}",
            stats.calls,
            Size(bytes),
            stats.lost
        ));
        self.0.tick();
    }

    /// Shows the state of a flight recorder.
    pub fn show_files(&self, files: u32, pending: bool) {
        let state = if pending {
            "a rule has fired"
        } else {
            "waiting"
        };
        self.0.set_message(format!("{state}, {files} files"));
        self.0.tick();
    }

    /// Prints a line above the progress line.
    pub fn print(&self, line: &str) {
        self.0.suspend(|| message::print(line));
    }

    /// Shows another text.
    pub fn say(&self, text: &'static str) {
        self.0.set_message(text);
        self.0.tick();
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Returns the line at the end of a recording.
pub fn result(file: &Path, stats: &Stats, bytes: u64, time: Duration) -> String {
    let tasks = tasks(stats);
    let deep = match stats.too_deep {
        0 => String::new(),
        calls => format!(", {calls} calls nested too deeply (-D)"),
    };
    let hint = match stats.lost {
        0 => "",
        _ => " (larger --buffer, --compact, -l or --over)",
    };
    let file = file.display();
    format!(
        "{file}: {} calls of {tasks} in {:.2} s, {}; lost {}{hint}{deep}\n\
         next: ferrotrace summary {file}",
        stats.calls,
        time.as_secs_f64(),
        Size(bytes),
        stats.lost,
    )
}

/// Returns the number of tasks as a text.
fn tasks(stats: &Stats) -> String {
    match stats.tasks {
        Some(1) => "1 task".into(),
        Some(tasks) => format!("{tasks} tasks"),
        None => "all tasks".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results() {
        let stats = Stats {
            calls: 20,
            tasks: Some(1),
            ..Stats::default()
        };
        let text = result(
            Path::new("t.dat"),
            &stats,
            1_234_567,
            Duration::from_millis(1500),
        );
        assert_eq!(
            text,
            "t.dat: 20 calls of 1 task in 1.50 s, 1.3 MB; lost 0\nnext: ferrotrace summary t.dat"
        );
        let lossy = Stats {
            lost: 7,
            too_deep: 5,
            ..stats
        };
        let text = result(Path::new("x"), &lossy, 0, Duration::ZERO);
        assert!(text.contains("lost 7 (larger --buffer") && text.contains("5 calls nested"));
    }
}
