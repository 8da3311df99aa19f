// SPDX-License-Identifier: GPL-2.0

//! Operations on the buffer of a trace array that are possible at any moment: turning recording on
//! and off, taking a snapshot, and printing it.
//!
//! C headers: `include/linux/ring_buffer.h`, `kernel/trace/trace.h`.

use kernel::{
    bindings,
    prelude::*,
    sync::Arc, //
};

use super::trace_array::{
    Pinned,
    TraceArray, //
};
#[cfg(CONFIG_TRACER_SNAPSHOT)]
use crate::ktrace::private::abi::trace_array;
use crate::ktrace::private::{
    abi::trace_buffer,
    symbols::Resolved, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ring_buffer_record_on(buffer: *mut trace_buffer);
    fn ring_buffer_record_off(buffer: *mut trace_buffer);
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    fn ktrace_call_tracing_arm_snapshot(tr: *mut trace_array) -> c_int;
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    fn ktrace_call_tracing_disarm_snapshot(tr: *mut trace_array);
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    fn ktrace_call_tracing_snapshot_instance(tr: *mut trace_array);
}

impl TraceArray {
    /// Turns recording on or off, as a write to `tracing_on` does. Any context.
    pub fn set_recording(&self, on: bool) {
        let buffer = self.buffer();
        // SAFETY: The buffer belongs to a live trace array. Both functions set a bit atomically. If
        // a snapshot swaps the buffers at this moment, it copies the bit before or after that.
        unsafe {
            match on {
                true => ring_buffer_record_on(buffer),
                false => ring_buffer_record_off(buffer),
            }
        }
    }
}

/// Prints the buffer of the top trace array to the console, as SysRq-z does. This turns recording
/// off and consumes the records. Does nothing while another CPU prints it. Takes long with a slow
/// console.
///
/// Any context in which nothing is held that `printk()` may take, such as the lock of a run queue.
///
/// C header: `include/linux/trace_printk.h`.
pub fn dump() {
    // SAFETY: The kernel allows this in any context, and only one CPU prints at a time.
    unsafe { bindings::ftrace_dump(bindings::ftrace_dump_mode_DUMP_ALL) };
}

/// A trace array of which snapshots can be taken at any moment: it has a snapshot buffer, and is
/// not mapped.
///
/// # Invariants
///
/// The trace array was armed once for this value.
pub struct ArmedSnapshot(Arc<Pinned>);

impl ArmedSnapshot {
    /// Allocates the snapshot buffer, if there is none. May sleep. Takes `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// `EBUSY` if the buffer is mapped to user space; `ENOMEM`; `EOPNOTSUPP` if the kernel has no
    /// snapshots (`CONFIG_TRACER_SNAPSHOT`).
    pub fn new(_: Resolved, tr: Arc<Pinned>) -> Result<Self> {
        #[cfg(CONFIG_TRACER_SNAPSHOT)]
        {
            // SAFETY: The trace array is alive, as it is pinned.
            kernel::error::to_result(unsafe { ktrace_call_tracing_arm_snapshot(tr.as_ptr()) })?;
            // INVARIANT: Armed above.
            Ok(Self(tr))
        }
        #[cfg(not(CONFIG_TRACER_SNAPSHOT))]
        {
            drop(tr);
            Err(Error::from_errno(-(bindings::EOPNOTSUPP as c_int)))
        }
    }

    /// Swaps the buffer with the snapshot. Not in NMIs.
    pub fn take(&self) {
        #[cfg(CONFIG_TRACER_SNAPSHOT)]
        // SAFETY: The trace array is alive, as it is pinned. The function disables interrupts, and
        // takes only a lock that is taken with interrupts disabled everywhere, never in an NMI.
        unsafe {
            ktrace_call_tracing_snapshot_instance(self.0.as_ptr());
        }
    }
}

impl Drop for ArmedSnapshot {
    fn drop(&mut self) {
        #[cfg(CONFIG_TRACER_SNAPSHOT)]
        // SAFETY: The trace array is alive, and was armed once for this value.
        unsafe {
            ktrace_call_tracing_disarm_snapshot(self.0.as_ptr());
        }
    }
}
