// SPDX-License-Identifier: GPL-2.0

//! Gets and sets the current record of an iterator.

use core::mem::size_of;

use kernel::prelude::*;

use super::pack::Pack;
use crate::ktrace::{
    compact::head::PackHeader,
    private::abi, //
};

/// The current record of an iterator.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct IterPos {
    pub(in crate::ktrace) entry: *mut abi::trace_entry,
    pub(in crate::ktrace) size: c_int,
    pub(in crate::ktrace) ts: u64,
    pub(in crate::ktrace) lost: c_ulong,
    pub(in crate::ktrace) cpu: c_int,
}

impl IterPos {
    /// Reads the current record of an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be valid.
    pub(in crate::ktrace) unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: `iter` is valid, as the caller guarantees.
        unsafe {
            Self {
                entry: (*iter).ent,
                size: (*iter).ent_size,
                ts: (*iter).ts,
                lost: (*iter).lost_events,
                cpu: (*iter).cpu,
            }
        }
    }

    /// Makes this the current record of an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be valid, and the record must exist until the iterator leaves it.
    pub(in crate::ktrace) unsafe fn put(&self, iter: *mut abi::trace_iterator) {
        // SAFETY: `iter` is valid, as the caller guarantees.
        unsafe {
            (*iter).ent = self.entry;
            (*iter).ent_size = self.size;
            (*iter).ts = self.ts;
            (*iter).lost_events = self.lost;
            (*iter).cpu = self.cpu;
        }
    }

    /// Returns whether the record has at least `size` bytes.
    pub(in crate::ktrace) fn is_long(&self, size: usize) -> bool {
        usize::try_from(self.size).is_ok_and(|len| len >= size)
    }

    /// Returns whether the record is a pack.
    ///
    /// # Safety
    ///
    /// The record must exist.
    pub(in crate::ktrace) unsafe fn is_pack(&self, kind: u32) -> bool {
        // SAFETY: The record exists, as the caller guarantees.
        u32::from(unsafe { (*self.entry).type_ }) == kind
    }

    /// Reads the header of this pack. `None` if the record is too short.
    ///
    /// # Safety
    ///
    /// The record must exist, and be a pack.
    pub(in crate::ktrace) unsafe fn pack(&self) -> Option<Pack> {
        // SAFETY: The record is a pack of that size, as the caller guarantees.
        unsafe { Pack::new(self.entry.cast(), self.size.max(0) as usize, self.ts) }
    }

    /// Returns a pointer to the header of this pack.
    pub(in crate::ktrace) fn head(&self) -> *mut PackHeader {
        self.entry
            .cast::<u8>()
            .wrapping_add(size_of::<abi::trace_entry>())
            .cast()
    }
}
