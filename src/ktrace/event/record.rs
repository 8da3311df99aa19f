// SPDX-License-Identifier: GPL-2.0

//! How long a record is, and how it is filled.

use core::mem::size_of;

use super::{
    super::records::put,
    field::{
        Field,
        Slot, //
    },
};

/// Bytes that a record has at most, so that it fits a page of any ring buffer. What would be longer
/// has its arrays and strings cut off.
pub const MAX_RECORD: usize = 3840;

/// Bytes behind the fixed part of a record.
#[derive(Clone, Copy)]
pub struct Span {
    offset: usize,
    len: usize,
}

/// A record that is being laid out.
pub struct Layout(usize);

impl Layout {
    /// With the fixed part `R`.
    #[inline]
    pub const fn new<R>() -> Self {
        const {
            assert!(
                size_of::<R>() <= MAX_RECORD,
                "the record of a trace event is too long"
            )
        };
        Self(size_of::<R>())
    }

    /// Room for as many bytes more, or as many as may be.
    #[inline]
    pub fn add(&mut self, len: usize) -> Span {
        let offset = self.0;
        let len = len.min(MAX_RECORD.saturating_sub(offset));
        self.0 = offset.wrapping_add(len);
        Span { offset, len }
    }

    /// The length of the record.
    #[inline]
    pub fn size(&self) -> usize {
        self.0
    }
}

/// Writes one field.
///
/// # Safety
///
/// `slot` must be the place of the field in `record`, to which the caller alone may write, and
/// `span` be within it.
#[inline]
pub unsafe fn store<F: Field>(
    record: *mut u8,
    slot: *mut Slot<F>,
    source: F::Source<'_>,
    span: Span,
) {
    let location = (span.len as u32) << 16 | span.offset as u32;
    // SAFETY: By the precondition. Whatever the bytes hold, they are bytes.
    let extra = unsafe { core::slice::from_raw_parts_mut(record.add(span.offset), span.len) };
    // SAFETY: By the precondition; a slot is what is stored. Records are aligned to
    // four bytes, and fields within them as their types want it.
    unsafe { put(slot.cast::<F::Stored>(), F::store(source, extra, location)) };
}
