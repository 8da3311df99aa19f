// SPDX-License-Identifier: GPL-2.0

//! Where in a record what has no fixed length stands.

use core::mem::size_of;

/// Bytes that a record has at most, so that it fits a page of any ring buffer. What would be longer
/// has its arrays and strings cut off.
pub const MAX_RECORD: usize = 3840;

/// What a field wants behind the fixed part of a record.
#[derive(Clone, Copy)]
pub struct Wish {
    /// How many bytes.
    pub len: usize,
    /// If there is no room for that, it gets whole pieces of so many bytes, a power of two.
    pub piece: usize,
    /// Whether it gets one byte if there is no room at all.
    pub never_empty: bool,
}

/// Bytes behind the fixed part of a record.
#[derive(Clone, Copy)]
pub struct Span {
    offset: usize,
    len: usize,
}

impl Span {
    /// Where they begin, from the beginning of the record.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many there are.
    #[inline]
    pub fn size(&self) -> usize {
        self.len
    }
}

/// A record that is being laid out.
pub struct Layout {
    size: usize,
    /// What is beyond this is cut off.
    end: usize,
}

impl Layout {
    /// With the fixed part `R`.
    #[inline]
    pub const fn new<R>() -> Self {
        // Each field that wants more has a `u32` in the fixed part, and may get one byte when all
        // else is used up: those are set aside.
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

    /// Room for what a field wants, or as much as may be. At most once for each `u32` of the fixed
    /// part.
    #[inline]
    pub fn add(&mut self, wish: Wish) -> Span {
        let offset = self.size;
        let room = self.end.saturating_sub(offset);
        let len = if wish.len <= room {
            wish.len
        } else {
            let pieces = room & !wish.piece.wrapping_sub(1);
            pieces.max(usize::from(wish.never_empty))
        };
        self.size = offset.wrapping_add(len);
        Span { offset, len }
    }

    /// The length of the record.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }
}
