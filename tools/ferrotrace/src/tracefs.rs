// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tracing directory of the kernel, and instances in it.

use std::{
    fs::{
        self,
        File,
        OpenOptions, //
    },
    io::{
        self,
        ErrorKind,
        Write, //
    },
    os::unix::fs::FileExt,
    path::{
        Path,
        PathBuf, //
    },
    thread,
    time::{
        Duration,
        Instant, //
    },
};

use anyhow::{
    anyhow,
    bail,
    Context, //
};
use rustix::fs::{
    flock,
    FlockOperation, //
};

use crate::message;

/// How long a file of a trace array may stay busy before the program gives up.
const PATIENCE: Duration = Duration::from_secs(5);

/// The tracing directory.
pub struct Tracefs {
    root: PathBuf,
}

impl Tracefs {
    /// Finds the tracing directory, and checks that this process can use it.
    pub fn find() -> anyhow::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").context("/proc/self/mounts")?;
        let root = mount_point(&mounts)
            .context("tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing")?;
        if let Err(error) = fs::read_dir(root.join("instances")) {
            return Err(explain(error)).with_context(|| root.display().to_string());
        }
        Ok(Self { root })
    }

    /// Returns the path of a file.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// Returns whether the kernel has this tracer.
    pub fn has_tracer(&self, name: &str) -> anyhow::Result<bool> {
        let path = self.path("available_tracers");
        let tracers = fs::read_to_string(&path)
            .map_err(explain)
            .with_context(|| path.display().to_string())?;
        Ok(tracers.split_whitespace().any(|tracer| tracer == name))
    }

    /// Returns the names of all instances.
    pub fn instances(&self) -> anyhow::Result<Vec<String>> {
        let path = self.path("instances");
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).with_context(|| path.display().to_string())? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    /// Creates an instance that does not record, and locks it. The lock says that the program to
    /// which the instance belongs is alive.
    pub fn create(&self, name: &str) -> anyhow::Result<Instance> {
        let path = self.path("instances").join(name);
        fs::create_dir(&path)
            .map_err(explain)
            .with_context(|| path.display().to_string())?;
        let instance = Instance {
            lock: Some(lock(&path)?.context("the new instance is locked")?),
            name: name.into(),
            path,
        };
        instance.write("tracing_on", "0")?;
        Ok(instance)
    }

    /// Takes over an instance whose owner has died: one that no process has locked.
    pub fn adopt(&self, name: &str) -> anyhow::Result<Option<Instance>> {
        let path = self.path("instances").join(name);
        Ok(lock(&path)?.map(|file| Instance {
            lock: Some(file),
            name: name.into(),
            path,
        }))
    }
}

/// A trace array that belongs to this program. It is removed when it is dropped.
pub struct Instance {
    name: String,
    path: PathBuf,
    lock: Option<File>,
}

