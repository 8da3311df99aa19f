// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flight recorder (`--on`): records into the ring buffer of the instance, and writes a file
//! only when a trigger rule has fired.
//!
//! The rule takes a snapshot of the buffer, from which trace-cmd makes the file, while recording
//! continues. The rule is set again when the file is complete.

use std::{
    collections::VecDeque,
    fs,
    io::{
        self,
        ErrorKind, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process::ExitStatus,
    sync::mpsc::{
        Receiver,
        RecvTimeoutError, //
    },
    time::{
        Duration,
        Instant, //
    },
};

use anyhow::{
    bail,
    Context, //
};

use super::{
    args::Args,
    command::Command,
    progress::Progress,
    recorder::directory,
    session::{
        free_space,
        End,
        Event,
        RESERVE,
        TICK, //
    },
    snapshot,
};
use crate::{
    message,
    tracefs::Instance, //
};

/// The time after which a delayed snapshot has certainly been taken.
const MARGIN: Duration = Duration::from_millis(200);

/// The control file of the rules.
const TRIGGERS: &str = "ferrotrace/triggers";

/// Returns the text of the rules for `--on` and `--after`.
fn rules(on: &[String], after: Option<Duration>) -> String {
    let delay = after.map_or(String::new(), |after| {
        format!(" after {}ns", after.as_nanos())
    });
    let rules = on.iter().map(|on| format!("{on} do snapshot{delay}:1"));
    rules.collect::<Vec<_>>().join("\n")
}

/// Returns the first rule that has fired, according to the contents of `triggers`.
fn fired(triggers: &str) -> Option<&str> {
    triggers.lines().find_map(|line| {
        let (rule, count) = line.split_once("  # fired: ")?;
        let (when, _) = rule.rsplit_once(" do ")?;
        (!count.starts_with('0')).then_some(when)
    })
}

/// The files of a flight recorder, of which the newest are kept.
struct Files {
    base: PathBuf,
    keep: usize,
    written: VecDeque<PathBuf>,
    count: u32,
}

impl Files {
    fn new(base: &Path, keep: usize) -> Self {
        Self {
            base: base.into(),
            keep,
            written: VecDeque::new(),
            count: 0,
        }
    }

    /// Returns the name of the next file: `trace.1.dat`, `trace.2.dat` and so on for `trace.dat`.
    fn next(&mut self) -> PathBuf {
        self.count += 1;
        let count = self.count.to_string();
        match self.base.extension() {
            Some(extension) => {
                let extension = extension.to_string_lossy();
                self.base.with_extension(format!("{count}.{extension}"))
            }
            None => self.base.with_extension(count),
        }
    }

    /// Adds a file that was written, and removes the oldest ones.
    fn add(&mut self, file: PathBuf) -> anyhow::Result<()> {
        self.written.push_back(file);
        while self.written.len() > self.keep {
            if let Some(oldest) = self.written.pop_front() {
                match fs::remove_file(&oldest) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(error).with_context(|| oldest.display().to_string());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// A running flight recorder.
pub struct Flight<'a> {
    args: &'a Args,
    instance: &'a Instance,
    events: &'a Receiver<Event>,
    progress: &'a Progress,
    files: Files,
    /// When the snapshot of the rule that has fired is complete.
    due: Option<(String, Instant)>,
}

impl<'a> Flight<'a> {
    /// Sets the rules, and starts to record.
    ///
    /// # Errors
    ///
    /// If a rule is invalid; the message is that of the kernel.
    pub fn start(
        args: &'a Args,
        instance: &'a Instance,
        events: &'a Receiver<Event>,
        progress: &'a Progress,
    ) -> anyhow::Result<Self> {
        let flight = Self {
            args,
            instance,
            events,
            progress,
            files: Files::new(&args.output, args.keep),
            due: None,
        };
        if !args.no_events {
            instance.write("events/ferrotrace/enable", "1")?;
        }
        for event in &args.events {
            instance.append("set_event", event).context("-e")?;
        }
        if !args.no_calls {
            instance.write("current_tracer", "ferrotrace")?;
        }
        flight.arm()?;
        instance.write("tracing_on", "1")?;
        Ok(flight)
    }

    fn arm(&self) -> anyhow::Result<()> {
        let rules = rules(&self.args.on, self.args.after);
        self.instance.write(TRIGGERS, &rules).context("--on")
    }

    /// Records until the end.
    pub fn record(&mut self, command: &mut Option<Command>) -> anyhow::Result<End> {
        let start = Instant::now();
        self.progress.reset_time();
        let end = loop {
            match self.events.recv_timeout(TICK) {
                Ok(Event::Signal(signal)) => match command {
                    Some(command) => command.signal(signal),
                    None => break End::Signal(signal),
                },
                Ok(Event::Command(status)) => {
                    end_command(command, status)?;
                    break End::Command;
                }
                Ok(Event::Recorder(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("a thread has failed"),
            }
            if let Some(command) = command {
                command.tick();
            }
            if free_space(directory(&self.args.output))? < RESERVE {
                break End::Disk;
            }
            self.look()?;
            if self.args.time.is_some_and(|time| start.elapsed() >= time) {
                break End::Time;
            }
            self.progress
                .show_files(self.files.count, self.due.is_some());
        };
        self.finish()?;
        Ok(end)
    }

    /// Checks whether a rule has fired, and writes the file when the snapshot is complete.
    fn look(&mut self) -> anyhow::Result<()> {
        if self.due.is_none() {
            let triggers = self.instance.read(TRIGGERS)?;
            self.due = fired(&triggers).map(|rule| {
                let wait = self
                    .args
                    .after
                    .map_or(Duration::ZERO, |after| after + MARGIN);
                (rule.to_owned(), Instant::now() + wait)
            });
        }
        if self
            .due
            .as_ref()
            .is_some_and(|(_, at)| *at <= Instant::now())
        {
            if let Some((rule, _)) = self.due.take() {
                self.write(&rule)?;
                self.arm()?;
            }
        }
        Ok(())
    }

    /// Writes the file of a rule that has fired before the end. Without `--after`, that is at once.
    fn finish(&mut self) -> anyhow::Result<()> {
        self.look()?;
        if let Some((rule, at)) = self.due.take() {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            self.write(&rule)?;
        }
        if self.files.count == 0 && !self.args.quiet {
            self.progress.end();
            message::print("ferrotrace: no rule of --on has fired; no file was written");
        }
        Ok(())
    }

    /// Writes the snapshot to a file.
    fn write(&mut self, rule: &str) -> anyhow::Result<()> {
        let file = self.files.next();
        snapshot::write(self.instance, &file)?;
        if !self.args.quiet {
            self.progress.print(&format!(
                "{}: {rule}\nnext: ferrotrace summary {}",
                file.display(),
                file.display()
            ));
        }
        self.files.add(file)
    }
}

fn end_command(
    command: &mut Option<Command>,
    status: io::Result<ExitStatus>,
) -> anyhow::Result<()> {
    let status = status.context("the command")?;
    if let Some(command) = command {
        command.end(status);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_options() {
        let on = [
            "exit vfs_read if block > 20ms".into(),
            "signal fatal".into(),
        ];
        assert_eq!(
            rules(&on, None),
            "exit vfs_read if block > 20ms do snapshot:1\nsignal fatal do snapshot:1"
        );
        let after = Some(Duration::from_millis(1500));
        assert_eq!(
            rules(&on[1..], after),
            "signal fatal do snapshot after 1500000000ns:1"
        );
    }

    #[test]
    fn fired_rules() {
        let text = "# triggers: rules, 'exit f do stop'  # fired: 3\n\
            exit f if block > 1ms do snapshot:1  # fired: 0\n\
            signal fatal do snapshot after 1s:1  # fired: 1, last at 3.1\n";
        let text = text.split_once('\n').map_or("", |(_, rules)| rules);
        assert_eq!(fired(text), Some("signal fatal"));
        assert_eq!(fired("exit f do snapshot:1  # fired: 0\n"), None);
        assert_eq!(fired(""), None);
    }

    #[test]
    fn newest_files_are_kept() {
        let directory = std::env::temp_dir().join(format!("flight-{}", std::process::id()));
        fs::create_dir(&directory).expect("a new directory");
        let mut files = Files::new(&directory.join("trace.dat"), 2);
        for number in 1..=4 {
            let file = files.next();
            assert_eq!(file, directory.join(format!("trace.{number}.dat")));
            fs::write(&file, "").expect("writable");
            files.add(file).expect("removed");
        }
        let mut left: Vec<_> = fs::read_dir(&directory)
            .expect("the directory")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["trace.3.dat", "trace.4.dat"]);
        fs::remove_dir_all(&directory).expect("removed");
        assert_eq!(Files::new(Path::new("x"), 1).next(), Path::new("x.1"));
    }
}
