// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard output, and files that are written instead of it.
//!
//! A file appears under its name when it is complete. Until then it has no name, or one that begins
//! with a dot if the file system needs one. The file from which a verb reads is never an output.

use std::{
    ffi::OsString,
    fs::{
        self,
        File,
        Metadata, //
    },
    io::{
        self,
        BufWriter,
        Write, //
    },
    os::{
        fd::{
            AsFd,
            AsRawFd, //
        },
        unix::fs::MetadataExt, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process, //
};

use anyhow::{
    bail,
    Context, //
};
use rustix::fs::{
    Access,
    AtFlags,
    Mode,
    OFlags,
    CWD, //
};

use crate::units::Size;

/// Returns the result of writing to standard output. A reader that went away, for example `head`,
/// is not an error.
pub fn ended(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}

/// An output: a file, or standard output. Unless [`finish`](Self::finish) is called, a new file
/// is discarded, and an existing one keeps its content.
pub struct Output {
    out: BufWriter<File>,
    place: Place,
}

/// The kind of an output.
enum Place {
    /// Standard output.
    Stdout,
    /// A file that is not replaced: a device, a pipe, or one that is open as standard output.
    Direct(PathBuf),
    /// A file that gets its name at the end.
    New(New),
}

impl Output {
    /// Opens an output: standard output if there is no path. `input` is the file that is read.
    ///
    /// # Errors
    ///
    /// If the output is the input, or if it cannot be written.
    pub fn create(path: Option<&Path>, input: &Path) -> anyhow::Result<Self> {
        let input = fs::metadata(input).ok();
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let Some(path) = path else {
            refuse(&input, stdout.metadata().ok().as_ref(), "standard output")?;
            return Ok(Self::new(stdout, Place::Stdout));
        };
        let name = path.display().to_string();
        let existing = fs::metadata(path).ok();
        refuse(&input, existing.as_ref(), &name)?;
        if let Some(existing) = &existing {
            let is_stdout = stdout.metadata().is_ok_and(|it| is_same(&it, existing));
            if is_stdout {
                return Ok(Self::new(stdout, Place::Direct(path.into())));
            }
            if !existing.is_file() {
                return Self::direct(path).context(name);
            }
        } else if path.is_symlink() {
            return Self::direct(path).context(name);
        }
        if existing.is_some() {
            // The directory decides whether a file can be replaced, not its own mode.
            rustix::fs::access(path, Access::WRITE_OK).context(name.clone())?;
        }
        match New::create(path, existing.as_ref()) {
            Ok((file, new)) => Ok(Self::new(file, Place::New(new))),
            // A file can be writable in a directory that is not.
            Err(error) if existing.is_some() && is_denied(&error) => {
                Self::direct(path).context(name)
            }
            Err(error) => Err(error).context(name),
        }
    }

    fn new(file: File, place: Place) -> Self {
        let out = BufWriter::with_capacity(1 << 16, file);
        Self { out, place }
    }

    /// Opens a file whose content is lost then, if it has one.
    fn direct(path: &Path) -> io::Result<Self> {
        Ok(Self::new(File::create(path)?, Place::Direct(path.into())))
    }

    /// Ends the output after the recording was read. If this failed, a new file is discarded; a
    /// pipe and standard output have what was written before.
    ///
    /// # Errors
    ///
    /// If reading or writing failed.
    pub fn finish_after(
        mut self,
        read: anyhow::Result<()>,
        written: io::Result<()>,
    ) -> anyhow::Result<()> {
        match (read, &self.place) {
            (Ok(()), _) => self.finish(written),
            (read, Place::New(_)) => read,
            (read, _) => {
                let _ = self.out.flush();
                read
            }
        }
    }

    /// Ends the output: a new file gets its name, which is printed to standard error. `written` is
    /// the result of writing to it.
    ///
    /// # Errors
    ///
    /// If writing failed. A reader of a pipe that went away is not an error.
    pub fn finish(mut self, written: io::Result<()>) -> anyhow::Result<()> {
        let written = written.and_then(|()| self.out.flush());
        match self.place {
            Place::Stdout => ended(written),
            Place::Direct(path) => match written {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written.with_context(|| path.display().to_string()),
            },
            Place::New(new) => {
                let name = new.path.display().to_string();
                let file = self.out.get_ref();
                written
                    .and_then(|()| new.publish(file))
                    .with_context(|| name.clone())?;
                let size = Size(file.metadata().map_or(0, |file| file.len()));
                // The file is complete, even if standard error is not open.
                let _ = writeln!(io::stderr(), "wrote {name} ({size})");
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The links to the open files of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// A file that is written and has not its name yet.
struct New {
    /// The path as the user gave it.
    path: PathBuf,
    /// The path without symbolic links.
    target: PathBuf,
    /// A path in the same directory.
    temporary: PathBuf,
    /// Whether the file is at this path.
    is_named: bool,
}

impl New {
    /// Creates a file that replaces `existing`.
    fn create(path: &Path, existing: Option<&Metadata>) -> io::Result<(File, Self)> {
        let mut new = Self::at(path)?;
        let file = match new.unnamed() {
            Ok(file) => file,
            Err(_) => new.named()?,
        };
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions())?;
        }
        Ok((file, new))
    }

    fn at(path: &Path) -> io::Result<Self> {
        let target = match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            target => target?,
        };
        let mut name = OsString::from(".");
        name.push(target.file_name().ok_or(io::ErrorKind::IsADirectory)?);
        name.push(format!(".{}", process::id()));
        Ok(Self {
            path: path.to_owned(),
            temporary: target.with_file_name(name),
            target,
            is_named: false,
        })
    }

    /// Creates a file without a name, which never remains. Not each file system has them, and it
    /// gets its name through `/proc`.
    fn unnamed(&self) -> io::Result<File> {
        if !Path::new(DESCRIPTORS).exists() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let directory = match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        Ok(rustix::fs::open(directory, flags, mode)?.into())
    }

    /// Creates the file at the temporary path.
    fn named(&mut self) -> io::Result<File> {
        let file = File::create_new(&self.temporary)?;
        self.is_named = true;
        Ok(file)
    }

    /// Moves the file to its path.
    fn publish(mut self, file: &File) -> io::Result<()> {
        if !self.is_named {
            let file = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, file, CWD, &self.temporary, AtFlags::SYMLINK_FOLLOW)?;
            self.is_named = true;
        }
        fs::rename(&self.temporary, &self.target)?;
        self.is_named = false;
        Ok(())
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if self.is_named {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Returns an error if the output is the input.
fn refuse(input: &Option<Metadata>, output: Option<&Metadata>, name: &str) -> anyhow::Result<()> {
    match (input, output) {
        (Some(input), Some(output)) if input.is_file() && is_same(input, output) => {
            bail!("{name}: the output is the recording itself (expected another file)")
        }
        _ => Ok(()),
    }
}

/// Returns whether two files are the same one.
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns whether a file cannot be created in its directory.
fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("a file").file_name())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_complete() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("out");
        let none = Path::new("/does/not/exist");
        fs::write(&path, "before")?;
        let mut out = Output::create(Some(&path), none)?;
        out.write_all(b"discarded")?;
        drop(out);
        assert_eq!(fs::read_to_string(&path)?, "before");
        let mut out = Output::create(Some(&path), none)?;
        let written = out.write_all(b"after");
        assert_eq!(fs::read_to_string(&path)?, "before");
        out.finish(written)?;
        assert_eq!(fs::read_to_string(&path)?, "after");
        let out = Output::create(Some(&path), none)?;
        let error = out.finish(Err(io::ErrorKind::StorageFull.into()));
        assert!(error.is_err());
        assert_eq!(fs::read_to_string(&path)?, "after");
        assert_eq!(names(directory.path()), ["out"]);
        Ok(())
    }

    #[test]
    fn a_file_with_a_temporary_name_is_moved_or_removed() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("out");
        for is_complete in [false, true] {
            let mut new = New::at(&path)?;
            let mut file = new.named()?;
            file.write_all(b"text")?;
            assert_eq!(names(directory.path()).len(), 1);
            if is_complete {
                new.publish(&file)?;
                assert_eq!(fs::read_to_string(&path)?, "text");
            } else {
                drop(new);
                assert!(names(directory.path()).is_empty());
            }
        }
        assert_eq!(names(directory.path()), ["out"]);
        Ok(())
    }
}
