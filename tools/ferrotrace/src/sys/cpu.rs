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
    os::unix::fs::OpenOptionsExt,
    path::Path,
    ptr::NonNull,
};

use anyhow::{
    ensure,
    Context, //
};

use super::{
    bindings,
    formats::Formats,
    iterate::RawRecord, //
};

/// The ring buffer of a CPU. Reading it removes the records.
pub struct CpuBuffer {
    cpu: usize,
    file: File,
    parser: NonNull<bindings::kbuffer>,
    page: Vec<u8>,
}

impl CpuBuffer {
    /// Opens the buffer of `cpu` in the directory of a trace array, whose sub-buffers have `size`
    /// bytes.
    ///
    /// # Errors
    ///
    /// If there is no such file, or another program reads the buffer.
    pub fn open(formats: &Formats, array: &Path, cpu: usize, size: usize) -> anyhow::Result<Self> {
        let path = array.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        // SAFETY: The handle is valid. The parser does not refer to it.
        let parser = unsafe { bindings::tep_kbuffer(formats.tep()) };
        Ok(Self {
            cpu,
            file,
            parser: NonNull::new(parser).context("no memory")?,
            page: vec![0; size],
        })
    }

    /// Reads a sub-buffer, and calls `visit` for each of its records in the order of their times.
    /// Returns false if the buffer is empty.
    ///
    /// # Errors
    ///
    /// If the buffer cannot be read.
    pub fn read(&mut self, mut visit: impl FnMut(RawRecord<'_>)) -> anyhow::Result<bool> {
        let parser = self.parser.as_ptr();
        match self.file.read(&mut self.page) {
            Ok(0) => return Ok(false),
            Ok(len) => self.page[len..].fill(0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => {
                return Err(error).with_context(|| format!("the buffer of CPU {}", self.cpu))
            }
        }
        // SAFETY: The parser is valid, and the page is a sub-buffer as the kernel has written it,
        // which stays in place and unchanged until the parser gets the next one.
        let status =
            unsafe { bindings::kbuffer_load_subbuffer(parser, self.page.as_mut_ptr().cast()) };
        ensure!(status == 0, "the buffer of CPU {}: wrong format", self.cpu);
        // SAFETY: The parser is valid and has a sub-buffer.
        let missed = unsafe { bindings::kbuffer_missed_events(parser) };
        let mut missed = (missed != 0).then_some(i64::from(missed));
        let mut time = 0;
        // SAFETY: The parser is valid and has a sub-buffer; the library may write to `time`.
        let mut data = unsafe { bindings::kbuffer_read_event(parser, &raw mut time) };
        while !data.is_null() {
            // SAFETY: The parser has a current event.
            let size = unsafe { bindings::kbuffer_event_size(parser) };
            let start = (data as usize).wrapping_sub(self.page.as_ptr() as usize);
            let size = usize::try_from(size).unwrap_or(0);
            let Some(record) = self.page.get(start..start.saturating_add(size)) else {
                break;
            };
            visit(RawRecord {
                time,
                cpu: self.cpu,
                buffer: 0,
                missed: missed.take(),
                data: record,
            });
            // SAFETY: The parser is valid and has a sub-buffer; the library may write to `time`.
            data = unsafe { bindings::kbuffer_next_event(parser, &raw mut time) };
        }
        Ok(true)
    }
}

impl Drop for CpuBuffer {
    fn drop(&mut self) {
        // SAFETY: The parser is valid, and nothing uses it after this.
        unsafe { bindings::kbuffer_free(self.parser.as_ptr()) };
    }
}
