// SPDX-License-Identifier: MIT OR Apache-2.0

//! A running recording, until its file is written. Signals, the recorder and the command report to
//! one channel.

use std::{
    fmt, fs, io,
    path::Path,
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
use rustix::fs::statvfs;
use signal_hook::consts::SIGINT;

use super::{
    args::Args,
    child,
    command::Command,
    progress::{
        self,
        Progress, //
    },
    recorder::{
        directory,
        Change,
        Recorder, //
    },
};
use crate::{
    message,
    signals,
    stats::Stats,
    tracefs::Instance, //
};

/// How often the state of a recording is checked.
pub const TICK: Duration = Duration::from_millis(100);

/// How often the statistics are read, in ticks.
const STATS_TICKS: u32 = 5;

/// The space on the disk that is kept free, in addition to what trace-cmd needs when it joins the
/// data of the CPUs.
pub const RESERVE: u64 = 8 << 20;

/// A signal has ended the program before there was anything to keep.
#[derive(Debug)]
pub struct Interrupted(pub i32);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted by signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Something to which a recording reacts.
pub enum Event {
    /// This process has received a signal.
    Signal(i32),
    /// The state of the recorder has changed.
    Recorder(Change),
    /// The command has ended.
    Command(io::Result<ExitStatus>),
}

/// Why a recording has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The command has ended.
    Command,
    /// The tasks have ended.
    Tasks,
    /// The time of `--time` has elapsed.
    Time,
    /// A signal has ended the recording.
    Signal(i32),
    /// The disk is almost full.
    Disk,
}

/// A running recording.
pub struct Session<'a> {
    args: &'a Args,
    instance: Instance,
    events: Receiver<Event>,
    progress: Progress,
    command: Option<Command>,
    stats: Stats,
    peak: Option<u64>,
}

impl<'a> Session<'a> {
    /// Makes the recording from what was prepared.
    pub fn new(
        args: &'a Args,
        instance: Instance,
        events: Receiver<Event>,
        progress: Progress,
        command: Option<Command>,
    ) -> Self {
        let mut session = Self {
            args,
            instance,
            events,
            progress,
            command,
            stats: Stats::default(),
            peak: Some(0),
        };
        session.read_stats();
        session
    }

    /// Records until the end, and writes the file.
    pub fn record(&mut self, mut recorder: Recorder) -> anyhow::Result<End> {
        let start = Instant::now();
        self.progress.reset_time();
        let end = match self.wait_for_end(&recorder, start)? {
            Ok(end) => end,
            Err(status) => {
                recorder.finish(status)?;
                bail!("trace-cmd has ended during the recording");
            }
        };
        let time = start.elapsed();
        self.instance.write("tracing_on", "0")?;
        self.read_stats();
        self.progress.say("writing");
        recorder.stop();
        let status = self.wait_for_recorder()?;
        recorder.finish(status)?;
        self.progress.end();
        if !self.args.quiet {
            self.stats.tasks = self.peak;
            let bytes = fs::metadata(&self.args.output).map_or(0, |metadata| metadata.len());
            let line = progress::result(&self.args.output, &self.stats, bytes, time);
            message::print(line);
        }
        Ok(end)
    }

    /// Waits for a reason to end the recording, or for the exit of trace-cmd, which is an error.
    fn wait_for_end(
        &mut self,
        recorder: &Recorder,
        start: Instant,
    ) -> anyhow::Result<Result<End, io::Result<ExitStatus>>> {
        let mut ticks = 0;
        loop {
            match self.events.recv_timeout(TICK) {
                Ok(Event::Signal(signal)) => match &mut self.command {
                    Some(command) => command.signal(signal),
                    None => return Ok(Ok(End::Signal(signal))),
                },
                Ok(Event::Command(status)) => {
                    self.end_command(status)?;
                    return Ok(Ok(End::Command));
                }
                Ok(Event::Recorder(Change::Ended(status))) => return Ok(Err(status)),
                Ok(Event::Recorder(Change::Started)) => {}
                Err(RecvTimeoutError::Timeout) => ticks += 1,
                Err(RecvTimeoutError::Disconnected) => bail!("a thread has failed"),
            }
            if let Some(command) = &mut self.command {
                command.tick();
            }
            let bytes = recorder.bytes();
            if self.args.time.is_some_and(|time| start.elapsed() >= time) {
                return Ok(Ok(End::Time));
            }
            if free_space(directory(&self.args.output))? < bytes + RESERVE {
                return Ok(Ok(End::Disk));
            }
            if ticks % STATS_TICKS == 1 {
                self.read_stats();
                if self.progress.is_shown() {
                    self.progress.show(&self.stats, bytes);
                }
                if self.have_tasks_ended() {
                    return Ok(Ok(End::Tasks));
                }
            }
        }
    }

