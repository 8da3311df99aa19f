// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keeps parts of a compressed recording in memory as long as they are read.
//!
//! A compressed recording consists of chunks of several pages. libtracecmd frees a chunk with the
//! last of its pages that is in use, and it frees a page before it reads the next one. So it
//! uncompresses each chunk once for each of its pages. A reference to a record of the latest page
//! keeps the chunk until a record of the next page has been read.

use std::ptr::NonNull;

use super::bindings;

/// All pages are multiples of this size in bytes.
const PAGE: u64 = 4096;

/// A record of the latest page of each CPU.
#[derive(Default)]
pub(super) struct Pages {
    /// By buffer and CPU.
    held: Vec<Vec<Option<Held>>>,
}

impl Pages {
    /// Holds the page of a record, instead of the page that was held before for this buffer and
    /// CPU.
    ///
    /// # Safety
    ///
    /// The record must be valid, and its recording stay open as long as `self` exists.
    #[inline]
    pub(super) unsafe fn hold(&mut self, buffer: usize, record: NonNull<bindings::tep_record>) {
        // SAFETY: The record is valid.
        let (offset, cpu) = unsafe { (record.as_ref().offset, record.as_ref().cpu) };
        let (page, cpu) = (offset / PAGE, usize::try_from(cpu).unwrap_or(0));
        if let Some(Some(held)) = self.held.get(buffer).and_then(|cpus| cpus.get(cpu)) {
            if held.page == page {
                return;
            }
        }
        // SAFETY: By the requirements of this function.
        let held = unsafe { Held::new(page, record) };
        *self.place(buffer, cpu) = Some(held);
    }

    fn place(&mut self, buffer: usize, cpu: usize) -> &mut Option<Held> {
        if self.held.len() <= buffer {
            self.held.resize_with(buffer + 1, Vec::new);
        }
        let cpus = &mut self.held[buffer];
        if cpus.len() <= cpu {
            cpus.resize_with(cpu + 1, || None);
        }
        &mut cpus[cpu]
    }
}

/// A reference to a record, which keeps its page.
struct Held {
    page: u64,
    record: NonNull<bindings::tep_record>,
}

impl Held {
    /// Takes a reference.
    ///
    /// # Safety
    ///
    /// The record must be valid, and its recording stay open as long as the reference exists.
    unsafe fn new(page: u64, record: NonNull<bindings::tep_record>) -> Self {
        // SAFETY: The record is valid.
        unsafe { bindings::tracecmd_record_ref(record.as_ptr()) };
        Self { page, record }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: The record is valid because of the reference, which is not used after this.
        unsafe { bindings::tracecmd_free_record(self.record.as_ptr()) };
    }
}
