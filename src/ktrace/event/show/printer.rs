// SPDX-License-Identifier: GPL-2.0

//! The record that is being printed, and the buffer for the texts of its fields.

use core::ptr::addr_of_mut;

use kernel::prelude::*;

use crate::ktrace::private::trace_seq::trace_seq_printf;
use crate::ktrace::private::trace_seq::trace_seq_putmem;
use crate::ktrace::private::{
    abi,
    cstr_ext::CStrExt,
    trace_options, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_print_symbols_seq(
        p: *mut abi::trace_seq,
        val: c_ulong,
        symbols: *const abi::trace_print_flags,
        size: usize,
    ) -> *const c_char;
    fn trace_seq_putc(s: *mut abi::trace_seq, c: u8);
    fn ktrace_seq_position(s: *mut abi::trace_seq) -> *const c_char;
    /// Prints with a C format.
    pub fn trace_event_printf(iter: *mut abi::trace_iterator, fmt: *const c_char, ...);
}

/// A record that is being printed.
///
/// # Invariants
///
/// `iter` is at a record of the event that the user of this value prints.
pub struct Printer(*mut abi::trace_iterator);

impl Printer {
    /// Wraps an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be at a record of the event that will be printed, and stay valid during that.
    pub unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // INVARIANT: The caller guarantees that `iter` is at such a record.
        Self(iter)
    }

    /// Returns the iterator.
    pub fn as_ptr(&self) -> *mut abi::trace_iterator {
        self.0
    }

    /// Returns the record.
    pub fn record(&self) -> *mut u8 {
        // SAFETY: By the type invariant, the iterator is valid and at a record.
        unsafe { (*self.0).ent.cast() }
    }

    /// Returns the buffer for texts that are then passed to a conversion.
    pub(super) fn seq(&self) -> *mut abi::trace_seq {
        // SAFETY: By the type invariant, the iterator is valid; this only computes an address.
        unsafe { addr_of_mut!((*self.0).tmp_seq) }
    }

    /// Returns the text of a set of bits, in the format that the trace array's option
    /// `bitmask-list` selects.
    ///
    /// This is like the kernel's `trace_print_bitmask_seq()`, which however resets the buffer at
    /// each call, so that all texts but the last of a record are overwritten.
    ///
    /// # Safety
    ///
    /// `bits` must point to `len` valid bytes, which are whole words.
    pub(super) unsafe fn bitmask(&self, bits: *const u8, len: usize) -> *const c_char {
        let seq = self.seq();
        // SAFETY: By the type invariant, the iterator and its trace array are valid while the
        // record is printed. The caller guarantees that the bits are valid.
        unsafe {
            let as_list = trace_options::flags((*self.0).tr) & trace_options::BITMASK_LIST != 0;
            let format = if as_list { c"%*pbl" } else { c"%*pb" };
            let text = ktrace_seq_position(seq);
            let bit_count = len.saturating_mul(8) as c_int;
            trace_seq_printf(seq, format.as_chars(), bit_count, bits);
            trace_seq_putc(seq, 0);
            text
        }
    }

    /// Returns the name of `value`.
    pub fn symbol(&self, value: usize, names: &'static [abi::trace_print_flags]) -> *const c_char {
        // SAFETY: The table has the given length. The text is written to the iterator's own buffer.
        unsafe { trace_print_symbols_seq(self.seq(), value, names.as_ptr(), names.len()) }
    }

    /// Copies `bytes` to the iterator's own buffer, and returns them as a C string.
    pub(super) fn text(&self, bytes: &[u8]) -> *const c_char {
        let seq = self.seq();
        // SAFETY: By the type invariant, the iterator is valid while the record is printed. The
        // bytes are copied.
        unsafe {
            let text = ktrace_seq_position(seq);
            trace_seq_putmem(seq, bytes.as_ptr().cast(), bytes.len() as c_uint);
            trace_seq_putc(seq, 0);
            text
        }
    }

    /// Returns the start and the length in bytes of the data that a `__data_loc` field refers to.
    ///
    /// # Safety
    ///
    /// `location` must be such a field of the record.
    pub(super) unsafe fn dynamic(&self, location: *const u32) -> (*mut u8, usize) {
        // SAFETY: The caller guarantees that this is a field of the record. No alignment is
        // assumed.
        let location = unsafe { location.read_unaligned() };
        let offset = (location & 0xffff) as usize;
        let start = self.record().wrapping_add(offset);
        (start, (location >> 16) as usize)
    }
}
