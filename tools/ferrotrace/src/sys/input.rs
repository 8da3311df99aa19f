// SPDX-License-Identifier: MIT OR Apache-2.0

//! An open recording: its buffers, symbols and task names.

use std::{
    ffi::{
        CStr,
        CString, //
    },
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr::NonNull, //
};

use anyhow::{
    bail,
    Context, //
};

use super::{
    bindings,
    formats::{
        silence,
        Formats, //
    },
};

/// The bytes with which each file of trace-cmd begins.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// An open recording.
pub struct Input {
    /// The handles of the buffers: the top one, then the instances.
    pub(super) buffers: Vec<NonNull<bindings::tracecmd_input>>,
    formats: Formats,
}

impl Input {
    /// Opens a recording, or returns an error that says why it cannot be read.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        check_magic(path)?;
        silence();
        let name = CString::new(path.as_os_str().as_bytes()).context("a file name with NUL")?;
        // Packs are decoded here, without the plugin.
        let flags = bindings::tracecmd_open_flags_TRACECMD_FL_LOAD_NO_PLUGINS;
        let flags = flags.try_into().unwrap_or(0);
        // SAFETY: `name` is a C string. The library keeps no pointer to it.
        let input = unsafe { bindings::tracecmd_open(name.as_ptr(), flags) };
        let Some(handle) = NonNull::new(input) else {
            bail!("{}: the recording is incomplete or damaged", path.display());
        };
        // SAFETY: `handle` is open. The library keeps its events and symbols unchanged, and frees
        // them when their last user does so.
        let formats = unsafe { Formats::share(bindings::tracecmd_get_tep(handle.as_ptr())) };
        let mut input = Self {
            buffers: vec![handle],
            formats: formats.context("the library has no formats")?,
        };
        // SAFETY: `handle` is open.
        let instances = unsafe { bindings::tracecmd_buffer_instances(handle.as_ptr()) };
        for index in 0..instances {
            // SAFETY: `handle` is open, and the index is in range.
            let instance =
                unsafe { bindings::tracecmd_buffer_instance_handle(handle.as_ptr(), index) };
            let instance = NonNull::new(instance).with_context(|| {
                format!("{}: a buffer of the recording is damaged", path.display())
            })?;
            input.buffers.push(instance);
        }
        Ok(input)
    }

    /// Returns the formats of the events, and the names of functions and tasks.
    pub fn formats(&self) -> &Formats {
        &self.formats
    }

    /// Returns the number of buffers: the top one and those of instances.
    pub fn nr_buffers(&self) -> usize {
        self.buffers.len()
    }

    /// Returns the number of CPUs of the machine that recorded.
    pub fn cpus(&self) -> usize {
        // SAFETY: The handle of libtraceevent is valid while the recording is open.
        let cpus = unsafe { bindings::tep_get_cpus(self.formats.tep()) };
        usize::try_from(cpus).unwrap_or(0)
    }

    /// Returns name, host, release and architecture of the kernel that recorded, as `uname` prints
    /// them, if the file has them.
    pub fn uname(&self) -> Option<&CStr> {
        let top = self.buffers.first()?;
        // SAFETY: The handle is open.
        let uname = unsafe { bindings::tracecmd_get_uname(top.as_ptr()) };
        // SAFETY: The library keeps its strings while the recording is open.
        (!uname.is_null()).then(|| unsafe { CStr::from_ptr(uname) })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        for buffer in self.buffers.iter().rev() {
            // SAFETY: Each handle is open, and nothing uses it after this. Handles of instances
            // have references to the first one.
            unsafe { bindings::tracecmd_close(buffer.as_ptr()) };
        }
    }
}

/// Returns an error unless the file can be read and begins like a file of trace-cmd. libtracecmd
/// does not say why it fails.
fn check_magic(path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let mut magic = [0; MAGIC.len()];
    if let Err(error) = file.read_exact(&mut magic) {
        if error.kind() != std::io::ErrorKind::UnexpectedEof {
            return Err(error).with_context(|| path.display().to_string());
        }
    }
    if magic != MAGIC {
        bail!(
            "{}: not a recording (expected a file of 'ferrotrace record' or 'trace-cmd record')",
            path.display()
        );
    }
    Ok(())
}
