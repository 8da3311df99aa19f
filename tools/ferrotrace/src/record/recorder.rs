// SPDX-License-Identifier: MIT OR Apache-2.0

//! `trace-cmd record`, which copies the ring buffer of an instance to the file.
//!
//! trace-cmd records while a command runs. Here, the command is this program, which does nothing
//! but report that the recording has begun, and wait until its standard input ends. That input is a
//! pipe of this process: if this process dies, the recording ends, too.

use std::{
    env, fs,
    io::{
        self,
        Read,
        Write, //
    },
    os::unix::process::CommandExt,
    path::{
        Path,
        PathBuf, //
    },
    process::{
        Child,
        ChildStdin,
        Command,
        ExitStatus,
        Stdio, //
    },
    thread::{
        self,
        JoinHandle, //
    },
};

use anyhow::{
    bail,
    Context, //
};
use rustix::process::{
    kill_process_group,
    Pid,
    Signal, //
};

/// The first argument that makes this program wait as trace-cmd's command; see [`hold`].
pub const HOLD: &str = "__hold";

/// A change of the state of the recorder.
pub enum Change {
    /// The recording has begun.
    Started,
    /// trace-cmd has exited.
    Ended(io::Result<ExitStatus>),
}

/// A running trace-cmd. It writes to a temporary file, which gets its name when it is complete. If
/// this is dropped before that, trace-cmd is killed, and its files are removed.
pub struct Recorder {
    group: Pid,
    hold: Option<ChildStdin>,
    errors: Option<JoinHandle<String>>,
    finished: bool,
    output: PathBuf,
    temporary: PathBuf,
    parts: [String; 2],
}

impl Recorder {
    /// Starts to record an instance. Calls a function, in other threads, when something happens.
    pub fn start(
        instance: &str,
        options: &[&str],
        output: &Path,
        report: impl Fn(Change) + Clone + Send + 'static,
    ) -> anyhow::Result<Self> {
        let temporary = create_temporary(output, instance)?;
        let mut child = Command::new("trace-cmd")
            .args(["record", "-q", "-B", instance])
            .args(options)
            .arg("-o")
            .arg(&temporary)
            .arg(env::current_exe()?)
            .arg(HOLD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C must not reach trace-cmd.
            .process_group(0)
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    anyhow::anyhow!("trace-cmd is not installed: apt install trace-cmd")
                }
                _ => error.into(),
            })?;
        let hold = child.stdin.take();
        let errors = child.stderr.take().map(|stderr| {
            thread::spawn(move || {
                let mut text = Vec::new();
                // An error ends the text early.
                let _ = stderr.take(1 << 16).read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let group = Pid::from_child(&child);
        thread::spawn(move || watch(child, &report));
        Ok(Self {
            group,
            hold,
            errors,
            finished: false,
            output: output.into(),
            parts: [instance, ""].map(|buffer| part_prefix(&temporary, buffer)),
            temporary,
        })
    }

    /// Returns the number of bytes that are recorded until now.
    pub fn bytes(&self) -> u64 {
        let sizes = self.part_files().into_iter().filter_map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some(metadata.len())
        });
        sizes.sum()
    }

    /// Ends the recording. [`Change::Ended`] follows.
    pub fn stop(&mut self) {
        self.hold = None;
    }

    /// Evaluates how trace-cmd has exited, and gives the file its name. If trace-cmd failed, the
    /// error contains what it printed.
    pub fn finish(mut self, status: io::Result<ExitStatus>) -> anyhow::Result<()> {
        let errors = self.errors.take().and_then(|thread| thread.join().ok());
        let errors = errors.unwrap_or_default();
        if errors.contains("No space left on device") {
            bail!(
                "{}: no space left on the disk; nothing is kept. Record less (-l, --over, \
                 --compact), or to another disk (-o)",
                self.output.display()
            );
        }
        if !status?.success() {
            bail!("trace-cmd failed: {}", errors.trim());
        }
        fs::rename(&self.temporary, &self.output)
            .with_context(|| format!("cannot write {}", self.output.display()))?;
        self.finished = true;
        Ok(())
    }

    /// Returns the files in which trace-cmd collects the data of each CPU. There are some for the
    /// top trace array, too, which are empty.
    fn part_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(directory(&self.temporary)) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = file_name(path);
                self.parts.iter().any(|prefix| is_part(&name, prefix))
            })
            .collect()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        // It may have exited already.
        let _ = kill_process_group(self.group, Signal::KILL);
        let mut files = self.part_files();
        files.push(self.temporary.clone());
        for file in files {
            // An error message would hide the reason of the failure.
            let _ = fs::remove_file(file);
        }
    }
}

