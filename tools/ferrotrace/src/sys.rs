// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bindings of the libraries that read recordings: libtracecmd, libtracefs and libtraceevent. All
//! unsafe code of the program is in this module.

use std::{
    ffi::CString,
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr::NonNull, //
};

use anyhow::Context;

#[allow(
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case
)]
#[allow(clippy::all, unsafe_op_in_unsafe_fn)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/tracecmd.rs"));
}

/// An open recording.
pub struct Input(NonNull<bindings::tracecmd_input>);

impl Input {
    /// Opens a file of `trace-cmd record`, or says why it cannot be read.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes()).context("a file name with NUL")?;
        // The library does not say why it failed.
        std::fs::File::open(path).with_context(|| path.display().to_string())?;
        // Packs are decoded here, without the plugin.
        let flags = bindings::tracecmd_open_flags_TRACECMD_FL_LOAD_NO_PLUGINS;
        // SAFETY: `name` is a C string. The library keeps no pointer to it.
        let input =
            unsafe { bindings::tracecmd_open(name.as_ptr(), flags.try_into().unwrap_or(0)) };
        NonNull::new(input)
            .map(Self)
            .with_context(|| format!("{}: not a recording of trace-cmd", path.display()))
    }

    /// Returns the number of CPUs of the machine that was recorded.
    pub fn nr_cpus(&self) -> usize {
        // SAFETY: `self.0` is open until it is dropped, and the handle belongs to it.
        let cpus = unsafe { bindings::tep_get_cpus(bindings::tracecmd_get_tep(self.0.as_ptr())) };
        usize::try_from(cpus).unwrap_or(0)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // SAFETY: `self.0` is open, and nothing uses it after this.
        unsafe { bindings::tracecmd_close(self.0.as_ptr()) };
    }
}