    /// Waits for the exit of trace-cmd, which joins the data of the CPUs. The second signal during
    /// this time discards the recording.
    fn wait_for_recorder(&mut self) -> anyhow::Result<io::Result<ExitStatus>> {
        let mut signalled = false;
        loop {
            match self.events.recv()? {
                Event::Recorder(Change::Ended(status)) => return Ok(status),
                Event::Recorder(Change::Started) => {}
                Event::Command(status) => self.end_command(status)?,
                Event::Signal(signal) if signalled => return Err(Interrupted(signal).into()),
                Event::Signal(_) => {
                    signalled = true;
                    message::print("ferrotrace: writing the file; a second signal discards it");
                }
            }
        }
    }

    /// Removes the instance, waits for the command if it still runs, and returns the exit status of
    /// the program.
    pub fn finish(self, result: anyhow::Result<End>) -> anyhow::Result<u8> {
        let (args, events) = (self.args, &self.events);
        finish(
            args,
            self.instance,
            events,
            &self.progress,
            self.command,
            result,
        )
    }

    fn end_command(&mut self, status: io::Result<ExitStatus>) -> anyhow::Result<()> {
        let status = status.context("the command")?;
        if let Some(command) = &mut self.command {
            command.end(status);
        }
        Ok(())
    }

    fn read_stats(&mut self) {
        // The file cannot be read while the module is being unloaded.
        if let Ok(text) = self.instance.read("ferrotrace/stats") {
            self.stats = Stats::parse(&text);
            self.peak = self.peak.max(self.stats.tasks);
            if self.stats.tasks.is_none() {
                self.peak = None;
            }
        }
    }

    /// Returns whether the tasks of -p and -t have exited, and no other tasks can follow.
    fn have_tasks_ended(&self) -> bool {
        let args = self.args;
        let ids = || args.tasks.pids.iter().chain(&args.tasks.tids);
        args.command.is_empty()
            && args.tasks.names.is_empty()
            && args.tasks.cgroups.is_empty()
            && !args.all
            && (!args.tasks.follow || self.stats.tasks == Some(0))
            && ids().all(|id| !Path::new(&format!("/proc/{id}")).exists())
    }
}

/// Removes the instance, waits for the command if it still runs, and returns the exit status of the
/// program.
pub fn finish(
    args: &Args,
    instance: Instance,
    events: &Receiver<Event>,
    progress: &Progress,
    mut command: Option<Command>,
    result: anyhow::Result<End>,
) -> anyhow::Result<u8> {
    progress.end();
    let removed = instance.remove();
    match result {
        Ok(End::Disk) => message::print(format_args!(
            "ferrotrace: the recording has ended early, because the disk of {} is almost full; \
             the file is complete until then",
            args.output.display()
        )),
        Err(error) if command.as_ref().is_none_or(|it| it.status().is_some()) => {
            return Err(error);
        }
        // The command still uses the terminal.
        Err(ref error) => message::print(format_args!("ferrotrace: {error:#}")),
        Ok(_) => {}
    }
    let status = command.as_mut().map(|command| wait_for(command, events));
    removed?;
    Ok(match (result, status.transpose()?) {
        (Err(_) | Ok(End::Disk), _) => 1,
        (Ok(_), Some(status)) => child::code(status),
        (Ok(End::Signal(signal)), None) if signal != SIGINT => signals::exit_code(signal),
        (Ok(_), None) => 0,
    })
}

/// Waits for the end of the command, after the recording.
fn wait_for(command: &mut Command, events: &Receiver<Event>) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = command.status() {
            return Ok(status);
        }
        match events.recv_timeout(TICK) {
            Ok(Event::Signal(signal)) => command.signal(signal),
            Ok(Event::Command(status)) => command.end(status?),
            Ok(Event::Recorder(_)) | Err(RecvTimeoutError::Timeout) => command.tick(),
            Err(RecvTimeoutError::Disconnected) => bail!("a thread has failed"),
        }
    }
}

/// Returns the free space of a disk in bytes, as for users other than root.
pub fn free_space(path: &Path) -> anyhow::Result<u64> {
    let disk = statvfs(path).with_context(|| path.display().to_string())?;
    Ok(disk.f_bavail * disk.f_frsize)
}
