// SPDX-License-Identifier: GPL-2.0

//! Adds an item to a pack, a ring-buffer record that holds several items (calls) and was committed
//! before. This is safe for the reasons below.
//!
//! # How a record can grow
//!
//! Nearly all of the cost of a record is its place: the ring buffer has to find one that no
//! interrupt, no reader and no other CPU uses. So a pack is written once, as a record with room for
//! a number of words, all zero, and committed immediately like any other record. While it is the
//! last record of its CPU, the next items are stored in it.
//!
//! A pack is the last record as long as the tail of the ring buffer is at its end and the last time
//! stamp is its own. If the buffer is emptied and filled again in between, the time stamp differs,
//! provided that the clock advances ([`ClockRate`]). Each other writer of a record (this module, a
//! trace event, `trace_marker`) moves the tail and changes the time stamp, so no notification and
//! no lock is needed, and each record behind a pack is later than all items of the pack. Nothing is
//! stored outside the ring buffer, so nothing has to be written out when tracing stops, a reader
//! arrives, a CPU goes offline or the kernel crashes.
//!
//! # What keeps the page in place
//!
//! Between the check of the tail and the write, an interrupt may fill the buffer, or a reader may
//! take the page. The ring buffer prevents both for its own writers with `committing`: while it is
//! not zero, the commit page does not change; a writer that wraps around to it drops its record,
//! and a reader copies from it, but does not take it. This module raises and lowers `committing` in
//! the same way. If an interrupt writes a record in between, it finds `committing` raised and does
//! not commit the record; `commits` shows this. This module then commits that record, as the ring
//! buffer's own writers do when they end, even if recording is disabled now: the interrupt may have
//! disabled it.
//!
//! As in the ring buffer's own writers, all of this happens with preemption off and after a check
//! of `record_disabled`: once recording is disabled and an RCU grace period has passed, no writer
//! is active.
//!
//! # Readers
//!
//! A reader that has reached the page of a pack may have read the pack, and would not see new
//! items. `reader_page` shows this; then no item is added, and no pack is begun while the reader
//! keeps up with the writer. A reader may also arrive during the write. So the word is written
//! first, then comes a barrier, and then a check whether the page is still in the ring. The reader
//! takes the page out with a `cmpxchg()` (`rb_head_page_replace()`), which is a barrier as well,
//! and reads after that. In between it sets `reader_page`, but that store is not ordered before its
//! reads. If the page is no longer in the ring, the reader may or may not have seen the word. The
//! item is written again, into a pack that is marked accordingly ([`Head::repeats`]), and a reader
//! skips it if the previous pack has it.
//!
//! The page is in the ring if the page before it points to it, apart from the low bits that mark
//! the head page. The page before it is allocated as long as preemption is off: pages are freed by
//! the CPU that writes to them (`update_pages_handler()`), or while it does not write. For a page
//! that has become the reader page, the page that pointed to it may have been freed long ago;
//! therefore `reader_page` is checked first.
//!
//! # Interrupts
//!
//! An interrupt handler that has interrupted a writer finds `committing` raised, and packs nothing.
//! The interrupted writer may have read its time, but not reserved its place. It notices a record
//! that is written in between, and reads the time again. It would not notice a word in a pack, and
//! its record would follow an item that is later.
//!
//! Each CPU has a `PerCpuPack`, which one context uses at a time. A context that finds it in use,
//! NMIs included, writes a normal record, behind the pack. An item that the interrupted context
//! then adds to the pack is earlier than that record.
//!
//! [`Head::repeats`]: super::head::PackHeader::repeats
//! [`ClockRate`]: crate::ktrace::time::clock::ClockRate

use core::ptr::{
    addr_of,
    addr_of_mut, //
};

use super::{
    commit::{
        catch_up,
        RING_FLAGS, //
    },
    state::PerCpuPack, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    time::counter, //
};

/// The result of adding words to a pack.
pub(super) enum AddResult {
    /// The words were written.
    Added,
    /// The words were written, but a reader may have read the page before.
    Doubtful,
    /// Not written: the pack is not the last record any more, or a reader or an interrupted writer
    /// uses the page.
    Closed,
    /// Not written: recording is disabled.
    Off,
}

impl PerCpuPack {
    /// Writes words into the pack if it is the last record of this CPU.
    ///
    /// # Safety
    ///
    /// Preemption must be off, and the pack must have room for the words from index `at` on.
    #[inline]
    pub(super) unsafe fn add(&self, tr: &TraceArray, at: usize, words: &[u64]) -> AddResult {
        let buffer = tr.buffer();
        let page = self.page;
        if page.is_null() {
            return AddResult::Closed;
        }
        // SAFETY: `buffer` belongs to a live trace array. `page` is not null, so `part` is this
        // CPU's part of one of its two buffers; whether it is this one is compared. If `page` is
        // the tail page, it stays in place while `committing` is raised (see the module
        // documentation), and the pack on it has room for the words, as the caller guarantees. All
        // other accesses are to single words, which are read or written as a whole.
        unsafe {
            let part = self.part;
            if addr_of!((*part).buffer).read_volatile() != buffer {
                return AddResult::Closed;
            }
            if addr_of!((*buffer).record_disabled.counter).read_volatile() != 0 {
                return AddResult::Off;
            }
            if addr_of!((*part).record_disabled.counter).read_volatile() != 0 {
                return AddResult::Off;
            }
            let committing: *mut usize = addr_of_mut!((*part).committing).cast();
            let commits: *const usize = addr_of!((*part).commits).cast();
            // Read before `committing` is raised: see `ktrace_pack_put()` in `compact.h`.
            let before = commits.read_volatile();
            // An interrupt raises it too, but lowers it again before this code continues.
            if committing.read_volatile() != 0 {
                return AddResult::Closed;
            }
            committing.write_volatile(1);
            let is_last = addr_of!((*part).tail_page).read_volatile() == page
                && addr_of!((*part).buffer).read_volatile() == buffer
                && addr_of!((*part).write_stamp).cast::<u64>().read_volatile() == self.stamp
                && addr_of!((*part).reader_page).read_volatile() != page
                && addr_of!((*page).write).cast::<usize>().read_volatile() == self.write;
            let result = if is_last {
                for (n, word) in words.iter().enumerate() {
                    self.words.add(at.wrapping_add(n)).write_volatile(*word);
                }
                counter::full_barrier();
                let list = addr_of!((*page).list);
                let before = addr_of!((*list).prev).read_volatile();
                let leads_to = addr_of!((*before).next).read_volatile();
                match leads_to.addr() & !RING_FLAGS == list.addr() {
                    true => AddResult::Added,
                    false => AddResult::Doubtful,
                }
            } else {
                AddResult::Closed
            };
            committing.write_volatile(0);
            if commits.read_volatile() != before {
                catch_up(part);
            }
            result
        }
    }
}