impl Instance {
    /// Returns the name of the instance.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of a file of the instance.
    pub fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Reads a file of the instance.
    pub fn read(&self, file: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.path(file)).with_context(|| file.to_string())
    }

    /// Opens a file of the instance that is read repeatedly. It holds the instance.
    pub fn open(&self, name: &'static str) -> anyhow::Result<OpenFile> {
        let file = File::open(self.path(name)).context(name)?;
        Ok(OpenFile { file, name })
    }

    /// Writes a value to a file, and thereby replaces the old value. The error contains the message
    /// that the kernel has put into `error_log`.
    pub fn write(&self, file: &str, value: &str) -> anyhow::Result<()> {
        self.put(file, value, OpenOptions::new().write(true).truncate(true))
    }

    /// Adds a value to a list in a file.
    pub fn append(&self, file: &str, value: &str) -> anyhow::Result<()> {
        self.put(file, value, OpenOptions::new().append(true))
    }

    fn put(&self, file: &str, value: &str, options: &OpenOptions) -> anyhow::Result<()> {
        // The line feed makes the kernel apply the value in `write`, not in `close`, whose error
        // would be lost.
        let result = options
            .open(self.path(file))
            .and_then(|mut target| target.write_all(format!("{value}\n").as_bytes()));
        result.map_err(|error| {
            let logged = self.read("error_log").unwrap_or_default();
            match last_message(&logged) {
                Some(message) => anyhow!("{file}: '{value}': {message}"),
                None => anyhow!("{file}: '{value}': {error}"),
            }
        })
    }

    /// Waits until a file of the instance exists.
    pub fn wait_for(&self, file: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        while !self.path(file).exists() {
            if start.elapsed() > PATIENCE {
                bail!("the instance has no file {file}; see the kernel log");
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Removes the instance. Fails if another process still uses it after some seconds.
    pub fn remove(mut self) -> anyhow::Result<()> {
        self.remove_now()
    }

    fn remove_now(&mut self) -> anyhow::Result<()> {
        let Some(_lock) = self.lock.take() else {
            return Ok(());
        };
        let start = Instant::now();
        loop {
            // Errors of the writes are visible in the result of `remove_dir`.
            let _ = self.write("tracing_on", "0");
            let _ = self.write("events/enable", "0");
            let _ = self.write("current_tracer", "nop");
            if self.path("ferrotrace/triggers").exists() {
                let _ = self.write("ferrotrace/triggers", "");
            }
            match fs::remove_dir(&self.path) {
                Err(error)
                    if error.kind() == ErrorKind::ResourceBusy && start.elapsed() < PATIENCE =>
                {
                    thread::sleep(Duration::from_millis(50));
                }
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(|| self.path.display().to_string());
                }
                _ => return Ok(()),
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Err(error) = self.remove_now() {
            message::print(format_args!("ferrotrace: an instance is left: {error:#}"));
        }
    }
}

/// Locks a directory, unless another process has done so.
fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let directory = File::open(path).with_context(|| path.display().to_string())?;
    match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(directory)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// Says what to do about an error of the tracing directory.
fn explain(error: io::Error) -> anyhow::Error {
    if error.kind() != ErrorKind::PermissionDenied {
        return error.into();
    }
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        anyhow!("the kernel is locked down (confidentiality): no process may trace")
    } else if rustix::process::geteuid().is_root() {
        anyhow!("{error}, although this is root: a container, or a security module, forbids it")
    } else {
        anyhow!("only root may trace: sudo ferrotrace ...")
    }
}

/// Returns where tracefs is mounted, from the text of `/proc/mounts`. If it is mounted at several
/// places, `/sys/kernel/tracing` is preferred.
pub fn mount_point(mounts: &str) -> Option<PathBuf> {
    let points: Vec<&str> = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let point = words.next()?;
            (words.next() == Some("tracefs")).then_some(point)
        })
        .collect();
    let preferred = "/sys/kernel/tracing";
    let found = points.iter().find(|&&point| point == preferred);
    found.or_else(|| points.first()).map(PathBuf::from)
}

/// Returns the newest message in the text of `error_log`.
fn last_message(log: &str) -> Option<&str> {
    log.lines()
        .rev()
        .find_map(|line| line.split_once(": error: "))
        .map(|(_, message)| message.trim())
}

/// A file of an instance that stays open. The kernel writes the text again each time.
pub struct OpenFile {
    file: File,
    name: &'static str,
}

impl OpenFile {
    /// Returns the text.
    pub fn read(&self) -> anyhow::Result<String> {
        let mut text = vec![0; 4096];
        let mut len = 0;
        loop {
            match self.file.read_at(&mut text[len..], len as u64) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context(self.name),
            }
            if len == text.len() {
                text.resize(2 * len, 0);
            }
        }
        text.truncate(len);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the beginning of a short text, which is read at once.
    pub fn read_start(&self) -> anyhow::Result<String> {
        let mut text = [0; 512];
        let len = self.file.read_at(&mut text, 0).context(self.name)?;
        Ok(String::from_utf8_lossy(&text[..len]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points() {
        let debugfs = "none /sys/kernel/debug/tracing tracefs rw,relatime 0 0\n";
        let usual = "tracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n";
        let point = |mounts: &str| mount_point(mounts).map(|path| path.display().to_string());
        assert_eq!(point(usual).as_deref(), Some("/sys/kernel/tracing"));
        assert_eq!(
            point(&format!("{debugfs}{usual}")).as_deref(),
            Some("/sys/kernel/tracing")
        );
        assert_eq!(point(debugfs).as_deref(), Some("/sys/kernel/debug/tracing"));
        assert_eq!(point("proc /proc proc rw 0 0\n\n"), None);
    }

    /// A panic removes the instance, as long as it unwinds the stack.
    #[test]
    fn a_panic_removes_the_instance() -> anyhow::Result<()> {
        let root = tempfile::tempdir()?;
        let path = root.path().join("instances/ferrotrace-1");
        fs::create_dir_all(&path)?;
        let tracefs = Tracefs {
            root: root.path().into(),
        };
        let instance = tracefs.adopt("ferrotrace-1")?.context("it is locked")?;
        assert!(tracefs.adopt("ferrotrace-1")?.is_none());
        let result = std::panic::catch_unwind(move || {
            let _instance = instance;
            panic!("intended");
        });
        assert!(result.is_err() && !path.exists());
        Ok(())
    }

    #[test]
    fn messages() {
        let log = "[    1.0] set_pid: error: Invalid number\n  Command: abc\n           ^\n\
            [    2.0] set_pid: error: PID out of range\n  Command: 9999999\n           ^\n";
        assert_eq!(last_message(log), Some("PID out of range"));
        assert_eq!(last_message(""), None);
    }
}
