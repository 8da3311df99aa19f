// SPDX-License-Identifier: GPL-2.0

//! The layout of the dynamic part of a record, which holds fields of variable length.

use core::mem::size_of;

/// The maximum length of a record, in bytes, so that it fits in a page of any ring buffer. In a
/// longer record, arrays and strings are truncated.
pub const MAX_RECORD: usize = 3840;

/// The space that a field needs in the dynamic part of a record.
#[derive(Clone, Copy)]
pub struct DynSize {
    /// The length in bytes.
    pub len: usize,
    /// The size of an element in bytes, a power of two. If there is not enough space for `len`, the
    /// field gets space for a whole number of elements.
    pub piece: usize,
    /// Whether the field gets one byte even if there is no space at all.
    pub never_empty: bool,
}

/// The location of a field's bytes in the dynamic part of a record.
#[derive(Clone, Copy)]
pub struct DynLoc {
    offset: usize,
    len: usize,
}

impl DynLoc {
    /// Returns the offset of the first byte from the start of the record.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.len
    }
}

/// A record whose layout is being computed.
pub struct Layout {
    size: usize,
    /// The maximum size of the record; what does not fit is truncated.
    end: usize,
}

impl Layout {
    /// Creates the layout of a record with the fixed part `R` and an empty dynamic part.
    #[inline]
    pub const fn new<R>() -> Self {
        // Each field with a dynamic part has a `u32` in the fixed part and may get one byte
        // although all space is used: these bytes are reserved here.
        let set_aside = size_of::<R>() / size_of::<u32>();
        const {
            assert!(
                size_of::<R>() + size_of::<R>() / size_of::<u32>() <= MAX_RECORD,
                "the record of a trace event is too long"
            )
        };
        Self {
            size: size_of::<R>(),
            end: MAX_RECORD.wrapping_sub(set_aside),
        }
    }

    /// Adds space for a field to the dynamic part, possibly less than it needs. May be called at
    /// most once for each `u32` of the fixed part.
    #[inline]
    pub fn add(&mut self, dyn_size: DynSize) -> DynLoc {
        let offset = self.size;
        let room = self.end.saturating_sub(offset);
        let len = if dyn_size.len <= room {
            dyn_size.len
        } else {
            let pieces = room & !dyn_size.piece.wrapping_sub(1);
            pieces.max(usize::from(dyn_size.never_empty))
        };
        self.size = offset.wrapping_add(len);
        DynLoc { offset, len }
    }

    /// Returns the length of the record in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }
}
