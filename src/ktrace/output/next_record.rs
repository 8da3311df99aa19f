// SPDX-License-Identifier: GPL-2.0

//! Looks ahead to the next record of the same CPU, which may be the return of the call that is
//! being printed.
//!
//! C header: `include/linux/trace_events.h` (`struct trace_iterator`).

use core::marker::PhantomData;

use super::{
    first_return::FirstReturn,
    iter::{
        Line,
        Record, //
    },
};
use crate::ktrace::{
    private::{
        abi,
        ring_buffer::{
            ring_buffer_consume,
            ring_buffer_event_data,
            ring_buffer_event_length,
            ring_buffer_iter_advance,
            ring_buffer_iter_peek,
            ring_buffer_peek, //
        },
    },
    record::{
        self,
        GraphEntry,
        GraphReturn, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    pub(in crate::ktrace) fn ktrace_buffer_iter(
        iter: *mut abi::trace_iterator,
    ) -> *mut abi::ring_buffer_iter;
}

/// The result of [`Line::next`].
pub struct Next {
    /// The return of the call.
    pub ret: Option<GraphReturn>,
    /// Whether the record being printed was already consumed, so that the buffer now has the next
    /// one.
    pub taken: bool,
    /// Whether the return is the first item of a pack that has, or may have, more items. A pipe
    /// skips a pack that has no more.
    pub in_pack: bool,
}

impl Line<'_> {
    /// Returns the next record of the same CPU if it is the return of `call`, whether the record
    /// being printed was consumed to find it, and whether it is in a pack. Each record in between
    /// is passed to `pass`, and skipped as long as `pass` returns true.
    pub fn next(&mut self, call: &GraphEntry, mut pass: impl FnMut(&Record<'_>) -> bool) -> Next {
        if let Some(ahead) = &self.ahead {
            return Next {
                ret: ahead.ret,
                taken: false,
                in_pack: false,
            };
        }
        let pid = self.pid();
        let mut taken = false;
        let none = |taken| Next {
            ret: None,
            taken,
            in_pack: false,
        };
        // SAFETY: `iter` is valid, by the type invariant.
        let iter = unsafe { ktrace_buffer_iter(self.iter) };
        let is_pipe = iter.is_null();
        if is_pipe {
            // The record must be consumed to see the next one, as in the kernel's function_graph,
            // and must not be accessed after that.
            self.consume();
            taken = true;
        }
        loop {
            let mut ts = 0;
            let event = match is_pipe {
                // SAFETY: `iter` is valid, by the type invariant: `buffer` is what it reads, and
                // `cpu` the CPU of the current record.
                true => unsafe {
                    let mut lost = 0;
                    let buffer = (*(*self.iter).array_buffer).buffer;
                    let event = ring_buffer_peek(buffer, (*self.iter).cpu, &mut ts, &mut lost);
                    if lost != 0 {
                        // The kernel reports the lost records when it reaches that record. If it
                        // were consumed here, they would not be reported. It does not belong to
                        // this call anyway.
                        return none(taken);
                    }
                    event
                },
                // SAFETY: `iter` is the buffer iterator of that CPU, which does not move while a
                // line is printed.
                false => unsafe { ring_buffer_iter_peek(iter, &mut ts) },
            };
            if event.is_null() {
                return none(taken);
            }
            // SAFETY: `event` is a record of the buffer. It stays until the iterator advances, or
            // the record is consumed.
            // INVARIANT: Each record begins with the header.
            let record = unsafe {
                Record {
                    start: ring_buffer_event_data(event).cast::<u8>().cast_const(),
                    len: ring_buffer_event_length(event) as usize,
                    _line: PhantomData,
                }
            };
            if record.pid() != pid {
                return none(taken);
            }
            if pass(&record) {
                match is_pipe {
                    true => self.consume(),
                    // SAFETY: The iterator is at that record.
                    false => unsafe { ring_buffer_iter_advance(iter) },
                }
                continue;
            }
            let is_its =
                |ret: &GraphReturn| ret.call.func == call.func && ret.call.depth == call.depth;
            if record.kind_number() == self.pack_kind {
                // SAFETY: The record is a pack, and by the invariant of `Record`, `len` bytes of it
                // are readable.
                let first = unsafe { FirstReturn::of(record.start, record.len, ts) };
                self.next_pack = first.filter(|first| is_its(&first.ret));
                return Next {
                    ret: self.next_pack.map(|first| first.ret),
                    taken,
                    in_pack: self
                        .next_pack
                        .is_some_and(|first| !is_pipe || !first.is_only),
                };
            }
            if record.kind_number() != abi::trace_type_TRACE_GRAPH_RET {
                return none(taken);
            }
            // SAFETY: The record is a return, and by the invariant of `Record`, `len` bytes of it
            // are readable.
            let ret = unsafe { record::read_graph_return(record.start, record.len) };
            return Next {
                ret: ret.filter(is_its),
                taken,
                in_pack: false,
            };
        }
    }

    /// Consumes the next record of this CPU.
    fn consume(&mut self) {
        // SAFETY: `iter` is valid, by the type invariant: `buffer` is what it reads, and `cpu` the
        // CPU of the current record.
        unsafe {
            let (ts, lost) = (core::ptr::null_mut(), core::ptr::null_mut());
            let buffer = (*(*self.iter).array_buffer).buffer;
            ring_buffer_consume(buffer, (*self.iter).cpu, ts, lost);
        }
    }

    /// Skips the return that [`Line::next`] has found. A pipe skips a normal record by itself.
    pub fn skip_next(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.taken = true;
            return;
        }
        // SAFETY: `iter` is valid, by the type invariant. If it has no buffer iterator, the reader
        // consumes records, and the pack is the next record of this CPU.
        unsafe {
            let iter = ktrace_buffer_iter(self.iter);
            if let Some(first) = self.next_pack.take() {
                if iter.is_null() {
                    first.take();
                } else if let Some(read_pos) = &mut self.read_pos {
                    first.remember(read_pos);
                }
            } else if !iter.is_null() {
                ring_buffer_iter_advance(iter);
            }
        }
    }
}
