// SPDX-License-Identifier: GPL-2.0

//! Shows packs in a `trace` file.
//!
//! The kernel walks such a file record by record (`s_next()`), and has advanced past a record when
//! it prints that record. A pack is copied then and stays open. As long as a pack is open, the next
//! line is the earliest one of all open packs and of the records of the other CPUs, which are taken
//! from the kernel's own iterators. The kernel calls again for the same record if the iterator's
//! `idx` is already one ahead. So one call prints as many lines as fit.

use core::ptr::addr_of_mut;

use kernel::prelude::*;

use super::{
    cursor::PackCursor,
    decode::{
        print_item,
        print_record, //
    },
    iter_pos::IterPos,
    iter_text::text_of,
    pack::Pack,
    reader_state::{
        ReaderState,
        Source, //
    },
};
use crate::ktrace::compact::encoding::Words;
use crate::ktrace::{
    output::{
        printed::Printed,
        seq::Seq, //
    },
    private::{
        abi,
        ring_buffer::{
            ring_buffer_event_data,
            ring_buffer_event_length,
            ring_buffer_iter_advance,
            ring_buffer_iter_dropped,
            ring_buffer_iter_peek, //
        },
    },
};

/// Number of bytes of text after which a call ends. Together with the last line this is less than a
/// page: a file that is read from the middle (`traverse()`) starts with a buffer of one page, and
/// the kernel's text would appear twice if it had to allocate a larger one.
const ENOUGH: usize = 2048;

/// Maximum size in bytes of a record that is printed after other lines. A larger record is printed
/// in a call of its own, where all room is free: the text of some records, such as the bytes of a
/// raw marker, is several times as long.
const SMALL: usize = 256;

impl ReaderState {
    /// Returns whether the iterator resumes with the open packs. If it was reset to the beginning
    /// instead, closes them.
    ///
    /// # Safety
    ///
    /// `iter` must be valid, and belong to a `trace` file.
    pub unsafe fn resumes(&mut self, iter: *mut abi::trace_iterator) -> bool {
        // SAFETY: `iter` is valid, as the caller guarantees.
        if self.nr_open != 0 && self.resume == unsafe { (*iter).idx } {
            return true;
        }
        self.close();
        false
    }

    fn close(&mut self) {
        if self.nr_open != 0 {
            for source in &mut self.sources {
                source.open = None;
            }
            self.nr_open = 0;
        }
    }

    /// Copies the words of a pack, which is open from then on.
    ///
    /// # Safety
    ///
    /// The record of the pack must exist.
    unsafe fn open(&mut self, cpu: usize, pack: &Pack, lost: c_ulong) {
        if let Some(source) = self.sources.get_mut(cpu) {
            // SAFETY: The record exists, as the caller guarantees, and the words are copied here.
            let words = unsafe { pack.in_place() };
            for (n, word) in source.words.iter_mut().enumerate() {
                *word = words.word(n);
            }
            let first = source.read_pos.begin(pack, false);
            let cursor = PackCursor::new(pack, source.words.as_slice(), first, lost);
            if cursor.next.is_some() {
                source.open = Some(cursor);
                self.nr_open = self.nr_open.wrapping_add(1);
            }
        }
    }

    /// Returns the time and the CPU of the earliest item of all open packs.
    fn earliest(&self) -> Option<(u64, usize)> {
        let time = |(cpu, source): (usize, &Source)| Some((source.open.as_ref()?.next?.time, cpu));
        self.sources.iter().enumerate().filter_map(time).min()
    }

    /// Advances the open pack of a CPU by `nr` items.
    fn advance(&mut self, cpu: usize, nr: usize) {
        let Some(source) = self.sources.get_mut(cpu) else {
            return;
        };
        let Some(open) = &mut source.open else {
            return;
        };
        for _ in 0..nr {
            open.advance(source.words.as_slice());
        }
        source.read_pos.done = source.read_pos.done.wrapping_add(nr);
        if open.next.is_none() {
            source.open = None;
            self.nr_open = self.nr_open.wrapping_sub(1);
        }
    }
}

/// Returns the buffer iterator of the file for a CPU; null if there is none.
///
/// # Safety
///
/// `iter` must be valid and belong to a `trace` file, and `cpu` must be a possible CPU.
unsafe fn walk_of(iter: *mut abi::trace_iterator, cpu: usize) -> *mut abi::ring_buffer_iter {
    // SAFETY: `buffer_iter` of a file has an element for each possible CPU.
    unsafe { *(*iter).buffer_iter.add(cpu) }
}

/// Returns the time, the CPU and the size in bytes of the earliest record of the CPUs that have no
/// open pack. The records of the other CPUs follow their open packs.
///
/// # Safety
///
/// `iter` must be valid and belong to a `trace` file.
unsafe fn earliest_record(
    iter: *mut abi::trace_iterator,
    shared: &ReaderState,
) -> Option<(u64, usize, usize)> {
    let time = |(cpu, source): (usize, &Source)| {
        if source.open.is_some() {
            return None;
        }
        let mut ts = 0;
        // SAFETY: `iter` belongs to a `trace` file, as the caller guarantees, and `sources` has
        // only possible CPUs. The file owns its buffer iterators.
        unsafe {
            let walk = walk_of(iter, cpu);
            if walk.is_null() {
                return None;
            }
            let event = ring_buffer_iter_peek(walk, &mut ts);
            let is_there = !event.is_null();
            is_there.then(|| (ts, cpu, ring_buffer_event_length(event) as usize))
        }
    };
    shared.sources.iter().enumerate().filter_map(time).min()
}

