// SPDX-License-Identifier: GPL-2.0

//! Shows packs while another tracer is current: the print function of the pack event.
//!
//! The kernel prints the columns in front of the text (task, CPU, time), and then calls the event
//! for the text, once for each record. Here, such a call shows one item on a line of its own, with
//! its own time, and makes the kernel process the same record again for the next item:
//!
//! * For a `trace` file, the iterator's `idx` is set one ahead (see [`super::trace_reader`]). The
//!   record is a copy that belongs to the iterator, and its [`Head::taken`] is the number of items
//!   shown.
//! * For readers that consume records, and the dump of a crashing kernel, the result says not to
//!   consume this record. The number of items shown is stored in the record in the ring buffer, as
//!   in [`super::pipe_reader`].
//!
//! The columns that the kernel has printed are those of the pack. They are removed, and the kernel
//! prints a record of that item alone instead ([`Single`]), for which it calls the event again. So
//! the line has the columns of the current tracer and of the options that are set, whatever these
//! are.
//!
//! An iterator has no member in which state could be kept between two calls. So lines of other CPUs
//! are not put between those of a pack, and an item that was written twice ([`Head::repeats`]) is
//! shown twice.
//!
//! C header: `include/linux/trace_events.h`.
//!
//! [`Head::taken`]: crate::ktrace::compact::head::PackHeader::taken
//! [`Head::repeats`]: crate::ktrace::compact::head::PackHeader::repeats

use core::{
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::{
    page::PAGE_SIZE,
    prelude::*, //
};

use super::next_record::ktrace_buffer_iter;
use super::{
    cursor::PackCursor,
    iter_pos::IterPos,
    iter_text::{
        take_back,
        text_of, //
    },
    pack::Pack,
    printed::Printed,
    seq::Seq,
    single::{
        print_single,
        print_text,
        Shown,
        Single,
        NOTHING, //
    },
};
use crate::ktrace::private::{
    abi,
    ring_buffer::{
        ring_buffer_event_data,
        ring_buffer_event_length,
        ring_buffer_peek, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    pub(in crate::ktrace) fn ktrace_irqs_disabled() -> bool;
}

/// The text that function_graph prints before and after a record that is not a call.
const COMMENT: &[u8] = b"/* ";
const COMMENT_END: &[u8] = b" */\n";

/// The type of the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A file, at a copy of the record.
    File,
    /// A file that cannot return to the record: that of kdb, or one for which memory was short.
    ReadOnce,
    /// A reader that consumes records.
    Pipe,
}

impl Reader {
    /// Returns the type of the reader.
    ///
    /// # Safety
    ///
    /// `iter` must be valid.
    unsafe fn of(iter: *mut abi::trace_iterator) -> Self {
        // SAFETY: `iter` is valid, as the caller guarantees.
        unsafe {
            match (*iter).buffer_iter.is_null() {
                true => Self::Pipe,
                false if ktrace_buffer_iter(iter).is_null() || ktrace_irqs_disabled() => {
                    Self::ReadOnce
                }
                false => Self::File,
            }
        }
    }

    /// Returns the number of the first item to show.
    ///
    /// # Safety
    ///
    /// `iter` must be valid and at the record of `pack`.
    unsafe fn first(self, iter: *mut abi::trace_iterator, pack: &Pack) -> usize {
        // SAFETY: `iter` is valid, as the caller guarantees.
        let (pos, idx) = unsafe { ((*iter).pos, (*iter).idx) };
        // Such a reader does not use `pos`, and each `read()` sets it again: see
        // `super::pipe_reader`. If this record was already shown, its text was discarded.
        match self {
            Self::Pipe if pos >= 0 && pos as u32 == idx as u32 => (pos >> 32) as usize,
            _ => pack.taken(),
        }
    }

    /// Stores that the items from `first` up to `done` were shown. Returns what happens to the
    /// record; `more` says whether it has more items.
    ///
    /// # Safety
    ///
    /// `iter` must be valid and at the record `at`, which is a pack.
    unsafe fn showed(
        self,
        iter: *mut abi::trace_iterator,
        at: &IterPos,
        (first, done): (usize, usize),
        more: bool,
    ) -> Printed {
        // SAFETY: `iter` is valid and at that record, as the caller guarantees. The record of a
        // file is a copy that belongs to the file.
        unsafe {
            match self {
                Self::File => {
                    addr_of_mut!((*at.head()).taken).write(done as u8);
                    (*iter).idx = (*iter).idx.wrapping_add(c_long::from(more));
                    Printed::Done
                }
                Self::ReadOnce => {
                    if more {
                        let mut seq = Seq::from_raw(addr_of_mut!((*iter).seq));
                        seq.text("# this record has more calls, which are not shown here\n");
                    }
                    Printed::Done
                }
                Self::Pipe => {
                    (*iter).pos = (first as i64) << 32 | i64::from((*iter).idx as u32);
                    match more && set_taken(iter, at, done) {
                        true => Printed::Kept,
                        false => Printed::Done,
                    }
                }
            }
        }
    }
}

/// Stores the number of shown items in the pack that is in the ring buffer. Returns false if the
/// next record there is not the pack: then the reader cannot return to it.
///
/// # Safety
///
/// `iter` must belong to a reader that consumes records, and `at` must be its current record.
unsafe fn set_taken(iter: *mut abi::trace_iterator, at: &IterPos, done: usize) -> bool {
    let (mut ts, mut lost) = (0, 0);
    // SAFETY: `buffer` is the buffer that is read. Its next record exists as long as this reader
    // excludes other readers and does not consume it.
    unsafe {
        let buffer = (*(*iter).array_buffer).buffer;
        let event = ring_buffer_peek(buffer, at.cpu, &mut ts, &mut lost);
        if event.is_null() {
            return false;
        }
        let there = IterPos {
            entry: ring_buffer_event_data(event).cast(),
            size: ring_buffer_event_length(event) as c_int,
            ts,
            lost,
            cpu: at.cpu,
        };
        let kind = u32::from((*at.entry).type_);
        let is_same = there.is_pack(kind)
            && match (there.pack(), at.pack()) {
                (Some(there), Some(own)) => there.is_same(&own),
                _ => false,
            };
        if is_same {
            addr_of_mut!((*there.head()).taken).write(done as u8);
        }
        is_same
    }
}

/// Shows the next item of the pack at an iterator, or the text of a [`Single`].
///
/// # Safety
///
/// Only for the print function in `event.c`: `iter` must be valid and at a record with the type
/// number of packs.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_print(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: `iter` is valid and at a record of that type, as the caller guarantees. The length of
    // the record is checked before it is read.
    unsafe {
        let at = IterPos::new(iter);
        if at.is_long(size_of::<Single>()) && (*at.head()).start == 0 {
            return print_text(iter, &at);
        }
        match at.pack() {
            Some(pack) => print_next(iter, at, &pack),
            None => print_nothing(iter),
        }
    }
}

