// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where the checks read files: the root directory, or a made-up tree of a test.

use std::{
    fs,
    io::{
        self,
        Read, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process::{
        Command,
        Stdio, //
    },
};

use crate::tracefs::mount_point;

/// The files of a machine.
pub struct Facts {
    root: PathBuf,
}

impl Facts {
    /// Reads files below a directory.
    pub fn new(root: &Path) -> Self {
        Self { root: root.into() }
    }

    /// Returns whether the machine is this one.
    pub fn is_real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Returns the path of a file, whose name is that on the machine.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        let name = name.as_ref();
        self.root.join(name.strip_prefix("/").unwrap_or(name))
    }

    /// Reads a file, without white space at its end.
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<String> {
        Ok(fs::read_to_string(self.path(name))?.trim_end().into())
    }

    /// Returns the release of the kernel, as `uname -r`.
    pub fn release(&self) -> String {
        self.read("/proc/sys/kernel/osrelease").unwrap_or_default()
    }

    /// Returns the configuration of the kernel, if the machine has it.
    pub fn config(&self) -> Option<String> {
        let release = self.release();
        self.read(format!("/boot/config-{release}"))
            .or_else(|_| self.read(format!("/lib/modules/{release}/build/.config")))
            .ok()
            .or_else(|| self.unpack("/proc/config.gz"))
    }

    fn unpack(&self, name: &str) -> Option<String> {
        let mut child = Command::new("gzip")
            .arg("-dc")
            .arg(self.path(name))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut text = String::new();
        let read = child.stdout.take()?.read_to_string(&mut text);
        let status = child.wait().ok()?;
        read.ok().filter(|_| status.success()).map(|_| text)
    }

    /// Returns where tracefs is mounted.
    pub fn tracefs(&self) -> Option<PathBuf> {
        mount_point(&self.read("/proc/self/mounts").ok()?)
    }
}