/// Returns the directory of a file.
pub fn directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Runs as trace-cmd's command.
pub fn hold() -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(b"started\n")?;
    stdout.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn watch(mut child: Child, report: &impl Fn(Change)) {
    if let Some(mut stdout) = child.stdout.take() {
        // With -q, trace-cmd prints nothing before its command runs.
        if stdout.read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            report(Change::Started);
        }
        let _ = io::copy(&mut stdout, &mut io::sink());
    }
    report(Change::Ended(child.wait()));
}

/// Creates the file to which trace-cmd writes, next to the file that it will replace.
fn create_temporary(output: &Path, instance: &str) -> anyhow::Result<PathBuf> {
    let context = || format!("cannot write {}", output.display());
    match fs::metadata(output) {
        Ok(metadata) if !metadata.is_file() => bail!("{}: it is not a regular file", context()),
        _ => {}
    }
    let name = format!("{}.{instance}", file_name(output));
    let temporary = directory(output).join(name);
    fs::File::create(&temporary).with_context(context)?;
    Ok(temporary)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Returns how the names of the files with the data of CPUs begin.
fn part_prefix(file: &Path, buffer: &str) -> String {
    let dot = if buffer.is_empty() { "" } else { "." };
    format!("{}{dot}{buffer}.cpu", file_name(file))
}

fn is_part(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|cpu| !cpu.is_empty() && cpu.bytes().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    /// A panic ends trace-cmd and removes its files, as long as it unwinds the stack.
    #[test]
    fn a_panic_ends_the_recorder() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let temporary = directory.path().join("t.dat.x");
        for name in ["t.dat.x", "t.dat.x.x.cpu0", "t.dat.x.cpu1", "other"] {
            fs::write(directory.path().join(name), "")?;
        }
        let mut child = Command::new("sleep").arg("100").process_group(0).spawn()?;
        let recorder = Recorder {
            group: Pid::from_child(&child),
            hold: None,
            errors: None,
            finished: false,
            output: directory.path().join("t.dat"),
            parts: ["x", ""].map(|buffer| part_prefix(&temporary, buffer)),
            temporary,
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _recorder = recorder;
            panic!("intended");
        }));
        assert!(result.is_err());
        assert_eq!(child.wait()?.signal(), Some(9));
        let left: Vec<_> = fs::read_dir(directory.path())?
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect();
        assert_eq!(left, ["other"]);
        Ok(())
    }

    #[test]
    fn parts() {
        assert_eq!(part_prefix(Path::new("/tmp/t.dat"), ""), "t.dat.cpu");
        assert_eq!(part_prefix(Path::new("t.dat"), "x"), "t.dat.x.cpu");
        assert!(is_part("t.dat.x.cpu12", "t.dat.x.cpu"));
        for name in ["t.dat", "t.dat.x.cpu", "t.dat.x.cpu1x", "t.dat.cpu1"] {
            assert!(!is_part(name, "t.dat.x.cpu"), "{name}");
        }
        assert_eq!(directory(Path::new("x")), Path::new("."));
        assert_eq!(directory(Path::new("/tmp/x")), Path::new("/tmp"));
    }
}
