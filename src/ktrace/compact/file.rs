// SPDX-License-Identifier: GPL-2.0

//! Packs in a `trace` file.
//!
//! The kernel walks such a file record by record (`s_next()`), and has gone past a record when that is
//! printed. A pack is copied then and stays open. As long as one is, the next line is the earliest of all
//! open packs, and of the records of the other CPUs, which are taken from the kernel's own iterators. The
//! kernel comes again without going on if the iterator's `idx` has been raised by one already: so one call
//! prints as many lines as fit.

use core::ptr::addr_of_mut;

use kernel::prelude::*;

use super::expand::{
    print_item,
    print_record,
    text_of,
    At,
    Cursor,
    Pack,
    Shared,
    Source, //
};
use super::word::Words;
use crate::ktrace::{
    abi,
    iter::Printed,
    ring_buffer::{
        ring_buffer_event_data,
        ring_buffer_event_length,
        ring_buffer_iter_advance,
        ring_buffer_iter_dropped,
        ring_buffer_iter_peek, //
    },
    seq::Seq, //
};

/// How many bytes of text are enough for one call. With the line that goes beyond, it is less than a page:
/// a file that is read from the middle (`traverse()`) begins with no more room, and would have the
/// kernel's text twice if it had to find more.
const ENOUGH: usize = 2048;

/// How many bytes a record may have, not to be printed in a call of its own, where it has all the room that there is: the text
/// of some, such as the bytes of a raw marker, is several times as long.
const SMALL: usize = 256;

impl Shared {
    /// Whether the iterator comes again for the rest of what is open. If it was taken back to the
    /// beginning instead, nothing is open any more.
    ///
    /// # Safety
    ///
    /// `iter` must be valid, and that of a file.
    pub unsafe fn resumes(&mut self, iter: *mut abi::trace_iterator) -> bool {
        // SAFETY: By the precondition.
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

    /// Copies the words of a pack.
    ///
    /// # Safety
    ///
    /// Its record must be there.
    unsafe fn open(&mut self, cpu: usize, pack: &Pack, lost: c_ulong) {
        if let Some(source) = self.sources.get_mut(cpu) {
            // SAFETY: By the precondition.
            let words = unsafe { pack.in_place() };
            for (n, word) in source.words.iter_mut().enumerate() {
                *word = words.word(n);
            }
            let first = source.place.begin(pack, false);
            let cursor = Cursor::new(pack, source.words.as_slice(), first, lost);
            if cursor.next.is_some() {
                source.open = Some(cursor);
                self.nr_open = self.nr_open.wrapping_add(1);
            }
        }
    }

    /// The CPU whose open pack has the earliest item, and when that was.
    fn earliest(&self) -> Option<(u64, usize)> {
        let time = |(cpu, source): (usize, &Source)| Some((source.open.as_ref()?.next?.time, cpu));
        self.sources.iter().enumerate().filter_map(time).min()
    }

    /// Goes past items of an open pack.
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
        source.place.done = source.place.done.wrapping_add(nr);
        if open.next.is_none() {
            source.open = None;
            self.nr_open = self.nr_open.wrapping_sub(1);
        }
    }
}

/// How the file walks the buffer of a CPU; null if it does not.
///
/// # Safety
///
/// `iter` must be that of a file, and `cpu` one that there may be.
unsafe fn walk_of(iter: *mut abi::trace_iterator, cpu: usize) -> *mut abi::ring_buffer_iter {
    // SAFETY: By the precondition: there is a place for each.
    unsafe { *(*iter).buffer_iter.add(cpu) }
}

