// SPDX-License-Identifier: GPL-2.0

//! How a record is filled.

use super::{
    super::records::put,
    field::{
        Field,
        Slot, //
    },
    layout::Span,
};

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
    let location = (span.size() as u32) << 16 | span.offset() as u32;
    // SAFETY: By the precondition. Whatever the bytes hold, they are bytes.
    let extra = unsafe { core::slice::from_raw_parts_mut(record.add(span.offset()), span.size()) };
    // SAFETY: By the precondition; a slot is what is stored. Records are aligned to
    // four bytes, and fields within them as their types want it.
    unsafe { put(slot.cast::<F::Stored>(), F::store(source, extra, location)) };
}
