// SPDX-License-Identifier: GPL-2.0

//! Prints the line of one item of a pack, while another tracer is current.
//!
//! C header: `kernel/trace/trace_output.h`.

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut, //
    },
};

use kernel::prelude::*;

use super::{
    iter::Line,
    iter_pos::IterPos,
    iter_text::text_of,
    seq::{
        self,
        Seq, //
    },
    synthetic::SyntheticRecord, //
};
use crate::ktrace::{
    compact::{
        encoding::{
            DecodedItem,
            Item, //
            PackedCall,
        },
        head::PackHeader, //
    },
    private::{
        abi,
        trace_options, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    pub(in crate::ktrace) fn ktrace_call_print_trace_line(
        iter: *mut abi::trace_iterator,
    ) -> abi::print_line_t;
}

/// Number of spaces for each level of calls.
const INDENT: usize = 2;

/// The types of lines: values of [`Single::what`].
pub(super) const NOTHING: u32 = 0;
const FUNCTION: u32 = 1;
const BEGIN: u32 = 2;
const RETURN: u32 = 3;
const LEAF: u32 = 4;

/// A record for one line. It begins like a pack, but has no words: [`PackHeader::start`] is 0, as
/// in no pack. It is never in a ring buffer.
#[repr(C)]
pub(super) struct Single {
    header: abi::trace_entry,
    head: PackHeader,
    pub(super) what: u32,
    /// The function, and its return address or its depth.
    func: u64,
    place: u64,
    /// Duration of the call in ns.
    ns: u64,
    /// Length of the text before what the event adds.
    before: u64,
}

/// A line to be printed.
pub(super) struct Shown {
    pub(super) what: u32,
    func: usize,
    place: u64,
    ns: u64,
    pub(super) time: u64,
    /// Number of items that the line shows.
    pub(super) nr: usize,
}

impl Shown {
    /// Creates the line of an item, and of the next one if the two are a call without callees.
    pub(super) fn new(decoded: &DecodedItem, next: Option<&DecodedItem>) -> Self {
        let of_call = |what, call: &PackedCall, time: u64| Self {
            what,
            func: call.func,
            place: call.depth as u64,
            ns: call.ns,
            time,
            nr: 1,
        };
        match (&decoded.item, next.map(|next| &next.item)) {
            (Item::Function { ip, parent_ip }, _) => Self {
                what: FUNCTION,
                func: *ip,
                place: *parent_ip as u64,
                ns: 0,
                time: decoded.time,
                nr: 1,
            },
            // A line with the beginning of a call has the time of that beginning.
            (Item::Begin(call), Some(Item::Return(ret)))
                if decoded.item.is_ended_by(&Item::Return(*ret)) =>
            {
                Self {
                    nr: 2,
                    ..of_call(LEAF, ret, decoded.time.saturating_sub(call.ns))
                }
            }
            (Item::Begin(call), _) => of_call(BEGIN, call, decoded.time.saturating_sub(call.ns)),
            (Item::Leaf(call), _) => of_call(LEAF, call, decoded.time.saturating_sub(call.ns)),
            (Item::Return(call), _) => of_call(RETURN, call, decoded.time),
        }
    }
}

impl Single {
    pub(super) fn new(kind: u16, pid: c_int, decoded: &DecodedItem, shown: &Shown) -> Self {
        let mut this: Self = pin_init::zeroed();
        this.header.type_ = kind;
        this.header.flags = decoded.flags;
        this.header.preempt_count = decoded.preempt_count;
        this.header.pid = pid;
        this.what = shown.what;
        this.func = shown.func as u64;
        this.place = shown.place;
        this.ns = shown.ns;
        this
    }
}

// SAFETY: All members are integers, which may be zero.
unsafe impl pin_init::Zeroable for Single {}

/// Prints a record in the format of the current tracer, after the present text. Returns the
/// kernel's result, and the length of the text before what the event added.
///
/// # Safety
///
/// `iter` must be valid and at the record of a pack.
pub(super) unsafe fn print_single(
    iter: *mut abi::trace_iterator,
    single: &mut Single,
    at: IterPos,
) -> (c_uint, usize) {
    // The kernel looks at the next record, and first copies this one to `iter.temp`, where the pack
    // may be. So it gets another place for the copy.
    let mut copy: Single = pin_init::zeroed();
    // SAFETY: `iter` is valid, as the caller guarantees. The record and the place for its copy,
    // which has the same size, exist until the kernel has finished. Then the members of the
    // iterator are restored.
    unsafe {
        let (temp, temp_size) = ((*iter).temp, (*iter).temp_size);
        (*iter).temp = (&raw mut copy).cast();
        (*iter).temp_size = size_of::<Single>() as c_uint;
        IterPos {
            entry: core::ptr::from_mut(single).cast(),
            size: size_of::<Single>() as c_int,
            ..at
        }
        .put(iter);
        let printed = ktrace_call_print_trace_line(iter);
        let shown: *const Single = (*iter).ent.cast();
        let before = addr_of!((*shown).before).read() as usize;
        (*iter).temp = temp;
        (*iter).temp_size = temp_size;
        (printed as c_uint, before)
    }
}

/// Adds the text of a line.
///
/// # Safety
///
/// `iter` must be valid and at a [`Single`].
pub(super) unsafe fn print_text(iter: *mut abi::trace_iterator, at: &IterPos) -> c_uint {
    let single: *mut Single = at.entry.cast();
    // SAFETY: `iter` is at a `Single`, as the caller guarantees, so the record is that long. All
    // its members are integers.
    unsafe {
        addr_of_mut!((*single).before).write_unaligned(text_of(iter).len() as u64);
        let what = addr_of!((*single).what).read_unaligned();
        let func = addr_of!((*single).func).read_unaligned() as usize;
        let place = addr_of!((*single).place).read_unaligned();
        let ns = addr_of!((*single).ns).read_unaligned();
        if what == FUNCTION {
            let header = at.entry.read_unaligned();
            let decoded = DecodedItem {
                item: Item::Function {
                    ip: func,
                    parent_ip: place as usize,
                },
                time: at.ts,
                flags: header.flags,
                preempt_count: header.preempt_count,
            };
            let (mut made, len) = SyntheticRecord::new(header.pid, &decoded);
            IterPos {
                entry: made.as_mut_ptr(),
                size: len as c_int,
                ..*at
            }
            .put(iter);
            let printed = Line::new(iter, None, 0, None).text();
            at.put(iter);
            return printed.code();
        }
        let has_columns = trace_options::flags((*iter).tr) & trace_options::CONTEXT_INFO != 0;
        let mut seq = Seq::from_raw(addr_of_mut!((*iter).seq));
        if what != NOTHING {
            print_call(
                &mut seq,
                what,
                func,
                place as i32,
                has_columns.then_some(ns),
            );
        }
        seq.code()
    }
}

/// Adds a call in the format of function_graph; with its duration in ns if that column is shown.
fn print_call(seq: &mut Seq<'_>, what: u32, func: usize, depth: i32, ns: Option<u64>) {
    match ns {
        Some(_) if what == BEGIN => seq.text("              |  "),
        Some(ns) => {
            let mark = [seq::mark(ns) as u8, b' '];
            seq.bytes(&mark);
            seq.duration(ns);
            seq.text("|  ");
        }
        None => {}
    }
    seq.spaces((depth.max(0) as usize).wrapping_mul(INDENT));
    if what == RETURN {
        // The preceding lines may be of other tasks, so the function is named.
        seq.text("} /* ");
        seq.symbol(func);
        seq.text(" */\n");
    } else {
        seq.symbol(func);
        seq.text(if what == BEGIN { "() {\n" } else { "();\n" });
    }
}
