// SPDX-License-Identifier: GPL-2.0

//! Defines the header of a pack.

use core::mem::size_of;

use crate::ktrace::private::abi;

/// The header of a pack, after the common header of records.
#[repr(C)]
pub struct PackHeader {
    /// Offset in bytes from the beginning of the record to the first word.
    pub start: u8,
    /// Number of items that the previous pack of the same CPU has if it contains the first item of
    /// this pack too; 0 if it cannot contain it.
    pub repeats: u8,
    /// Number of items that a reader has consumed, while it left the others in the buffer.
    pub taken: u8,
    /// [`super::encoding::TextLayout::site_shift`].
    pub site_shift: u8,
    /// Serial number of the pack on its CPU.
    pub serial: u32,
    /// Length of a counter tick in ns, times 2^22.
    pub mult: u32,
    /// Bits 16 to 47 of [`super::encoding::TextLayout::base`]; the bits above are 1, those below 0.
    pub text: u32,
    /// Offset of the words, and their size in bytes, used or not, in the format that trace events
    /// use for a dynamic array: for clients that do not know packs.
    pub words: u32,
}

/// Smallest offset of the first word in a record.
pub const FIRST_WORD: usize = size_of::<abi::trace_entry>() + size_of::<PackHeader>();
