// SPDX-License-Identifier: GPL-2.0

//! Finds the return with which the next pack begins, so that a call and its return are one line
//! even if they are in different records.

use core::{
    mem::size_of,
    ptr::addr_of_mut, //
};

use super::{
    cursor::PackCursor,
    pack::Pack,
    reader_state::ReadPos,
    synthetic::return_of, //
};
use crate::ktrace::{
    compact::{
        encoding::Item,
        head::PackHeader, //
    },
    private::abi,
    record::GraphReturn, //
};

/// The return with which a pack begins, and which is printed with the entry in the record before
/// it.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct FirstReturn {
    pub(in crate::ktrace) ret: GraphReturn,
    /// Whether the pack has no other item.
    pub(in crate::ktrace) is_only: bool,
    /// The record of the pack.
    record: *const u8,
    serial: u32,
}

impl FirstReturn {
    /// Returns the first item of the pack at `record`, whose time is `ts`. `None` if that is not a
    /// return, or if it may have been printed before.
    ///
    /// # Safety
    ///
    /// `record` must point to a pack of `len` bytes.
    pub(in crate::ktrace) unsafe fn of(record: *const u8, len: usize, ts: u64) -> Option<Self> {
        // SAFETY: `record` points to a pack of `len` bytes, as the caller guarantees.
        let pack = unsafe { Pack::new(record, len, ts) }?;
        if pack.taken != 0 || pack.repeats != 0 {
            return None;
        }
        // SAFETY: The words are read before this function returns, and the record exists until
        // then.
        let words = unsafe { pack.in_place() };
        let mut cursor = PackCursor::new(&pack, &words, 0, 0);
        let decoded = cursor.next?;
        cursor.advance(&words);
        match decoded.item {
            Item::Return(call) => Some(Self {
                ret: return_of(&decoded, &call),
                is_only: cursor.next.is_none(),
                record,
                serial: pack.serial,
            }),
            _ => None,
        }
    }

    /// Stores, for a file, that the first item of the pack is printed.
    pub(in crate::ktrace) fn remember(&self, read_pos: &mut ReadPos) {
        read_pos.joined = Some(self.serial);
    }

    /// Stores in the pack that its first item is printed, for a reader that consumes records.
    ///
    /// # Safety
    ///
    /// The pack must be the next record of its CPU, and this must be the only reader of that CPU.
    pub(in crate::ktrace) unsafe fn take(&self) {
        let head: *mut PackHeader = self
            .record
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast_mut()
            .cast();
        // SAFETY: The pack is the next record, as the caller guarantees, so it is on the reader
        // page, and no other reader accesses it.
        unsafe { addr_of_mut!((*head).taken).write(1) };
    }
}