/// The earliest record of the CPUs that have no open pack: when that was, where, and of how many bytes. What comes on
/// the others is behind their packs.
///
/// # Safety
///
/// `iter` must be that of a file.
unsafe fn earliest_record(
    iter: *mut abi::trace_iterator,
    shared: &Shared,
) -> Option<(u64, usize, usize)> {
    let time = |(cpu, source): (usize, &Source)| {
        if source.open.is_some() {
            return None;
        }
        let mut ts = 0;
        // SAFETY: By the precondition; the file holds its iterators.
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

/// Goes past the next record of a CPU, which stays until it is looked for the next one.
///
/// # Safety
///
/// As for [`walk_of`].
unsafe fn next_record(iter: *mut abi::trace_iterator, cpu: usize) -> Option<At> {
    let mut ts = 0;
    // SAFETY: By the precondition.
    unsafe {
        let walk = walk_of(iter, cpu);
        let event = ring_buffer_iter_peek(walk, &mut ts);
        if event.is_null() {
            return None;
        }
        // As the kernel has it: nobody knows how many.
        let lost = match ring_buffer_iter_dropped(walk) {
            true => c_ulong::MAX,
            false => 0,
        };
        let at = At {
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

/// Prints lines, the first of them of the pack that the iterator is at, unless it
/// [resumes](Shared::resumes).
///
/// # Safety
///
/// `iter` must be what the kernel passed to a tracer's `print_line`, that of a file. `shared` must be to
/// what is kept for it, with no reference to it.
pub unsafe fn print(iter: *mut abi::trace_iterator, shared: *mut Shared, kind: u32) -> Printed {
    // SAFETY: By the precondition, here and below; no reference to what is shared is left when a line
    // is printed.
    unsafe {
        let begin = At::new(iter);
        let idx = (*iter).idx;
        if (*shared).nr_open == 0 {
            let Some(pack) = begin.pack() else {
                return Printed::Done;
            };
            // It was said already how many records were lost.
            (*shared).open(begin.cpu.max(0) as usize, &pack, 0);
        }
        let printed = print_lines(iter, shared, kind);
        // What the iterator is at is there as long as the file, and not looked at again.
        At { lost: 0, ..begin }.put(iter);
        let is_open = (*shared).nr_open != 0;
        (*iter).idx = idx.wrapping_add(c_long::from(is_open));
        (*shared).resume = (*iter).idx;
        printed
    }
}

/// # Safety
///
/// As for [`print`].
unsafe fn print_lines(iter: *mut abi::trace_iterator, shared: *mut Shared, kind: u32) -> Printed {
    let mut is_first = true;
    // SAFETY: By the precondition; as there.
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
                    // The kernel says that it is too big.
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

/// Prints the next item of a pack that is open; whether it still is. `None` if there was no room.
///
/// # Safety
///
/// As for [`print`].
unsafe fn print_open(
    iter: *mut abi::trace_iterator,
    shared: *mut Shared,
    cpu: usize,
) -> Option<bool> {
    // SAFETY: By the precondition; as there.
    unsafe {
        let next = |shared: &Shared| {
            let source = shared.sources.get(cpu)?;
            let open = source.open.as_ref()?;
            let what = (open.pid, cpu as c_int, open.lost);
            Some((what, open.next?, open.ahead(source.words.as_slice())))
        };
        let (what, said, ahead) = next(&*shared)?;
        let (_, with_next) = print_item(iter, what, &said, ahead, shared)?;
        let before = (*shared).nr_open;
        (*shared).advance(cpu, usize::from(with_next).wrapping_add(1));
        Some((*shared).nr_open == before)
    }
}

/// Prints a record of another CPU, or has it open if it is a pack.
///
/// # Safety
///
/// As for [`print`]; the record is there.
unsafe fn print_other(iter: *mut abi::trace_iterator, shared: *mut Shared, kind: u32, at: &At) {
    // SAFETY: By the precondition; as there.
    unsafe {
        if at.is_pack(kind) {
            if let Some(pack) = at.pack() {
                (*shared).open(at.cpu.max(0) as usize, &pack, at.lost);
            }
        } else if print_record(iter, at, shared).is_none() {
            // As the kernel says it.
            Seq::from_raw(addr_of_mut!((*iter).seq)).text("[LINE TOO BIG]\n");
        }
    }
}
