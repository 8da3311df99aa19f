// SPDX-License-Identifier: MIT OR Apache-2.0

//! An open recording: its buffers, symbols and task names.

use std::{
    ffi::{
        c_char,
        c_int,
        CStr,
        CString, //
    },
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr::{
        self,
        NonNull, //
    },
};

use anyhow::{
    bail,
    Context, //
};

use super::{
    bindings,
    format::EventFormat, //
};

/// The bytes with which each file of trace-cmd begins.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// An open recording.
pub struct Input {
    handle: NonNull<bindings::tracecmd_input>,
    /// The handles of the buffers: the top one, then the instances. The first is `handle`.
    pub(super) buffers: Vec<NonNull<bindings::tracecmd_input>>,
}

/// A function of the kernel that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// The address at which it starts.
    pub start: u64,
    /// Its name, without its module.
    pub name: &'a CStr,
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
        let mut input = Self {
            handle,
            buffers: vec![handle],
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

    pub(super) fn tep(&self) -> *mut bindings::tep_handle {
        // SAFETY: `handle` is open until `self` is dropped.
        unsafe { bindings::tracecmd_get_tep(self.handle.as_ptr()) }
    }

    /// Returns the number of buffers: the top one and those of instances.
    pub fn nr_buffers(&self) -> usize {
        self.buffers.len()
    }

    /// Returns whether numbers in records have their most significant byte first.
    pub fn is_big_endian(&self) -> bool {
        // SAFETY: The handle of libtraceevent is valid while the recording is open.
        unsafe { bindings::tep_is_file_bigendian(self.tep()) }
    }

    /// Returns the number of CPUs of the machine that recorded.
    pub fn cpus(&self) -> usize {
        // SAFETY: The handle of libtraceevent is valid while the recording is open.
        let cpus = unsafe { bindings::tep_get_cpus(self.tep()) };
        usize::try_from(cpus).unwrap_or(0)
    }

    /// Returns name, host, release and architecture of the kernel that recorded, as `uname` prints
    /// them, if the file has them.
    pub fn uname(&self) -> Option<&CStr> {
        // SAFETY: The handle is valid.
        let uname = unsafe { bindings::tracecmd_get_uname(self.handle.as_ptr()) };
        // SAFETY: The library keeps its strings while the recording is open.
        (!uname.is_null()).then(|| unsafe { CStr::from_ptr(uname) })
    }

    /// Returns the format of an event by its name; of any group if there is no `system`.
    pub fn event(&self, system: Option<&CStr>, name: &CStr) -> Option<EventFormat<'_>> {
        let system = system.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: The handle is valid, and both names are C strings; the group may be null.
        let event = unsafe { bindings::tep_find_event_by_name(self.tep(), system, name.as_ptr()) };
        // SAFETY: The library keeps events unchanged while the recording is open.
        unsafe { EventFormat::new(event) }
    }

    /// Returns the format of an event by its id, the number with which its records begin.
    pub fn event_by_id(&self, id: u16) -> Option<EventFormat<'_>> {
        // SAFETY: The handle is valid.
        let event = unsafe { bindings::tep_find_event(self.tep(), c_int::from(id)) };
        // SAFETY: The library keeps events unchanged while the recording is open.
        unsafe { EventFormat::new(event) }
    }

    /// Returns the function that contains an address.
    pub fn function(&self, address: u64) -> Option<Function<'_>> {
        let mut name: *const c_char = ptr::null();
        let mut start = 0;
        // SAFETY: The handle is valid, and the library may write to both places. It skips null.
        let found = unsafe {
            bindings::tep_find_function_info(
                self.tep(),
                address,
                &raw mut name,
                &raw mut start,
                ptr::null_mut(),
            )
        };
        if found <= 0 || name.is_null() {
            return None;
        }
        Some(Function {
            start,
            // SAFETY: The library keeps its strings while the recording is open.
            name: unsafe { CStr::from_ptr(name) },
        })
    }

    /// Returns the name that a task had when the recording ended, if it is known.
    pub fn comm(&self, pid: i32) -> Option<&CStr> {
        // SAFETY: The handle is valid.
        let comm = unsafe { bindings::tep_data_comm_from_pid(self.tep(), pid) };
        if comm.is_null() {
            return None;
        }
        // SAFETY: The library keeps its strings while the recording is open.
        let comm = unsafe { CStr::from_ptr(comm) };
        (comm != c"<...>").then_some(comm)
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

/// Turns the messages of the libraries off.
fn silence() {
    let none = bindings::tep_loglevel_TEP_LOG_NONE;
    // SAFETY: These functions only set a variable of their library.
    unsafe {
        bindings::tracecmd_set_loglevel(none);
        bindings::tracefs_set_loglevel(none);
        bindings::tep_set_loglevel(none);
    }
}
