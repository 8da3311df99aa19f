// SPDX-License-Identifier: MIT OR Apache-2.0

//! The formats of events and the names of functions and tasks: those of a recording, or those of
//! the running kernel.

use std::{
    ffi::{
        c_char,
        c_int,
        CStr,
        CString, //
    },
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr::{
        self,
        NonNull, //
    },
};

use anyhow::Context;

use super::{
    bindings,
    format::EventFormat, //
};

/// The formats of events and the names of functions and tasks.
pub struct Formats {
    tep: NonNull<bindings::tep_handle>,
}

/// A function of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// The address at which it starts.
    pub start: u64,
    /// Its name, without its module.
    pub name: &'a CStr,
}

impl Formats {
    /// Adds a user to a handle of libtraceevent; `None` if it is null.
    ///
    /// # Safety
    ///
    /// The handle must be valid, and nothing may change its events, symbols and names of tasks.
    pub(super) unsafe fn share(tep: *mut bindings::tep_handle) -> Option<Self> {
        let tep = NonNull::new(tep)?;
        // SAFETY: The handle is valid.
        unsafe { bindings::tep_ref(tep.as_ptr()) };
        Some(Self { tep })
    }

    /// Reads the formats of some groups of events, and the functions, of the running kernel.
    ///
    /// # Errors
    ///
    /// If the tracing directory or `/proc/kallsyms` cannot be read.
    pub fn of_kernel(tracing: &Path, systems: &[&CStr]) -> anyhow::Result<Self> {
        silence();
        let directory = CString::new(tracing.as_os_str().as_bytes())?;
        let mut names: Vec<*const c_char> = systems.iter().map(|name| name.as_ptr()).collect();
        names.push(ptr::null());
        // SAFETY: The directory and the names are C strings, and null ends the list. The library
        // keeps no pointer to them.
        let tep = unsafe {
            bindings::tracefs_local_events_system(directory.as_ptr(), names.as_ptr().cast())
        };
        let tep = NonNull::new(tep)
            .with_context(|| format!("{}: cannot read the formats", tracing.display()))?;
        let formats = Self { tep };
        let symbols = fs::read_to_string("/proc/kallsyms").context("/proc/kallsyms")?;
        let symbols = CString::new(functions(&symbols))?;
        // SAFETY: The handle is valid, and the text is a C string of which the library takes a
        // copy. Nothing else uses the handle yet.
        let status = unsafe { bindings::tep_parse_kallsyms(tep.as_ptr(), symbols.as_ptr()) };
        anyhow::ensure!(status == 0, "/proc/kallsyms: cannot read the symbols");
        // At the first look-up, the library sorts the functions.
        formats.function(0);
        Ok(formats)
    }

    pub(super) fn tep(&self) -> *mut bindings::tep_handle {
        self.tep.as_ptr()
    }

    /// Returns whether numbers in records have their most significant byte first.
    pub fn is_big_endian(&self) -> bool {
        // SAFETY: The handle is valid.
        unsafe { bindings::tep_is_file_bigendian(self.tep()) }
    }

    /// Returns the format of an event by its name; of any group if there is no `system`.
    pub fn event(&self, system: Option<&CStr>, name: &CStr) -> Option<EventFormat<'_>> {
        let system = system.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: The handle is valid, and both names are C strings; the group may be null.
        let event = unsafe { bindings::tep_find_event_by_name(self.tep(), system, name.as_ptr()) };
        // SAFETY: The library keeps events unchanged as long as its handle.
        unsafe { EventFormat::new(event) }
    }

    /// Returns the format of an event by its id, the number with which its records begin.
    pub fn event_by_id(&self, id: u16) -> Option<EventFormat<'_>> {
        // SAFETY: The handle is valid.
        let event = unsafe { bindings::tep_find_event(self.tep(), c_int::from(id)) };
        // SAFETY: The library keeps events unchanged as long as its handle.
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
            // SAFETY: The library keeps its strings as long as its handle.
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
        // SAFETY: The library keeps its strings as long as its handle.
        let comm = unsafe { CStr::from_ptr(comm) };
        (comm != c"<...>").then_some(comm)
    }
}

impl Drop for Formats {
    fn drop(&mut self) {
        // SAFETY: The handle is valid, and this user does not use it after this.
        unsafe { bindings::tep_free(self.tep.as_ptr()) };
    }
}

/// Returns the lines of `/proc/kallsyms` that are functions.
fn functions(symbols: &str) -> String {
    let is_function = |line: &&str| {
        let kind = line.split(' ').nth(1);
        matches!(kind, Some("t" | "T" | "w" | "W"))
    };
    let mut text = String::with_capacity(symbols.len());
    for line in symbols.lines().filter(is_function) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Turns the messages of the libraries off.
pub(super) fn silence() {
    let none = bindings::tep_loglevel_TEP_LOG_NONE;
    // SAFETY: These functions only set a variable of their library.
    unsafe {
        bindings::tracecmd_set_loglevel(none);
        bindings::tracefs_set_loglevel(none);
        bindings::tep_set_loglevel(none);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_kallsyms() {
        let text =
            "ffffffff81000000 T _stext\nffffffff82000000 D data\nffffffffc0000000 t f\t[m]\n";
        let expected = "ffffffff81000000 T _stext\nffffffffc0000000 t f\t[m]\n";
        assert_eq!(functions(text), expected);
        assert_eq!(functions("?\n\n"), "");
    }
}
