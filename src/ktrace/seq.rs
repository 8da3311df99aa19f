// SPDX-License-Identifier: GPL-2.0

//! Text for who reads a trace.
//!
//! C header: `include/linux/trace_seq.h`.

use core::{
    fmt,
    marker::PhantomData, //
};

use kernel::prelude::*;

use super::{
    abi,
    cstr::Chars,
    ftrace_ops::MAX_ARGS,
    task::{
        Comm,
        COMM_LEN, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_seq_printf(s: *mut abi::trace_seq, fmt: *const c_char, ...);
    fn trace_seq_putmem(s: *mut abi::trace_seq, mem: *const c_void, len: c_uint);
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

/// Where text goes. What does not fit is remembered, and the line is then printed once more later.
///
/// # Invariants
///
/// Points to a `struct trace_seq` that nobody else writes to for `'a`.
pub struct Seq<'a>(*mut abi::trace_seq, PhantomData<&'a mut abi::trace_seq>);

impl fmt::Write for Seq<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: By the invariant; copies that many bytes.
        unsafe { trace_seq_putmem(self.0, text.as_ptr().cast(), text.len() as c_uint) };
        Ok(())
    }
}

impl Seq<'_> {
    /// # Safety
    ///
    /// `seq` must be one that nobody else writes to while this lives.
    pub(super) unsafe fn from_raw(seq: *mut abi::trace_seq) -> Self {
        // INVARIANT: By the precondition.
        Self(seq, PhantomData)
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        let _ = fmt::Write::write_str(self, text);
    }

    /// Adds spaces.
    pub fn spaces(&mut self, n: usize) {
        // A larger width would be a panic. No line is as long.
        let n = n.min(usize::from(u16::MAX));
        let _ = fmt::Write::write_fmt(self, format_args!("{:1$}", "", n));
    }

    /// Adds bytes that need not be UTF-8.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: By the invariant; copies that many bytes.
        unsafe { trace_seq_putmem(self.0, bytes.as_ptr().cast(), bytes.len() as c_uint) };
    }

    /// Adds the name of the function at `ip`.
    pub fn symbol(&mut self, ip: usize) {
        // SAFETY: By the invariant; `%ps` takes any address.
        unsafe { trace_seq_printf(self.0, c"%ps".as_chars(), ip as *const c_void) };
    }

    /// Adds the name of the function at `ip` and how far into it that is.
    pub fn symbol_offset(&mut self, ip: usize) {
        // SAFETY: By the invariant; `%pS` takes any address.
        unsafe { trace_seq_printf(self.0, c"%pS".as_chars(), ip as *const c_void) };
    }

    /// Adds the arguments of `func` in parentheses, with their names where BTF has them.
    pub fn arguments(&mut self, func: usize, args: &[usize; MAX_ARGS]) {
        let mut args = *args;
        // SAFETY: By the invariant; as many words as the function reads at most.
        unsafe {
            ktrace_call_print_function_args(self.0, args.as_mut_ptr().cast(), func as c_ulong)
        };
    }

    /// Adds a time, in the width of function_graph's column.
    pub fn duration(&mut self, ns: u64) {
        // SAFETY: By the invariant.
        unsafe { ktrace_call_trace_print_graph_duration(ns, self.0) };
    }

    /// Adds the flags of a record, as the latency format has them.
    pub(super) fn latency(&mut self, entry: *mut abi::trace_entry) {
        // SAFETY: By the invariant, and the caller's record.
        unsafe { ktrace_call_trace_print_lat_fmt(self.0, entry) };
    }

    /// What an event returns that has added its text (`trace_handle_return()`).
    pub(super) fn code(&self) -> c_uint {
        // SAFETY: By the invariant.
        unsafe { trace_handle_return(self.0) }
    }

    /// Whether all has fitted.
    pub fn is_whole(&self) -> bool {
        // SAFETY: By the invariant. What it returns is 1 if nothing was cut off.
        unsafe { trace_handle_return(self.0) == abi::print_line_t_TRACE_TYPE_HANDLED }
    }
}

/// The mark of a call that took so long, as function_graph has it.
pub fn mark(ns: u64) -> char {
    // SAFETY: Looks up a table.
    char::from(unsafe { ktrace_call_trace_find_mark(ns) } as u8)
}

/// The name that a task had when it was last recorded.
pub fn comm_of(pid: i32) -> Comm {
    let mut comm: [c_char; COMM_LEN] = [0; COMM_LEN];
    // SAFETY: Writes a C string of at most `TASK_COMM_LEN` bytes.
    unsafe { ktrace_call_trace_find_cmdline(pid, comm.as_mut_ptr()) };
    Comm::new(&comm)
}
