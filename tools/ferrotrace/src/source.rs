// SPDX-License-Identifier: MIT OR Apache-2.0

//! The recording that a verb reads: errors name the file and say what is expected.

use std::{
    io,
    ops::{
        ControlFlow,
        Deref, //
    },
    path::{
        Path,
        PathBuf, //
    },
};

use anyhow::{
    anyhow,
    Context, //
};

use crate::recording::{
    Event,
    Recording,
    Symbols, //
};

/// An open recording, with its name.
pub struct Source {
    recording: Recording,
    path: PathBuf,
}

impl Source {
    /// Opens a recording.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a recording.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let recording = Recording::open(path).map_err(|error| explain(path, error))?;
        Ok(Self {
            recording,
            path: path.to_owned(),
        })
    }

    /// Adds the name of the file to an error.
    pub fn in_file<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<T> {
        result.with_context(|| self.path.display().to_string())
    }

    /// Calls `visit` for each event, as [`Recording::for_each`]. It can be called once.
    ///
    /// # Errors
    ///
    /// If the recording is damaged.
    pub fn for_each(
        &self,
        symbols: &mut Symbols<'_>,
        visit: impl FnMut(&Event<'_>, &Symbols<'_>) -> ControlFlow<()>,
    ) -> anyhow::Result<()> {
        self.in_file(self.recording.for_each(symbols, visit))
    }
}

impl Deref for Source {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

/// Adds what to do to the error if there is no such file.
fn explain(path: &Path, error: anyhow::Error) -> anyhow::Error {
    let is_missing = error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
    match is_missing {
        true => anyhow!(
            "{}: No such file or directory (create it with 'ferrotrace record', or name the FILE \
             to read)",
            path.display()
        ),
        false => error,
    }
}
