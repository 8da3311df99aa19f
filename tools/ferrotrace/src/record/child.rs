// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command that is recorded. It is started stopped: a second process of this program waits
//! until the recording has begun, and then executes the command. So the recording contains the
//! whole command, and its process id is known before.

use std::{
    env,
    ffi::{
        OsStr,
        OsString, //
    },
    fmt,
    fs::{
        self,
        File, //
    },
    io::{
        self,
        ErrorKind,
        Read,
        Write, //
    },
    os::{
        fd::{
            AsRawFd,
            OwnedFd, //
        },
        unix::{
            ffi::OsStrExt,
            fs::PermissionsExt,
            process::{
                CommandExt,
                ExitStatusExt, //
            }, //
        },
    },
    path::PathBuf,
    process::{
        self,
        Child,
        Command,
        ExitStatus, //
    },
    thread,
    time::Duration,
};

use anyhow::{
    bail,
    Context, //
};
use rustix::pipe::{
    pipe_with,
    PipeFlags, //
};

use crate::message;

/// The first argument that makes this program execute a command; see [`execute`].
pub const EXECUTE: &str = "__exec";

/// The command cannot be executed. The exit status is that of a shell.
#[derive(Debug)]
pub struct CannotExecute {
    command: OsString,
    error: io::Error,
}

impl CannotExecute {
    /// Returns the exit status: 127 if the command does not exist, 126 otherwise.
    pub fn status(&self) -> u8 {
        match self.error.kind() {
            ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

impl fmt::Display for CannotExecute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.to_string_lossy();
        match self.error.kind() {
            ErrorKind::NotFound => write!(f, "{command}: command not found"),
            _ => write!(f, "{command}: {}", self.error),
        }
    }
}

impl std::error::Error for CannotExecute {}

/// A command that waits to be executed.
pub struct Stopped {
    child: Child,
    gate: File,
    // The child opens it.
    _gate_end: OwnedFd,
}

impl Stopped {
    /// Starts the process of a command. Returns when it is ready, and waits for `execute`. If
    /// this is dropped, the process ends.
    pub fn start(command: &[OsString], user: Option<&str>) -> anyhow::Result<Self> {
        let (name, args) = command.split_first().context("no command")?;
        let path = find(name).map_err(|error| CannotExecute {
            command: name.clone(),
            error,
        })?;
        let (gate_end, gate) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ready, ready_end) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // The process opens these files itself, so the command does not inherit them.
        let link = |end: &OwnedFd| format!("/proc/{}/fd/{}", process::id(), end.as_raw_fd());
        let mut starter = Command::new(env::current_exe()?);
        starter
            .args([EXECUTE, &link(&gate_end), &link(&ready_end)])
            .arg(match user {
                Some(user) => ids(user)?,
                None => "-".into(),
            })
            .arg(path)
            .arg(name)
            .args(args);
        let mut child = starter.spawn().context("cannot start a process")?;
        let mut ready = File::from(ready);
        let mut byte = [0];
        while ready.read(&mut byte).is_err() {
            if let Some(status) = child.try_wait()? {
                bail!("the process of the command has failed ({status})");
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(Self {
            child,
            gate: gate.into(),
            _gate_end: gate_end,
        })
    }

    /// Returns the process id, before and after the command is executed.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Executes the command.
    pub fn execute(mut self) -> io::Result<Child> {
        self.gate.write_all(b"x")?;
        Ok(self.child)
    }
}

/// Runs as the process of the command: `__exec GATE READY USER:GROUP PATH NAME ARGUMENT...`.
/// Returns only if it fails.
pub fn execute(args: &[OsString]) -> u8 {
    let [gate, ready, ids, path, name, args @ ..] = args else {
        message::print(format_args!("ferrotrace: {EXECUTE} is for internal use"));
        return 2;
    };
    let waited = || {
        let mut gate = File::open(gate)?;
        File::options().write(true).open(ready)?.write_all(b"x")?;
        gate.read_exact(&mut [0])
    };
    if waited().is_err() {
        // The recording has failed, and the error is reported there.
        return 1;
    }
    let mut command = Command::new(path);
    command.arg0(name).args(args);
    if let Some((uid, gid)) = ids.to_str().and_then(parse_ids) {
        command.uid(uid).gid(gid);
    }
    let error = CannotExecute {
        command: name.clone(),
        error: command.exec(),
    };
    message::print(format_args!("ferrotrace: {error}"));
    error.status()
}

/// Returns the exit status that a shell would report.
pub fn code(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(1)
}

/// Finds a program as `execvp` does.
fn find(name: &OsStr) -> io::Result<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return executable(name.into());
    }
    let mut result = Err(ErrorKind::NotFound.into());
    for directory in env::split_paths(&env::var_os("PATH").unwrap_or("/usr/bin:/bin".into())) {
        match executable(directory.join(name)) {
            Ok(path) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => result = Err(error),
            Err(_) => {}
        }
    }
    result
}

fn executable(path: PathBuf) -> io::Result<PathBuf> {
    let metadata = fs::metadata(&path)?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(path)
    } else {
        Err(ErrorKind::PermissionDenied.into())
    }
}

/// Returns `UID:GID` of a user. The program `id` knows users of all sources.
fn ids(user: &str) -> anyhow::Result<String> {
    let id = |option| -> anyhow::Result<String> {
        let output = Command::new("id").args([option, "--", user]).output()?;
        if !output.status.success() {
            bail!("there is no user {user}");
        }
        Ok(String::from_utf8(output.stdout)?.trim().into())
    };
    Ok(format!("{}:{}", id("-u")?, id("-g")?))
}

fn parse_ids(text: &str) -> Option<(u32, u32)> {
    let (uid, gid) = text.split_once(':')?;
    Some((uid.parse().ok()?, gid.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs() {
        let status = |name: &str| {
            find(OsStr::new(name)).map_err(|error| {
                let command = name.into();
                CannotExecute { command, error }.status()
            })
        };
        assert!(status("sh").is_ok_and(|path| path.is_absolute()));
        assert_eq!(status("/bin/sh"), Ok("/bin/sh".into()));
        assert_eq!(status("no-such-command"), Err(127));
        assert_eq!(status("/no/such/command"), Err(127));
        assert_eq!(status(""), Err(126));
        assert_eq!(status("/etc/passwd"), Err(126));
        assert_eq!(status("/etc"), Err(126));
    }

    #[test]
    fn codes() {
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code(ExitStatus::from_raw(2)), 130);
        assert_eq!(code(ExitStatus::from_raw(9)), 137);
    }

    #[test]
    fn users() {
        assert_eq!(ids("root").ok().as_deref(), Some("0:0"));
        assert!(ids("no such user").is_err());
        assert_eq!(parse_ids("1:2"), Some((1, 2)));
        assert_eq!(parse_ids("-"), None);
    }
}
