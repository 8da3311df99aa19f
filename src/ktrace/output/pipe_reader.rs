// SPDX-License-Identifier: GPL-2.0

//! Shows packs to readers that consume what they read: `trace_pipe`, and the dump of a crashing
//! kernel.
//!
//! Each call prints one line: an item of the current pack, or a record of another CPU that precedes
//! that item. The result makes the kernel keep the pack in the buffer, and so call again for the
//! same pack, until its last item is printed.

use core::ptr::{
    addr_of_mut,
    null_mut, //
};

use kernel::prelude::*;

use super::{
    cursor::PackCursor,
    decode::{
        print_item,
        print_record, //
    },
    iter_pos::IterPos,
    iter_text::{
        take_last_line_back,
        text_of, //
    },
    pack::InPlace,
    reader_state::{
        ReadPos,
        ReaderState, //
    },
};
use crate::ktrace::{
    output::{
        printed::Printed,
        seq::Seq, //
    },
    private::{
        abi,
        ring_buffer::{
            ring_buffer_consume,
            ring_buffer_empty_cpu,
            ring_buffer_event_data,
            ring_buffer_event_length,
            ring_buffer_peek, //
        },
    },
};

/// `iter.cpu_file` of an iterator over all CPUs (`RING_BUFFER_ALL_CPUS`).
const ALL_CPUS: c_int = -1;

/// Prints a line: an item of the current pack, or an earlier record of another CPU.
///
/// # Safety
///
/// `iter` must be the iterator that the kernel passed to a tracer's `print_line`, not that of a
/// file, at a pack, whose type number is `kind`. `shared` must point to the state for this
/// iterator, or for this line, with no reference to it.
pub unsafe fn print(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    kind: u32,
) -> Printed {
    // SAFETY: `iter` and `shared` are valid, as the caller guarantees. No reference to `*shared`
    // exists while a line is printed.
    unsafe {
        let at = IterPos::new(iter);
        // Readers that consume records do not use `pos`, and each `read()` sets it again. Here it
        // marks the record that was shown last. If the same record is printed again, its text was
        // discarded (`tracing_fill_pipe_page()`): otherwise, the kernel would have advanced `idx`.
        let given_up = (*iter).pos == (*iter).idx as i64;
        (*iter).pos = (*iter).idx as i64;
        if !given_up {
            (*shared).last.clear();
        } else if !(*shared).last.is_empty() {
            // The record of another CPU is no longer in the ring buffer.
            if at.lost != 0 {
                take_last_line_back(iter);
            }
            Seq::from_raw(addr_of_mut!((*iter).seq)).bytes(&(*shared).last);
            return Printed::Kept;
        }
        let Some(pack) = at.pack() else {
            return Printed::Done;
        };
        let cpu = at.cpu.max(0) as usize;
        let mut read_pos = (*shared).read_pos(cpu);
        let first = read_pos.begin(&pack, given_up);
        let own = PackCursor::new(&pack, &pack.in_place(), first, 0);
        let Some(time) = own.next.map(|decoded| decoded.time) else {
            (*shared).set_read_pos(cpu, read_pos);
            return Printed::Done;
        };
        let other = earliest_elsewhere(iter, &*shared, kind, time);
        // The kernel reports lost records in each call.
        if at.lost != 0 && (first != 0 || other.is_some()) {
            take_last_line_back(iter);
        }
        let printed = match other {
            Some(other) => print_other(iter, shared, kind, &other),
            None => print_next(iter, shared, (own, pack.in_place()), &at, &mut read_pos),
        };
        (*shared).set_read_pos(cpu, read_pos);
        at.put(iter);
        printed
    }
}

impl ReaderState {
    fn read_pos(&self, cpu: usize) -> ReadPos {
        self.sources
            .get(cpu)
            .map_or(ReadPos::default(), |source| source.read_pos)
    }

    fn set_read_pos(&mut self, cpu: usize, read_pos: ReadPos) {
        if let Some(source) = self.sources.get_mut(cpu) {
            source.read_pos = read_pos;
        }
    }
}

/// Prints the next item of a pack.
///
/// # Safety
///
/// Those of [`print`]; `at` must be the record of the pack.
unsafe fn print_next(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    (mut pack, words): (PackCursor, InPlace),
    at: &IterPos,
    read_pos: &mut ReadPos,
) -> Printed {
    // SAFETY: The caller guarantees what [`print`] requires. No reference to `*shared` exists while
    // a line is printed.
    unsafe {
        let Some(decoded) = pack.next else {
            return Printed::Done;
        };
        let what = (pack.pid, at.cpu, pack.lost);
        let ahead = pack.ahead(&words);
        // Looks ahead now, because printing may consume the record.
        pack.advance(&words);
        let is_last = pack.next.is_none();
        pack.advance(&words);
        let is_last_but_one = pack.next.is_none();
        let Some((printed, with_next)) = print_item(iter, what, &decoded, ahead, shared) else {
            return Printed::Partial;
        };
        if printed == Printed::Earlier {
            // The next call for this pack prints this item.
            return Printed::Kept;
        }
        read_pos.done = read_pos
            .done
            .wrapping_add(usize::from(with_next).wrapping_add(1));
        if is_last || with_next && is_last_but_one {
            return printed;
        }
        // The record is still in the ring buffer, on the reader page: only printing the last item
        // may have consumed it, to look at the next record.
        addr_of_mut!((*at.head()).taken).write(read_pos.done as u8);
        Printed::Kept
    }
}

