// SPDX-License-Identifier: GPL-2.0

//! Shows packs as if each item had its own record: makes that record, and has it printed.
//!
//! The kernel's readers take the earliest record of all CPUs next. The time of a pack is that of
//! its first item, but records of other CPUs that precede its last item must be printed in between.
//! [`mod@super::trace_reader`] does this for readers that leave what they read in the ring buffer,
//! [`super::pipe_reader`] for readers that consume it.

use kernel::prelude::*;

use super::single::ktrace_call_print_trace_line;
use super::{
    cursor::NextItem,
    iter_pos::IterPos,
    iter_text::{
        take_back,
        text_of, //
    },
    printed::Printed,
    reader_state::ReaderState,
    synthetic::{
        return_of,
        SyntheticRecord, //
    },
};
use crate::ktrace::{
    compact::encoding::{
        DecodedItem,
        Item, //
    },
    private::abi, //
};

/// Prints a record in the format of its type. Returns `None` and leaves the text unchanged if there
/// was no room.
///
/// # Safety
///
/// `iter` must be the iterator that the kernel passed to a tracer's `print_line`, and the record
/// `at` must exist. `shared` must point to the state for this iterator, or for this line, with no
/// reference to it.
pub(in crate::ktrace) unsafe fn print_record(
    iter: *mut abi::trace_iterator,
    at: &IterPos,
    shared: *mut ReaderState,
) -> Option<Printed> {
    // SAFETY: `iter`, `at` and `shared` are valid, as the caller guarantees. `*shared` is only
    // accessed before and after the call that prints the line, which accesses it too.
    unsafe {
        let before = text_of(iter).len();
        at.put(iter);
        (*shared).is_chosen = true;
        (*shared).is_earlier = false;
        let printed = ktrace_call_print_trace_line(iter);
        (*shared).is_chosen = false;
        let is_whole = (*iter).seq.full == 0;
        let printed = match printed {
            abi::print_line_t_TRACE_TYPE_PARTIAL_LINE => None,
            abi::print_line_t_TRACE_TYPE_NO_CONSUME if (*shared).is_earlier => {
                Some(Printed::Earlier)
            }
            abi::print_line_t_TRACE_TYPE_NO_CONSUME => Some(Printed::Kept),
            _ => Some(Printed::Done),
        };
        if printed.is_none() || !is_whole {
            take_back(iter, before);
            return None;
        }
        printed
    }
}

/// Prints an item of task `pid` on CPU `cpu`, before which `lost` records were lost. Returns what
/// happens to its record, and whether the next item was printed with it. `None` if there was no
/// room.
///
/// # Safety
///
/// Those of [`print_record`].
pub(in crate::ktrace) unsafe fn print_item(
    iter: *mut abi::trace_iterator,
    (pid, cpu, lost): (c_int, c_int, c_ulong),
    decoded: &DecodedItem,
    ahead: Option<NextItem>,
    shared: *mut ReaderState,
) -> Option<(Printed, bool)> {
    let (mut made, len) = SyntheticRecord::new(pid, decoded);
    let (ahead, is_leaf) = match &decoded.item {
        Item::Leaf(call) => (Some(NextItem::of(return_of(decoded, call))), true),
        _ => (ahead, false),
    };
    let at = IterPos {
        entry: made.as_mut_ptr(),
        size: len as c_int,
        ts: decoded.time,
        lost,
        cpu,
    };
    // SAFETY: The caller guarantees what [`print_record`] requires; `made` exists until it is
    // printed.
    unsafe {
        (*shared).ahead = ahead;
        let printed = print_record(iter, &at, shared);
        let now = (*shared).ahead.take();
        Some((printed?, !is_leaf && now.is_some_and(|ahead| ahead.taken)))
    }
}