/// Prints the text of a record that has no items.
///
/// # Safety
///
/// `iter` must be valid.
unsafe fn print_nothing(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: `iter` is valid, as the caller guarantees, and only this function uses its text.
    let mut seq = unsafe { Seq::from_raw(addr_of_mut!((*iter).seq)) };
    seq.text("funcgraph_pack: no calls\n");
    seq.code()
}

/// Prints the next item of a pack, with its own columns.
///
/// # Safety
///
/// `iter` must be valid and at the record `at`, which is `pack`.
unsafe fn print_next(iter: *mut abi::trace_iterator, at: IterPos, pack: &Pack) -> c_uint {
    // SAFETY: `iter` is valid and at that record, as the caller guarantees. The words are read
    // before the kernel looks for the next record.
    unsafe {
        let reader = Reader::of(iter);
        let first = reader.first(iter, pack);
        let words = pack.in_place();
        let own = PackCursor::new(pack, &words, first, 0);
        let Some(decoded) = own.next else {
            return print_nothing(iter);
        };
        let mut next = own;
        next.advance(&words);
        let shown = Shown::new(&decoded, next.next.as_ref());
        if shown.nr > 1 {
            next.advance(&words);
        }
        let more = next.next.is_some();

        let text = text_of(iter);
        let (len, is_comment) = (text.len(), text.ends_with(COMMENT));
        // Prints the columns again, without a text, to find out their length.
        let kind = (*at.entry).type_;
        let mut single = Single::new(kind, own.pid, &decoded, &shown);
        single.what = NOTHING;
        let here = IterPos { lost: 0, ..at };
        let (printed, before) = print_single(iter, &mut single, here);
        if printed != Printed::Done as c_uint {
            here.put(iter);
            return Printed::Partial as c_uint;
        }
        let columns = before.saturating_sub(len);
        take_back(iter, len.saturating_sub(columns));

        single.what = shown.what;
        let then = IterPos {
            ts: shown.time,
            ..here
        };
        let (printed, _) = print_single(iter, &mut single, then);
        at.put(iter);
        let is_whole = printed == Printed::Done as c_uint && (*iter).seq.full == 0;
        // If the text is longer than a page, `splice()` passes the first page to the reader, and
        // the kernel drops the rest.
        let is_too_long = reader == Reader::Pipe && text_of(iter).len() > PAGE_SIZE;
        if !is_whole || is_too_long && columns < len {
            return Printed::Partial as c_uint;
        }
        let done = first.wrapping_add(shown.nr);
        let printed = reader.showed(iter, &at, (first, done), more);
        if is_comment && printed == Printed::Done {
            // function_graph itself adds the end of the comment.
            let len = text_of(iter).len();
            if text_of(iter).ends_with(COMMENT_END) {
                take_back(iter, len.saturating_sub(COMMENT_END.len()));
            }
        }
        printed.code()
    }
}