/// Returns the buffer that is read.
///
/// # Safety
///
/// `iter` must be valid.
unsafe fn buffer_of(iter: *mut abi::trace_iterator) -> *mut abi::trace_buffer {
    // SAFETY: `iter` is valid, as the caller guarantees.
    unsafe { (*(*iter).array_buffer).buffer }
}

/// Returns the next record of another CPU if it is earlier than `time`; of a pack, its next item
/// counts. If there are several, the earliest one.
///
/// # Safety
///
/// Those of [`print`].
unsafe fn earliest_elsewhere(
    iter: *mut abi::trace_iterator,
    shared: &ReaderState,
    kind: u32,
    mut time: u64,
) -> Option<IterPos> {
    // SAFETY: `iter` is valid, as the caller guarantees. A reader of all CPUs has excluded all
    // other readers, as the kernel requires for its own look at each CPU.
    unsafe {
        if (*iter).cpu_file != ALL_CPUS {
            return None;
        }
        let buffer = buffer_of(iter);
        let mut earliest = None;
        for cpu in (0..kernel::cpu::nr_cpu_ids() as c_int).filter(|cpu| *cpu != (*iter).cpu) {
            if ring_buffer_empty_cpu(buffer, cpu) {
                continue;
            }
            let (mut ts, mut lost) = (0, 0);
            let event = ring_buffer_peek(buffer, cpu, &mut ts, &mut lost);
            if event.is_null() || ts >= time {
                continue;
            }
            let at = IterPos {
                entry: ring_buffer_event_data(event).cast(),
                size: ring_buffer_event_length(event) as c_int,
                ts,
                lost,
                cpu,
            };
            let when = match at.is_pack(kind) {
                true => next_of_pack(shared, &at),
                false => Some(ts),
            };
            // A pack without more items comes first: it only has to be consumed.
            let when = when.unwrap_or(0);
            if when < time {
                time = when;
                earliest = Some(at);
            }
        }
        earliest
    }
}

/// Returns the time of the next item of a pack.
///
/// # Safety
///
/// `at` must be the record of a pack, and exist.
unsafe fn next_of_pack(shared: &ReaderState, at: &IterPos) -> Option<u64> {
    // SAFETY: The record exists and is a pack, as the caller guarantees.
    let pack = unsafe { at.pack() }?;
    let first = shared.read_pos(at.cpu.max(0) as usize).begin(&pack, false);
    // SAFETY: The record exists, as the caller guarantees, and the words are read before this
    // returns.
    let words = unsafe { pack.in_place() };
    Some(PackCursor::new(&pack, &words, first, 0).next?.time)
}

/// Prints the next line of another CPU, and consumes its record if that is finished.
///
/// # Safety
///
/// Those of [`print`]; `at` must be the next record of that CPU.
unsafe fn print_other(
    iter: *mut abi::trace_iterator,
    shared: *mut ReaderState,
    kind: u32,
    at: &IterPos,
) -> Printed {
    // SAFETY: The caller guarantees what [`print`] requires, and that `at` exists. No reference to
    // `*shared` exists while a line is printed.
    unsafe {
        let before = text_of(iter).len();
        let is_pack = at.is_pack(kind);
        let pack = if is_pack { at.pack() } else { None };
        let printed = match pack {
            Some(pack) => {
                let cpu = at.cpu.max(0) as usize;
                let mut read_pos = (*shared).read_pos(cpu);
                let first = read_pos.begin(&pack, false);
                let lost = if first == 0 { at.lost } else { 0 };
                let words = pack.in_place();
                let cursor = PackCursor::new(&pack, &words, first, lost);
                let printed = print_next(iter, shared, (cursor, words), at, &mut read_pos);
                if printed != Printed::Partial {
                    (*shared).set_read_pos(cpu, read_pos);
                }
                printed
            }
            None if is_pack => Printed::Done,
            None => print_record(iter, at, shared).unwrap_or(Printed::Partial),
        };
        if printed == Printed::Partial {
            return printed;
        }
        if printed == Printed::Done {
            let (ts, lost) = (null_mut(), null_mut());
            ring_buffer_consume(buffer_of(iter), at.cpu, ts, lost);
        }
        (*shared).keep_line(text_of(iter).get(before..).unwrap_or(&[]));
        Printed::Kept
    }
}

impl ReaderState {
    /// Copies a line that is no longer in the ring buffer.
    fn keep_line(&mut self, line: &[u8]) {
        self.last.clear();
        // A crashing kernel does not discard text.
        if !self.sources.is_empty() {
            // If memory is short, the line is lost if its text is discarded.
            let _ = self.last.extend_from_slice(line, GFP_KERNEL);
        }
    }
}
