// SPDX-License-Identifier: GPL-2.0

//! Text output for readers of a trace.
//!
//! C header: `include/linux/trace_seq.h`.

use core::{
    fmt,
    marker::PhantomData, //
};

use kernel::prelude::*;

use crate::ktrace::private::trace_seq::trace_seq_printf;
use crate::ktrace::private::trace_seq::trace_seq_putmem;
use crate::ktrace::{
    private::{
        abi,
        cstr_ext::CStrExt, //
    },
    record::context::MAX_ARGS,
    task::comm::{
        Comm,
        COMM_LEN, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_handle_return(s: *mut abi::trace_seq) -> c_uint;
    fn ktrace_call_trace_print_graph_duration(duration: u64, s: *mut abi::trace_seq);
    fn ktrace_call_trace_find_mark(duration: u64) -> c_char;
    fn ktrace_call_trace_print_lat_fmt(
        s: *mut abi::trace_seq,
        entry: *mut abi::trace_entry,
    ) -> c_int;
    fn ktrace_call_trace_find_cmdline(pid: c_int, comm: *mut c_char);
    fn ktrace_call_print_function_args(s: *mut abi::trace_seq, args: *mut c_ulong, func: c_ulong);
}

/// A buffer for text. If text does not fit, the buffer is marked, and the line is printed again
/// later.
///
/// # Invariants
///
/// Points to a valid `struct trace_seq` to which no other code writes for `'a`.
pub struct Seq<'a>(*mut abi::trace_seq, PhantomData<&'a mut abi::trace_seq>);

impl fmt::Write for Seq<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: The `trace_seq` is valid, by the type invariant, and `text` has that many bytes.
        unsafe { trace_seq_putmem(self.0, text.as_ptr().cast(), text.len() as c_uint) };
        Ok(())
    }
}

impl Seq<'_> {
    /// Creates a value for a `struct trace_seq`.
    ///
    /// # Safety
    ///
    /// `seq` must be valid, and no other code may write to it during the lifetime of the result.
    pub(in crate::ktrace) unsafe fn from_raw(seq: *mut abi::trace_seq) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self(seq, PhantomData)
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        let _ = fmt::Write::write_str(self, text);
    }

    /// Adds spaces.
    pub fn spaces(&mut self, n: usize) {
        // A larger width would panic. No line is that long.
        let n = n.min(usize::from(u16::MAX));
        let _ = fmt::Write::write_fmt(self, format_args!("{:1$}", "", n));
    }

    /// Adds bytes that need not be UTF-8.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: The `trace_seq` is valid, by the type invariant, and `bytes` has that many bytes.
        unsafe { trace_seq_putmem(self.0, bytes.as_ptr().cast(), bytes.len() as c_uint) };
    }

    /// Adds the name of the function at `ip`.
    pub fn symbol(&mut self, ip: usize) {
        // SAFETY: The `trace_seq` is valid, by the type invariant; `%ps` accepts any address.
        unsafe { trace_seq_printf(self.0, c"%ps".as_chars(), ip as *const c_void) };
    }

    /// Adds the name of the function at `ip`, with the offset of `ip` in it.
    pub fn symbol_offset(&mut self, ip: usize) {
        // SAFETY: The `trace_seq` is valid, by the type invariant; `%pS` accepts any address.
        unsafe { trace_seq_printf(self.0, c"%pS".as_chars(), ip as *const c_void) };
    }

    /// Adds the arguments of `func` in parentheses, with their names if BTF has them.
    pub fn arguments(&mut self, func: usize, args: &[usize; MAX_ARGS]) {
        let mut args = *args;
        // SAFETY: The `trace_seq` is valid, by the type invariant. `args` has the maximum number of
        // words that the function reads.
        unsafe {
            ktrace_call_print_function_args(self.0, args.as_mut_ptr().cast(), func as c_ulong)
        };
    }

    /// Adds a time in ns, in the width of function_graph's column.
    pub fn duration(&mut self, ns: u64) {
        // SAFETY: The `trace_seq` is valid, by the type invariant.
        unsafe { ktrace_call_trace_print_graph_duration(ns, self.0) };
    }

    /// Adds the flags of a record in the latency format.
    pub(in crate::ktrace) fn latency(&mut self, entry: *mut abi::trace_entry) {
        // SAFETY: The `trace_seq` is valid, by the type invariant, and `entry` is a record of the
        // caller.
        unsafe { ktrace_call_trace_print_lat_fmt(self.0, entry) };
    }

    /// Returns the return value for the print function of an event (`trace_handle_return()`).
    pub(in crate::ktrace) fn code(&self) -> c_uint {
        // SAFETY: The `trace_seq` is valid, by the type invariant.
        unsafe { trace_handle_return(self.0) }
    }

    /// Returns whether all text has fitted.
    pub fn is_whole(&self) -> bool {
        // SAFETY: The `trace_seq` is valid, by the type invariant.
        unsafe { trace_handle_return(self.0) == abi::print_line_t_TRACE_TYPE_HANDLED }
    }
}

/// Returns the mark with which function_graph prints a call that took `ns`.
pub fn mark(ns: u64) -> char {
    // SAFETY: `trace_find_mark()` has no preconditions; it searches a table.
    char::from(unsafe { ktrace_call_trace_find_mark(ns) } as u8)
}

/// Returns the comm of a task, as the kernel saved it last (`saved_cmdlines`).
pub fn comm_of(pid: i32) -> Comm {
    let mut comm: [c_char; COMM_LEN] = [0; COMM_LEN];
    // SAFETY: Writes a C string of at most `TASK_COMM_LEN` bytes, for which `comm` has room.
    unsafe { ktrace_call_trace_find_cmdline(pid, comm.as_mut_ptr()) };
    Comm::new(&comm)
}
