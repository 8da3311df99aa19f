// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the snapshot of an instance to a file.
//!
//! `trace-cmd extract -s` cannot do this for an instance alone. So the data of each CPU is copied
//! here, and `trace-cmd restore`, which was made for data of crashed machines, adds everything
//! else.

use std::{
    fs::{
        self,
        File,
        OpenOptions, //
    },
    io::{
        self,
        ErrorKind,
        Read,
        Write, //
    },
    os::unix::{
        fs::OpenOptionsExt,
        process::CommandExt, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process::Command,
};

use anyhow::{
    bail,
    Context, //
};
use rustix::{
    fs::OFlags,
    param::page_size, //
};

use super::recorder::directory;
use crate::tracefs::Instance;

/// Files that are removed on drop.
struct Temporary(Vec<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        for file in &self.0 {
            // It may not exist, and an error would hide the reason of a failure.
            let _ = fs::remove_file(file);
        }
    }
}

/// Writes the snapshot of an instance to a file, which is complete when it has its name. Removes
/// the records from the snapshot.
///
/// # Errors
///
/// If trace-cmd is not installed or fails, or the files cannot be written.
pub fn write(instance: &Instance, file: &Path) -> anyhow::Result<()> {
    let name = |suffix: &str| directory(file).join(format!(".{}.{suffix}", instance.name()));
    let (head, whole) = (name("head"), name("dat"));
    let mut temporary = Temporary(vec![head.clone(), whole.clone()]);
    let mut data = Vec::new();
    for cpu in 0..cpus(instance)? {
        let part = name(&format!("cpu{cpu}"));
        temporary.0.push(part.clone());
        copy(
            &instance.path(&format!("per_cpu/cpu{cpu}/snapshot_raw")),
            &part,
        )
        .with_context(|| format!("cannot write {}", file.display()))?;
        data.push(part);
    }
    restore(
        Command::new("trace-cmd")
            .arg("restore")
            .arg("-c")
            .arg("-o")
            .arg(&head),
    )?;
    let mut join = Command::new("trace-cmd");
    join.arg("restore")
        .arg("-o")
        .arg(&whole)
        .arg("-i")
        .arg(&head);
    restore(join.args(&data))?;
    fs::rename(&whole, file).with_context(|| format!("cannot write {}", file.display()))
}

/// Returns the number of CPUs that the instance has buffers for. Their numbers begin at 0.
fn cpus(instance: &Instance) -> anyhow::Result<usize> {
    let path = instance.path("per_cpu");
    let entries = fs::read_dir(&path).with_context(|| path.display().to_string())?;
    let numbers = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_prefix("cpu")?.parse::<usize>().ok()
    });
    let last = numbers.max().context("the instance has no buffers")?;
    Ok(last + 1)
}

/// Copies the data of a CPU. There is none if the CPU was never online.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut to = File::create(to)?;
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let from = OpenOptions::new()
        .read(true)
        .custom_flags(nonblock)
        .open(from);
    let mut from = match from {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        from => from?,
    };
    // Each read returns one page of the ring buffer.
    let mut page = vec![0; page_size()];
    loop {
        match from.read(&mut page) {
            Ok(0) => return Ok(()),
            Ok(size) => to.write_all(page.get(..size).unwrap_or_default())?,
            // There is no more.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs trace-cmd.
fn restore(command: &mut Command) -> anyhow::Result<()> {
    // Ctrl-C must not reach it.
    let output = command.process_group(0).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!("trace-cmd is not installed: apt install trace-cmd"),
        _ => error.into(),
    })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("trace-cmd restore failed: {}", errors.trim());
    }
    Ok(())
}
