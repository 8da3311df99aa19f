// SPDX-License-Identifier: GPL-2.0

//! What the kernel's own files say of the call graph.

use kernel::prelude::*;

use crate::ktrace::{
    abi,
    symbols::Data, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_in_hardirq() -> bool;
    fn ktrace_call_ftrace_lookup_ip(hash: *mut abi::ftrace_hash, ip: c_ulong) -> *mut c_void;
}

/// Whether `func` is in a hash that the kernel's files fill. `None` if that is empty.
#[inline]
fn is_in(hash: Data, func: usize) -> Option<bool> {
    let place: *const *mut abi::ftrace_hash = hash.as_ptr::<*mut abi::ftrace_hash>();
    // SAFETY: The kernel's variable of that name, which always points to a hash. One that is replaced just now is
    // looked at as the kernel's own tracer looks at it, with preemption off, which is all that it asks of its
    // readers; docs/safety.md says what it neglects.
    unsafe {
        let hash = place.read_volatile();
        if (*hash).count == 0 {
            return None;
        }
        Some(!ktrace_call_ftrace_lookup_ip(hash, func as c_ulong).is_null())
    }
}

/// Whether `func` is in `set_graph_function`; `None` if nothing is. For callbacks.
#[inline]
pub fn in_graph_function(func: usize) -> Option<bool> {
    is_in(Data::GraphHash, func)
}

/// Whether `func` is in `set_graph_notrace`. For callbacks.
#[inline]
pub fn in_graph_notrace(func: usize) -> bool {
    is_in(Data::GraphNotraceHash, func).unwrap_or(false)
}

/// `max_graph_depth`; 0 is no limit.
#[inline]
pub fn max_graph_depth() -> u32 {
    // SAFETY: The kernel's variable of that name.
    unsafe { Data::GraphMaxDepth.as_ptr::<u32>().read_volatile() }
}

/// `tracing_thresh`, in ns; 0 is none.
#[inline]
pub fn tracing_thresh_ns() -> u64 {
    // SAFETY: The kernel's variable of that name.
    unsafe { Data::TracingThresh.as_ptr::<c_ulong>().read_volatile() as u64 }
}

/// Whether this is a hardware interrupt.
#[inline]
pub fn in_hardirq() -> bool {
    // SAFETY: Looks at this CPU's own count.
    unsafe { ktrace_in_hardirq() }
}
