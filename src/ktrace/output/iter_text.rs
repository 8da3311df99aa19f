// SPDX-License-Identifier: GPL-2.0

//! Reads and shortens the text that an iterator has so far.

use core::ptr::{
    addr_of,
    addr_of_mut, //
};

use crate::ktrace::private::abi;

/// Truncates the text of an iterator to `len` bytes, and clears its overflow flag.
///
/// # Safety
///
/// `iter` must be valid, and its text must have at least `len` bytes.
pub(in crate::ktrace) unsafe fn take_back(iter: *mut abi::trace_iterator, len: usize) {
    // SAFETY: `iter` is valid, as the caller guarantees.
    unsafe {
        addr_of_mut!((*iter).seq.seq.len).write(len);
        addr_of_mut!((*iter).seq.full).write(0);
    }
}

/// Returns the text of an iterator.
///
/// # Safety
///
/// `iter` must be valid, and its text must not change while the result is used.
pub(in crate::ktrace) unsafe fn text_of<'a>(iter: *mut abi::trace_iterator) -> &'a [u8] {
    // SAFETY: `iter` is valid, as the caller guarantees. If its buffer is not null, there are `len`
    // bytes of text in it, and no more than `size`.
    unsafe {
        let seq = addr_of!((*iter).seq.seq);
        match (*seq).buffer.is_null() {
            true => &[],
            false => {
                core::slice::from_raw_parts((*seq).buffer.cast::<u8>(), (*seq).len.min((*seq).size))
            }
        }
    }
}

/// Removes the last line of text, which reports lost records a second time.
///
/// # Safety
///
/// `iter` must be valid.
pub(in crate::ktrace) unsafe fn take_last_line_back(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` is valid, as the caller guarantees, and its text is only changed below.
    let text = unsafe { text_of(iter) };
    let without_end = text.split_last().map_or(&[][..], |(_, rest)| rest);
    let end = without_end.iter().rposition(|byte| *byte == b'\n');
    let len = end.map_or(0, |end| end.wrapping_add(1));
    // SAFETY: `iter` is valid, as the caller guarantees, and its text has at least `len`
    // bytes.
    unsafe { take_back(iter, len) };
}
