// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ring buffer of a CPU, read while it is being written: `per_cpu/cpuN/trace_pipe_raw`.

use std::{
    fs::{
        File,
        OpenOptions, //
    },
    io::{
        ErrorKind,
        Read, //
    },
    ops::Range,
    os::unix::fs::OpenOptionsExt,
    path::Path, //
};

use anyhow::Context;

use super::page::{
    missed,
    Records, //
};

/// The ring buffer of a CPU. Reading it removes the records.
pub struct CpuBuffer {
    cpu: usize,
    file: File,
    /// The size of a sub-buffer in bytes.
    size: usize,
}

impl CpuBuffer {
    /// Opens the buffer of `cpu` in the directory of a trace array, whose sub-buffers have `size`
    /// bytes.
    ///
    /// # Errors
    ///
    /// If there is no such file, or another program reads the buffer.
    pub fn open(array: &Path, cpu: usize, size: usize) -> anyhow::Result<Self> {
        let path = array.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        Ok(Self { cpu, file, size })
    }

    /// Returns the number of the CPU.
    pub(super) fn cpu(&self) -> usize {
        self.cpu
    }

    /// Reads a sub-buffer to `page`, and calls `visit` for each of its records in the order of
    /// their times: with the time, the number of records that are missing before it as in
    /// [`RawRecord`](crate::sys::RawRecord), and its place in the page. Returns false if the buffer
    /// is empty.
    ///
    /// # Errors
    ///
    /// If the buffer cannot be read.
    pub(super) fn read(
        &mut self,
        page: &mut Vec<u8>,
        mut visit: impl FnMut(u64, Option<i64>, Range<usize>),
    ) -> anyhow::Result<bool> {
        page.resize(self.size, 0);
        match self.file.read(page) {
            Ok(0) => return Ok(false),
            Ok(len) => page.truncate(len),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => {
                return Err(error).with_context(|| format!("the buffer of CPU {}", self.cpu))
            }
        }
        let records = Records::new(page)
            .with_context(|| format!("the buffer of CPU {}: wrong format", self.cpu))?;
        let mut missed = missed(page);
        for (time, place) in records {
            visit(time, missed.take(), place);
        }
        Ok(true)
    }
}
