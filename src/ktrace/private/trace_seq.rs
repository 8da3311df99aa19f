// SPDX-License-Identifier: GPL-2.0

//! Functions of `include/linux/trace_seq.h` that several files call.

use kernel::prelude::*;

use super::abi;

extern "C" {
    /// Appends text in a C format.
    pub(in crate::ktrace) fn trace_seq_printf(s: *mut abi::trace_seq, fmt: *const c_char, ...);
    /// Appends `len` bytes.
    pub(in crate::ktrace) fn trace_seq_putmem(
        s: *mut abi::trace_seq,
        mem: *const c_void,
        len: c_uint,
    );
}
