// SPDX-License-Identifier: GPL-2.0

//! Packs for those who take what they read out of the ring buffer: `trace_pipe`, and what the kernel prints
//! as it dies.
//!
//! They get one line at a time: of the pack that they are at, or what another CPU did before its next item.
//! They are told not to take the pack out, and so come to it again, until they have its last item.

use core::ptr::{
    addr_of_mut,
    null_mut, //
};

use kernel::prelude::*;

use super::expand::{
    print_item,
    print_record,
    take_last_line_back,
    text_of,
    At,
    Cursor,
    InPlace,
    Place,
    Shared, //
};
use crate::ktrace::{
    abi,
    iter::Printed,
    ring_buffer::{
        ring_buffer_consume,
        ring_buffer_empty_cpu,
        ring_buffer_event_data,
        ring_buffer_event_length,
        ring_buffer_peek, //
    },
    seq::Seq, //
};

/// An iterator of all CPUs (`RING_BUFFER_ALL_CPUS`).
const ALL_CPUS: c_int = -1;

/// Prints a line: an item of the pack that the iterator is at, or what came before it elsewhere.
///
/// # Safety
///
/// `iter` must be what the kernel passed to a tracer's `print_line`, not that of a file, at a pack, which
/// has the number `kind`. `shared` must be to what is kept for it, or for this line, with no reference to it.
pub unsafe fn print(iter: *mut abi::trace_iterator, shared: *mut Shared, kind: u32) -> Printed {
    // SAFETY: By the precondition, here and below; no reference to what is shared is left when a line is
    // printed.
    unsafe {
        let at = At::new(iter);
        // Of no use to whoever takes records out, and set anew with each `read()`, the position tells
        // here that this very record was shown already, and that its text was given up
        // (`tracing_fill_pipe_page()`): the kernel would have gone on to the next.
        let given_up = (*iter).pos == (*iter).idx as i64;
        (*iter).pos = (*iter).idx as i64;
        if !given_up {
            (*shared).last.clear();
        } else if !(*shared).last.is_empty() {
            // What another CPU did is not in the ring buffer any more.
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
        let mut place = (*shared).place(cpu);
        let first = place.begin(&pack, given_up);
        let own = Cursor::new(&pack, &pack.in_place(), first, 0);
        let Some(time) = own.next.map(|said| said.time) else {
            (*shared).set_place(cpu, place);
            return Printed::Done;
        };
        let other = earliest_elsewhere(iter, &*shared, kind, time);
        // The kernel says so each time that it comes here.
        if at.lost != 0 && (first != 0 || other.is_some()) {
            take_last_line_back(iter);
        }
        let printed = match other {
            Some(other) => print_other(iter, shared, kind, &other),
            None => print_next(iter, shared, (own, pack.in_place()), &at, &mut place),
        };
        (*shared).set_place(cpu, place);
        at.put(iter);
        printed
    }
}

impl Shared {
    fn place(&self, cpu: usize) -> Place {
        self.sources
            .get(cpu)
            .map_or(Place::default(), |source| source.place)
    }

    fn set_place(&mut self, cpu: usize, place: Place) {
        if let Some(source) = self.sources.get_mut(cpu) {
            source.place = place;
        }
    }
}

/// Prints the next item of a pack.
///
/// # Safety
///
/// As for [`print`]; `at` is the pack.
unsafe fn print_next(
    iter: *mut abi::trace_iterator,
    shared: *mut Shared,
    (mut pack, words): (Cursor, InPlace),
    at: &At,
    place: &mut Place,
) -> Printed {
    // SAFETY: By the precondition; as there.
    unsafe {
        let Some(said) = pack.next else {
            return Printed::Done;
        };
        let what = (pack.pid, at.cpu, pack.lost);
        let ahead = pack.ahead(&words);
        // Before it may be gone.
        pack.advance(&words);
        let is_last = pack.next.is_none();
        pack.advance(&words);
        let is_last_but_one = pack.next.is_none();
        let Some((printed, with_next)) = print_item(iter, what, &said, ahead, shared) else {
            return Printed::Partial;
        };
        if printed == Printed::Earlier {
            // This item comes when the pack is come to again.
            return Printed::Kept;
        }
        place.done = place
            .done
            .wrapping_add(usize::from(with_next).wrapping_add(1));
        if is_last || with_next && is_last_but_one {
            return printed;
        }
        // The record is where the ring buffer has it, on a page that is the reader's: only who prints
        // the last item may have consumed it, to see what follows.
        addr_of_mut!((*at.head()).taken).write(place.done as u8);
        Printed::Kept
    }
}

/// The buffer that is read.
///
/// # Safety
///
/// `iter` must be valid.
unsafe fn buffer_of(iter: *mut abi::trace_iterator) -> *mut abi::trace_buffer {
    // SAFETY: By the precondition.
    unsafe { (*(*iter).array_buffer).buffer }
}

/// The next record of another CPU, if it, or the next item of a pack, is earlier than that.
///
/// # Safety
///
/// As for [`print`].
unsafe fn earliest_elsewhere(
    iter: *mut abi::trace_iterator,
    shared: &Shared,
    kind: u32,
    mut time: u64,
) -> Option<At> {
    // SAFETY: By the precondition: who reads all CPUs has locked the others out, as the kernel does it for
    // its own look at each of them.
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
            let at = At {
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
            // A pack that has nothing more to say is gone past before anything else.
            let when = when.unwrap_or(0);
            if when < time {
                time = when;
                earliest = Some(at);
            }
        }
        earliest
    }
}

/// When the next item of a pack was.
///
/// # Safety
///
/// `at` must be a pack that is there.
unsafe fn next_of_pack(shared: &Shared, at: &At) -> Option<u64> {
    // SAFETY: By the precondition.
    let pack = unsafe { at.pack() }?;
    let first = shared.place(at.cpu.max(0) as usize).begin(&pack, false);
    // SAFETY: By the precondition.
    let words = unsafe { pack.in_place() };
    Some(Cursor::new(&pack, &words, first, 0).next?.time)
}

/// Prints the next line of another CPU, and takes it out.
///
/// # Safety
///
/// As for [`print`]; `at` is the next record there.
unsafe fn print_other(
    iter: *mut abi::trace_iterator,
    shared: *mut Shared,
    kind: u32,
    at: &At,
) -> Printed {
    // SAFETY: By the precondition; as there.
    unsafe {
        let before = text_of(iter).len();
        let is_pack = at.is_pack(kind);
        let pack = if is_pack { at.pack() } else { None };
        let printed = match pack {
            Some(pack) => {
                let cpu = at.cpu.max(0) as usize;
                let mut place = (*shared).place(cpu);
                let first = place.begin(&pack, false);
                let lost = if first == 0 { at.lost } else { 0 };
                let words = pack.in_place();
                let cursor = Cursor::new(&pack, &words, first, lost);
                let printed = print_next(iter, shared, (cursor, words), at, &mut place);
                if printed != Printed::Partial {
                    (*shared).set_place(cpu, place);
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

impl Shared {
    /// Keeps a line that can't be had from the ring buffer any more.
    fn keep_line(&mut self, line: &[u8]) {
        self.last.clear();
        // Who dies has no time to give up what it has.
        if !self.sources.is_empty() {
            // Without memory, it would be missing if it is given up.
            let _ = self.last.extend_from_slice(line, GFP_KERNEL);
        }
    }
}
