// SPDX-License-Identifier: GPL-2.0

//! The file `error_log` of a trace array, where tracing says what was wrong with what it was told.

use core::{
    ffi::CStr,
    ptr::addr_of_mut, //
};

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    abi,
    cstr::Chars,
    list,
    symbols::{
        Data,
        Resolved, //
    },
    trace_array::{
        TraceArray,
        TypesLock, //
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

/// The longest command that is shown, in bytes.
pub const MAX_COMMAND: usize = 64;

/// The messages of a module.
///
/// An entry of the log points into this table, so [`ErrorLog::forget`] must be called before it
/// goes.
///
/// # Invariants
///
/// `table` has pointers to constant C strings, and stays where it is.
pub struct ErrorLog {
    table: KVec<*const c_char>,
}

// SAFETY: Owns a table of constants.
unsafe impl Send for ErrorLog {}
// SAFETY: As above; it is only read.
unsafe impl Sync for ErrorLog {}

impl ErrorLog {
    /// Makes the table. May sleep.
    pub fn new(_: Resolved, messages: &[&'static CStr]) -> Result<Self> {
        let mut table = KVec::with_capacity(messages.len(), GFP_KERNEL)?;
        for message in messages {
            table.push(message.as_chars(), GFP_KERNEL)?;
        }
        // INVARIANT: Filled with constants just now; a vector that is not pushed to does not move.
        Ok(Self { table })
    }

    /// Adds to the log of `tr`: message `index`, on `command` for `file`, with a mark below byte
    /// `at`. Bytes that would garble the log are shown as `?`. May sleep. Does nothing if there is
    /// no such message.
    pub fn log(&self, tr: &TraceArray, file: &CStr, command: &[u8], index: u8, at: usize) {
        if usize::from(index) >= self.table.len() {
            return;
        }
        let mut shown = [0u8; MAX_COMMAND + 1];
        for (to, &from) in shown.iter_mut().take(MAX_COMMAND).zip(command) {
            let printable = from >= b' ' && from != 0x7f;
            *to = if printable { from } else { b'?' };
        }
        // SAFETY: The trace array is alive. `file` is a C string and so is `shown`, whose last byte
        // is never written; both are copied. The table is valid until `forget()`.
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

    /// Takes this table's entries out of all logs.
    pub fn forget(&self, lock: &TypesLock) {
        let mutex = Data::ErrorLogLock.as_ptr();
        // SAFETY: The kernel's own static mutex, found by its name. Who holds it takes no other lock,
        // neither below nor in `tracing_log_err()`, so it can be taken under any that may be slept
        // with.
        unsafe { bindings::mutex_lock(mutex) };
        for tr in lock.arrays() {
            let raw = tr.as_ptr();
            // SAFETY: The trace array is alive, and the mutex guards its log; entries and their
            // texts are allocated by `kmalloc()`.
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
        // SAFETY: Taken above.
        unsafe { bindings::mutex_unlock(mutex) };
    }
}
