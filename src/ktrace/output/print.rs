// SPDX-License-Identifier: GPL-2.0

//! Prints the current record of an iterator for a [`Tracer`], or leaves it to the kernel.

use core::ptr::addr_of_mut;

use kernel::{
    alloc::KVVec,
    prelude::*, //
};

use super::next_record::ktrace_buffer_iter;
use super::single::ktrace_call_print_trace_line;
use super::{
    iter::Line,
    iter_pos::IterPos,
    pipe_reader,
    printed::Printed,
    reader_state::ReaderState,
    readings::{
        is_file,
        Readings, //
    },
    seq::Seq,
    trace_reader,
    tracer::Tracer, //
};
use crate::ktrace::private::abi;

/// Prints the current record of an iterator, or what remains of an earlier one.
///
/// # Safety
///
/// Only for `ktrace_tracer_print_line()`: `iter` must be an iterator that the kernel passed to
/// `print_line` of this tracer.
pub(super) unsafe extern "C" fn print_line<T: Tracer>(iter: *mut abi::trace_iterator) -> c_uint {
    // `ftrace_dump_one()` clears the `seq` before each record, and reads it even if nothing was
    // printed. The first text that is added initializes it, so an empty text is added.
    // SAFETY: `iter` is valid, as the caller guarantees, and no other code uses its text.
    let mut seq = unsafe { Seq::from_raw(addr_of_mut!((*iter).seq)) };
    seq.bytes(&[]);
    // When the file was opened, there was no memory to read the buffer of that CPU. The kernel
    // returns to the same record forever (`trace_find_next_entry_inc()`), and the read does not
    // return as long as nothing is printed.
    // SAFETY: `iter` is valid, as the caller guarantees.
    if unsafe { is_file(iter) && ktrace_buffer_iter(iter).is_null() } {
        seq.bytes(b"# out of memory: records of other CPUs are not shown\n");
        return Printed::Done.code();
    }
    // SAFETY: `iter` is valid, as the caller guarantees.
    let (readings, cpu) = unsafe {
        (
            (*iter).private.cast::<Readings<T>>(),
            (*iter).cpu.max(0) as usize,
        )
    };
    // SAFETY: `iter` is valid, as the caller guarantees. `readings` is null or was made by
    // `give_readings()`, and there is no reference to it.
    if let Some(printed) = unsafe { print_packs::<T>(iter, readings) } {
        return printed.code();
    }
    // SAFETY: The pointer is null or was made by `give_readings()`. Only the reader to which it
    // belongs uses it.
    let printed = match unsafe { readings.as_mut() } {
        Some(readings) => {
            // SAFETY: `iter` is valid, as the caller guarantees, and the callback has not returned
            // when `line` is dropped.
            let mut line = unsafe {
                let shared = &mut readings.shared;
                let read_pos = shared
                    .sources
                    .get_mut(cpu)
                    .map(|source| &mut source.read_pos);
                Line::new(iter, shared.ahead.as_mut(), T::pack_kind(), read_pos)
            };
            let printed = T::print(&mut line, Some(&mut readings.cpus), cpu);
            readings.shared.is_earlier = printed == Printed::Earlier;
            printed
        }
        None => {
            // SAFETY: `iter` is valid, as the caller guarantees, and the callback has not returned
            // when `line` is dropped.
            let mut line = unsafe { Line::new(iter, None, T::pack_kind(), None) };
            T::print(&mut line, None, cpu)
        }
    };
    if printed == Printed::Unhandled {
        // SAFETY: `iter` is valid, as the caller guarantees, and the references to the reader's
        // state are not used any more.
        return unsafe { leave_to_kernel(iter) };
    }
    printed.code()
}

/// Leaves a record to the kernel. For records of calls, the kernel's print functions take `private`
/// for the state of function_graph. Such a record is printed here, with a null `private`.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to `print_line` of this tracer, with no
/// reference to the state of the reader.
unsafe fn leave_to_kernel(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: `iter` is valid and at a record, and no other code uses it, as the caller guarantees.
    // The kernel's function calls this tracer again, which finds no state and leaves the record to
    // the kernel. Lost records were reported before the first call, so they are not reported again.
    unsafe {
        let kind = u32::from((&raw const (*(*iter).ent).type_).read_unaligned());
        let (private, lost) = ((*iter).private, (*iter).lost_events);
        if private.is_null() || !is_of_call(kind) {
            return Printed::Unhandled as c_uint;
        }
        (*iter).private = core::ptr::null_mut();
        (*iter).lost_events = 0;
        let printed = ktrace_call_print_trace_line(iter);
        (*iter).private = private;
        (*iter).lost_events = lost;
        printed
    }
}

/// Returns whether the kernel's function graph tracer prints records of this type.
fn is_of_call(kind: u32) -> bool {
    matches!(
        kind,
        abi::trace_type_TRACE_GRAPH_ENT
            | abi::trace_type_TRACE_GRAPH_RETADDR_ENT
            | abi::trace_type_TRACE_GRAPH_RET
    )
}

/// Prints items of packs, if the current record is a pack or the iterator resumes with an open one.
/// `None` if the line is that of a normal record.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to `print_line` of this tracer. `readings`
/// must be null, or made by `give_readings()`, with no reference to it.
unsafe fn print_packs<T: Tracer>(
    iter: *mut abi::trace_iterator,
    readings: *mut Readings<T>,
) -> Option<Printed> {
    let kind = T::pack_kind();
    // SAFETY: `iter` is valid and at a record, as the caller guarantees.
    let (is_pack, is_file) = unsafe { (IterPos::new(iter).is_pack(kind), is_file(iter)) };
    if readings.is_null() {
        if !is_pack {
            return None;
        }
        // Memory was short when the file was opened: the kernel prints the pack by its event.
        if is_file {
            return Some(Printed::Unhandled);
        }
        // No state is kept between calls, but lines need to know the next item.
        let mut none = Readings::<T> {
            cpus: KVVec::new(),
            shared: ReaderState::transient(),
        };
        let none = &raw mut none;
        // SAFETY: `iter` is valid, as the caller guarantees, and `private` belongs to the tracer;
        // it is null again after that. No reference to `none` exists while a line is printed.
        return Some(unsafe {
            (*iter).private = none.cast();
            let printed = pipe_reader::print(iter, addr_of_mut!((*none).shared), kind);
            (*iter).private = core::ptr::null_mut();
            printed
        });
    }
    // SAFETY: `readings` was made by `give_readings()`, as the caller guarantees, and no reference
    // to it exists while a line is printed. `iter` is valid; if it is at a pack, that has type
    // number `kind`.
    unsafe {
        let shared = addr_of_mut!((*readings).shared);
        match ((*shared).is_chosen(), is_file) {
            (true, _) => None,
            (false, true) => ((*shared).resumes(iter) || is_pack)
                .then(|| trace_reader::print(iter, shared, kind)),
            (false, false) => is_pack.then(|| pipe_reader::print(iter, shared, kind)),
        }
    }
}
