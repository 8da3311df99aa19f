// SPDX-License-Identifier: GPL-2.0

//! Makes the record that an item of a pack would have if it had been recorded alone.

use core::{
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::prelude::*;

use crate::ktrace::{
    compact::encoding::{
        DecodedItem,
        Item, //
        PackedCall,
    },
    private::abi,
    record::{
        self,
        GraphEntry,
        GraphReturn, //
    },
};

fn entry_of(call: &PackedCall) -> GraphEntry {
    GraphEntry {
        func: call.func,
        depth: call.depth,
    }
}

/// Returns the return of a call, as the item `decoded` describes it.
pub(super) fn return_of(decoded: &DecodedItem, call: &PackedCall) -> GraphReturn {
    GraphReturn {
        call: entry_of(call),
        overrun: 0,
        // Calls with a recorded return value are not packed.
        value: None,
        calltime_ns: decoded.time.wrapping_sub(call.ns),
        rettime_ns: decoded.time,
    }
}

/// A record that was made from an item.
#[repr(C, align(8))]
pub(in crate::ktrace) struct SyntheticRecord([u8; 128]);

impl SyntheticRecord {
    /// Returns a pointer to the record.
    pub(in crate::ktrace) fn as_mut_ptr(&mut self) -> *mut abi::trace_entry {
        self.0.as_mut_ptr().cast()
    }

    /// Makes the record of an item. Returns it with its length in bytes.
    pub(in crate::ktrace) fn new(pid: c_int, decoded: &DecodedItem) -> (Self, usize) {
        let mut made = Self([0; 128]);
        let place = made.0.as_mut_ptr();
        let header: *mut abi::trace_entry = place.cast();
        // SAFETY: `made` is larger than any of these records, and aligned to eight bytes.
        unsafe {
            let (kind, len) = match decoded.item {
                Item::Function { ip, parent_ip } => {
                    let entry: *mut abi::ftrace_entry = place.cast();
                    addr_of_mut!((*entry).ip).write_unaligned(ip as c_ulong);
                    addr_of_mut!((*entry).parent_ip).write_unaligned(parent_ip as c_ulong);
                    (abi::trace_type_TRACE_FN, size_of::<abi::ftrace_entry>())
                }
                // The exit of a leaf is printed with it: see `print_item()`.
                Item::Begin(call) | Item::Leaf(call) => {
                    let late_ns = Some(call.ns);
                    record::fill_graph_entry(place, entry_of(&call), &[], late_ns);
                    let len = record::graph_entry_len(&[], late_ns);
                    (abi::trace_type_TRACE_GRAPH_ENT, len)
                }
                Item::Return(call) => {
                    let ret = return_of(decoded, &call);
                    record::fill_graph_return(place, &ret);
                    let len = record::graph_return_len(&ret);
                    (abi::trace_type_TRACE_GRAPH_RET, len)
                }
            };
            addr_of_mut!((*header).type_).write(kind as u16);
            addr_of_mut!((*header).flags).write(decoded.flags);
            addr_of_mut!((*header).preempt_count).write(decoded.preempt_count);
            addr_of_mut!((*header).pid).write(pid);
            (made, len)
        }
    }
}