/// Returns the next record of a CPU and advances past it. The record exists until the buffer
/// iterator is used again.
///
/// # Safety
///
/// `iter` must be valid and belong to a `trace` file, and `cpu` must be a possible CPU.
unsafe fn next_record(iter: *mut abi::trace_iterator, cpu: usize) -> Option<IterPos> {
    let mut ts = 0;
    // SAFETY: `iter` and `cpu` are as `walk_of()` requires, as the caller guarantees. The file owns
    // its buffer iterators.
    unsafe {
        let walk = walk_of(iter, cpu);
        let event = ring_buffer_iter_peek(walk, &mut ts);
        if event.is_null() {
            return None;
        }
        // The number is not known. The kernel uses the same value.
        let lost = match ring_buffer_iter_dropped(walk) {
            true => c_ulong::MAX,
            false => 0,
        };
        let at = IterPos {
            entry: ring_buffer_event_data(event).cast(),
            size: ring_buffer_event_length(event) as c_int,
            ts,
            lost,
            cpu: cpu as c_int,
        };
        ring_buffer_iter_advance(walk);
        Some(at)
    }
}

/// Prints lines. The first one is of the current pack, unless the iterator
/// resumes (`ReaderState::resumes`).
///
/// # Safety
///
/// `iter` must be the iterator of a `trace` file that the kernel passed to a tracer's `print_line`.
/// `shared` must point to the state for this iterator, with no reference to it.
pub unsafe fn print(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    kind: u32,
) -> Printed {
    // SAFETY: `iter` and `shared` are valid, as the caller guarantees. No reference to `*shared`
    // exists while a line is printed.
    unsafe {
        let begin = IterPos::new(iter);
        let idx = (*iter).idx;
        if (*shared).nr_open == 0 {
            let Some(pack) = begin.pack() else {
                return Printed::Done;
            };
            // Lost records were already reported.
            (*shared).open(begin.cpu.max(0) as usize, &pack, 0);
        }
        let printed = print_lines(iter, shared, kind);
        // The current record exists as long as the file, and is not accessed again.
        IterPos { lost: 0, ..begin }.put(iter);
        let is_open = (*shared).nr_open != 0;
        (*iter).idx = idx.wrapping_add(c_long::from(is_open));
        (*shared).resume = (*iter).idx;
        printed
    }
}

/// Prints lines until there is enough text or no pack is open.
///
/// # Safety
///
/// Those of [`print`].
unsafe fn print_lines(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    kind: u32,
) -> Printed {
    let mut is_first = true;
    // SAFETY: The caller guarantees what [`print`] requires. No reference to `*shared` exists while
    // a line is printed.
    unsafe {
        let mut record = earliest_record(iter, &*shared);
        while let Some((time, cpu)) = (*shared).earliest() {
            if text_of(iter).len() > ENOUGH {
                break;
            }
            match record.filter(|record| (record.0, record.1) < (time, cpu)) {
                Some((_, _, size)) if size > SMALL && !is_first => break,
                Some((_, cpu, _)) => {
                    if let Some(at) = next_record(iter, cpu) {
                        print_other(iter, shared, kind, &at);
                        is_first = false;
                    }
                    record = earliest_record(iter, &*shared);
                }
                None => match print_open(iter, shared, cpu) {
                    Some(is_open) => {
                        is_first = false;
                        if !is_open {
                            record = earliest_record(iter, &*shared);
                        }
                    }
                    // The kernel reports that it is too big.
                    None if is_first => {
                        (*shared).advance(cpu, 1);
                        return Printed::Partial;
                    }
                    None => break,
                },
            }
        }
    }
    Printed::Done
}

/// Prints the next item of an open pack. Returns whether the pack is still open, or `None` if there
/// was no room.
///
/// # Safety
///
/// Those of [`print`].
unsafe fn print_open(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    cpu: usize,
) -> Option<bool> {
    // SAFETY: The caller guarantees what [`print`] requires. No reference to `*shared` exists while
    // a line is printed.
    unsafe {
        let next = |shared: &ReaderState| {
            let source = shared.sources.get(cpu)?;
            let open = source.open.as_ref()?;
            let what = (open.pid, cpu as c_int, open.lost);
            Some((what, open.next?, open.ahead(source.words.as_slice())))
        };
        let (what, decoded, ahead) = next(&*shared)?;
        let (_, with_next) = print_item(iter, what, &decoded, ahead, shared)?;
        let before = (*shared).nr_open;
        (*shared).advance(cpu, usize::from(with_next).wrapping_add(1));
        Some((*shared).nr_open == before)
    }
}

/// Prints a record of another CPU, or opens it if it is a pack.
///
/// # Safety
///
/// Those of [`print`]; the record `at` must exist.
unsafe fn print_other(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    kind: u32,
    at: &IterPos,
) {
    // SAFETY: The caller guarantees what [`print`] requires, and that the record exists. No
    // reference to `*shared` exists while a line is printed.
    unsafe {
        if at.is_pack(kind) {
            if let Some(pack) = at.pack() {
                (*shared).open(at.cpu.max(0) as usize, &pack, at.lost);
            }
        } else if print_record(iter, at, shared).is_none() {
            // The kernel prints the same text.
            Seq::from_raw(addr_of_mut!((*iter).seq)).text("[LINE TOO BIG]\n");
        }
    }
}
