// SPDX-License-Identifier: GPL-2.0

//! Storing of fields in a record.

use super::{
    field::{
        Field,
        StoredField, //
    },
    layout::DynLoc, //
};
use crate::ktrace::record::put;

/// Writes one field to a record.
///
/// # Safety
///
/// `slot` must be the location of the field in `record`, and `span` must be within `record`. Only
/// the caller may access the record.
#[inline]
pub unsafe fn store<F: Field>(
    record: *mut u8,
    slot: *mut StoredField<F>,
    source: F::Source<'_>,
    span: DynLoc,
) {
    let location = (span.size() as u32) << 16 | span.offset() as u32;
    // SAFETY: The caller guarantees that `span` is within the record, which no other code accesses.
    // Bytes may have any value.
    let extra = unsafe { core::slice::from_raw_parts_mut(record.add(span.offset()), span.size()) };
    // SAFETY: The caller guarantees that `slot` is a location in the record, and `StoredField<F>`
    // has the layout of `F::Stored`. Records are aligned to 4 bytes and fields in them as their
    // types require, which is what `put()` needs.
    unsafe { put(slot.cast::<F::Stored>(), F::store(source, extra, location)) };
}
