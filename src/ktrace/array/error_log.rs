// SPDX-License-Identifier: GPL-2.0

//! The file `error_log` of a trace array, which explains errors in what was written to its files.

use core::{
    ffi::CStr,
    ptr::addr_of_mut, //
};

use kernel::{
    bindings,
    prelude::*, //
};

use super::trace_array::{
    TraceArray,
    TypesLock, //
};
use crate::ktrace::private::{
    abi,
    cstr_ext::CStrExt,
    list,
    symbols::{
        Data,
        Resolved, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_tracing_log_err(
        tr: *mut abi::trace_array,
        loc: *const c_char,
        cmd: *const c_char,
        errs: *mut *const c_char,
        index: u8,
        pos: u16,
    );
}

/// The maximum length of a command in the log, in bytes.
pub const MAX_COMMAND: usize = 64;

/// The error messages of a module.
///
/// Entries of the log point into this table, so [`ErrorLog::remove_entries`] must be called before
/// it is dropped.
///
/// # Invariants
///
/// `table` holds pointers to constant C strings, and its memory does not move.
pub struct ErrorLog {
    table: KVec<*const c_char>,
}

// SAFETY: The table holds pointers to constants.
unsafe impl Send for ErrorLog {}
// SAFETY: The table holds pointers to constants and is only read.
unsafe impl Sync for ErrorLog {}

impl ErrorLog {
    /// Creates the table of messages. May sleep. Fails with `ENOMEM` if memory is short.
    pub fn new(_: Resolved, messages: &[&'static CStr]) -> Result<Self> {
        let mut table = KVec::with_capacity(messages.len(), GFP_KERNEL)?;
        for message in messages {
            table.push(message.as_chars(), GFP_KERNEL)?;
        }
        // INVARIANT: The table was filled with constants above. The memory of a vector that does
        // not grow does not move.
        Ok(Self { table })
    }

    /// Adds an entry to the log of `tr`: message `index`, about `command` written to `file`, with a
    /// mark below byte `at`. Control characters are shown as `?`. Does nothing if there is no such
    /// message. May sleep.
    pub fn log(&self, tr: &TraceArray, file: &CStr, command: &[u8], index: u8, at: usize) {
        if usize::from(index) >= self.table.len() {
            return;
        }
        let mut shown = [0u8; MAX_COMMAND + 1];
        for (to, &from) in shown.iter_mut().take(MAX_COMMAND).zip(command) {
            let printable = from >= b' ' && from != 0x7f;
            *to = if printable { from } else { b'?' };
        }
        // SAFETY: The trace array is alive. `file` is a C string, and so is `shown`, whose last
        // byte is never written; both are copied. The table stays valid until all its entries have
        // been removed by `remove_entries()`.
        unsafe {
            ktrace_call_tracing_log_err(
                tr.as_ptr(),
                file.as_chars(),
                shown.as_ptr().cast(),
                self.table.as_ptr().cast_mut(),
                index,
                at as u16,
            )
        }
    }

    /// Removes all entries that use this table from the logs of all trace arrays. May sleep.
    pub fn remove_entries(&self, lock: &TypesLock) {
        let mutex = Data::ErrorLogLock.as_ptr();
        // SAFETY: This is the kernel's own static mutex, found by its name. No other lock is taken
        // while it is held, neither here nor in `tracing_log_err()`, so it can be taken with any
        // sleeping lock held.
        unsafe { bindings::mutex_lock(mutex) };
        for tr in lock.arrays() {
            let raw = tr.as_ptr();
            // SAFETY: The trace array is alive, and the mutex protects its log. The kernel
            // allocates entries and their command text with `kmalloc()`.
            unsafe {
                list::for_each(addr_of_mut!((*raw).err_log), |at| {
                    let entry = kernel::container_of!(at, abi::tracing_log_err, list);
                    if (*entry).info.errs.cast_const().cast() == self.table.as_ptr() {
                        list::del(at);
                        bindings::kfree((*entry).cmd.cast());
                        bindings::kfree(entry.cast::<c_void>());
                        (*raw).n_err_log_entries = (*raw).n_err_log_entries.wrapping_sub(1);
                    }
                });
            }
        }
        // SAFETY: The mutex was locked above.
        unsafe { bindings::mutex_unlock(mutex) };
    }
}
