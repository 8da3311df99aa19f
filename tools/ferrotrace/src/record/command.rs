// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command while it runs: signals for it, and its exit status.

use std::{
    fs::File,
    io,
    process::{
        Child,
        ExitStatus, //
    },
    thread,
    time::{
        Duration,
        Instant, //
    },
};

use rustix::{
    process::{
        getpgrp,
        kill_process,
        Pid,
        Signal, //
    },
    termios::tcgetpgrp,
};

/// How long a command may continue after SIGTERM or SIGHUP, before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A command that was started, and its exit status, if it has ended.
pub struct Command {
    pid: Pid,
    status: Option<ExitStatus>,
    kill_at: Option<Instant>,
    signalled: bool,
}

impl Command {
    /// Calls a function in another thread when the command ends.
    pub fn watch(
        mut child: Child,
        ended: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> Self {
        let pid = Pid::from_child(&child);
        thread::spawn(move || ended(child.wait()));
        Self {
            pid,
            status: None,
            kill_at: None,
            signalled: false,
        }
    }

    /// Sets the exit status, with which the command has ended.
    pub fn end(&mut self, status: ExitStatus) {
        self.status = Some(status);
    }

    /// Returns the exit status, if the command has ended.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Passes a signal on to the command. The second one kills it.
    pub fn signal(&mut self, signal: i32) {
        if self.signalled {
            self.send(Signal::KILL);
            return;
        }
        self.signalled = true;
        match Signal::from_named_raw(signal) {
            // The terminal has sent it to the command, too.
            Some(Signal::INT) if in_foreground() => {}
            Some(Signal::INT) => self.send(Signal::INT),
            Some(signal) => {
                self.send(signal);
                self.kill_at = Some(Instant::now() + PATIENCE);
            }
            None => {}
        }
    }

    /// Kills the command if it has ignored a signal for some seconds.
    pub fn tick(&mut self) {
        if self.kill_at.is_some_and(|time| time <= Instant::now()) {
            self.send(Signal::KILL);
            self.kill_at = None;
        }
    }

    fn send(&self, signal: Signal) {
        if self.status.is_none() {
            // It may have ended in this moment.
            let _ = kill_process(self.pid, signal);
        }
    }
}

/// Returns whether Ctrl-C on the terminal sends SIGINT to this process and its command.
fn in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(tty) == Ok(getpgrp()))
}
