// SPDX-License-Identifier: GPL-2.0

//! Declares the kernel functions that read a ring buffer.
//!
//! C header: `include/linux/ring_buffer.h`.

use kernel::prelude::*;

use super::abi;

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    pub(in crate::ktrace) fn ring_buffer_event_length(event: *mut abi::ring_buffer_event)
        -> c_uint;
    pub(in crate::ktrace) fn ring_buffer_event_data(
        event: *mut abi::ring_buffer_event,
    ) -> *mut c_void;
    pub(in crate::ktrace) fn ring_buffer_iter_peek(
        iter: *mut abi::ring_buffer_iter,
        ts: *mut u64,
    ) -> *mut abi::ring_buffer_event;
    pub(in crate::ktrace) fn ring_buffer_iter_advance(iter: *mut abi::ring_buffer_iter);
    pub(in crate::ktrace) fn ring_buffer_iter_dropped(iter: *mut abi::ring_buffer_iter) -> bool;
    pub(in crate::ktrace) fn ring_buffer_empty_cpu(
        buffer: *mut abi::trace_buffer,
        cpu: c_int,
    ) -> bool;
    pub(in crate::ktrace) fn ring_buffer_peek(
        buffer: *mut abi::trace_buffer,
        cpu: c_int,
        ts: *mut u64,
        lost: *mut c_ulong,
    ) -> *mut abi::ring_buffer_event;
    pub(in crate::ktrace) fn ring_buffer_consume(
        buffer: *mut abi::trace_buffer,
        cpu: c_int,
        ts: *mut u64,
        lost: *mut c_ulong,
    ) -> *mut abi::ring_buffer_event;
}
