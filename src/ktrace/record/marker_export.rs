// SPDX-License-Identifier: GPL-2.0

//! Notification of what user space writes to `trace_marker` of the top trace array, and copies of
//! it in other trace arrays.
//!
//! The kernel passes markers to exports (`register_ftrace_export()`) after it has filled in the
//! record, and before it commits it. It does so for the markers of all trace arrays, without saying
//! which one; but the top trace array has an uncommitted record on this CPU only if the marker is
//! written there. So markers that an instance gets, from its own `trace_marker` or by
//! `copy_trace_marker`, are not reported. If the top trace array does not record, the kernel
//! refuses the write (`EBADF`), and there is no marker.
//!
//! C header: `include/linux/trace.h`.

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut,
        null_mut, //
    },
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed,
        Release, //
    },
};

use super::{
    context::Context,
    put,
    NotWritten,
    Reservation, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::{
        abi,
        callbacks::ktrace_marker_t,
        symbols::{
            Data,
            Resolved, //
        },
    },
    sync::{
        atomic::AtomicPtr,
        quiesce,
        read_once::ReadOnce, //
    },
    task::{
        task_ref::with_current,
        trace_mask,
        Task, //
    },
};

extern "C" {
    fn ktrace_watch_trace_marker(marker: ktrace_marker_t) -> c_int;
    fn ktrace_unwatch_trace_marker();
}

/// The trace arrays that get copies, by slot.
static COPIES: [AtomicPtr<abi::trace_array>; trace_mask::SLOTS as usize] =
    [const { AtomicPtr::null() }; trace_mask::SLOTS as usize];

/// The slots in use, as a mask.
static COPIED: Atomic<u32> = Atomic::new(0);

/// A marker, while it is being written by the current task.
pub struct Marker<'a> {
    ip: usize,
    text: &'a [u8],
}

impl<'a> Marker<'a> {
    /// Returns the text, without the newline at its end.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Returns whether any trace array whose bit is set in `mask` gets copies.
    #[inline]
    pub fn has_copies(mask: u32) -> bool {
        COPIED.read_once() & mask != 0
    }

    /// Writes the marker to each trace array that gets copies and whose bit is set in `mask`.
    /// Preemption must be off. `not_written` is called with the slots of trace arrays whose buffer
    /// had no room or was not recording.
    pub fn copy(&self, context: Context, mask: u32, not_written: impl Fn(usize, &TraceArray)) {
        let mut left = COPIED.read_once() & mask;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let tr = COPIES
                .get(slot)
                .map_or(null_mut(), |place| place.read_once());
            if tr.is_null() {
                continue;
            }
            // SAFETY: `MarkerCopy` removes the trace array from the table, and waits for readers,
            // before it can be freed. A `Marker` exists only while preemption is off.
            let tr = unsafe { TraceArray::from_raw(tr) };
            if self.write(tr, context).is_err() {
                not_written(slot, tr);
            }
        }
    }

    /// Writes the marker as the kernel writes it (`TRACE_PRINT`).
    fn write(&self, tr: &TraceArray, context: Context) -> Result<(), NotWritten> {
        let len = self.text.len();
        // The kernel ends the text with a newline and a NUL.
        let size = size_of::<abi::print_entry>() + len + 2;
        let record = Reservation::new(tr, abi::trace_type_TRACE_PRINT, size, context)?;
        let entry: *mut abi::print_entry = record.entry.cast();
        // SAFETY: The reservation has room for the entry, the text and two bytes after it, and is
        // aligned to four bytes.
        unsafe {
            put(addr_of_mut!((*entry).ip), self.ip as c_ulong);
            let text: *mut u8 = addr_of_mut!((*entry).buf).cast();
            text.copy_from_nonoverlapping(self.text.as_ptr(), len);
            text.add(len).write(b'\n');
            text.add(len + 1).write(0);
        }
        Ok(())
    }
}

/// Receives the markers that are written to the top trace array by tasks that have bits in their
/// trace mask, or by any task if all are followed ([`follow`](crate::ktrace::task::follow)).
pub trait MarkerWatcher: 'static {
    /// Called in the task that writes the marker, in process context, with preemption off.
    fn written(task: Task<'_>, marker: &Marker<'_>);
}

/// The registered export. There can be one such value at a time.
///
/// # Invariants
///
/// The export is registered until drop.
pub struct MarkerExport(());

impl MarkerExport {
    /// Registers the export. May sleep. There must be no other one in the module.
    ///
    /// # Errors
    ///
    /// `EBUSY` if the module has another type of watcher.
    pub fn new<T: MarkerWatcher>(_: Resolved) -> Result<Self> {
        // SAFETY: May sleep. The export is static, and not registered, as the caller guarantees.
        to_result(unsafe { ktrace_watch_trace_marker(Some(written::<T>)) })?;
        // INVARIANT: The export was registered above.
        Ok(Self(()))
    }
}

impl Drop for MarkerExport {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the export is registered.
        unsafe { ktrace_unwatch_trace_marker() }
    }
}

/// Copies markers to a trace array, as long as this value exists.
///
/// # Invariants
///
/// The slot contains the trace array, and only this value changes it.
pub struct MarkerCopy {
    slot: u32,
}

impl MarkerCopy {
    /// Adds a trace array under `slot`. The top trace array needs no copies.
    ///
    /// For [`Tracer::init`](crate::ktrace::output::tracer::Tracer::init) and the functions that are
    /// called while the tracer is current, which get `tr`. Must be dropped in `reset`. Calls of
    /// this function and of the drop must be serialised.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range; `EBUSY` if it is in use.
    pub fn new(tr: &TraceArray, slot: u32) -> Result<Self> {
        let place = COPIES.get(slot as usize).ok_or(EINVAL)?;
        if !place.read_once().is_null() {
            return Err(EBUSY);
        }
        place.store(tr.as_ptr(), Release);
        COPIED.store(COPIED.load(Relaxed) | 1 << slot, Relaxed);
        // INVARIANT: The slot was empty, so no other value owns it.
        Ok(Self { slot })
    }
}

impl Drop for MarkerCopy {
    fn drop(&mut self) {
        COPIED.store(COPIED.load(Relaxed) & !(1 << self.slot), Relaxed);
        if let Some(place) = COPIES.get(self.slot as usize) {
            place.store(null_mut(), Release);
        }
        quiesce::synchronize();
    }
}

/// Returns whether the top trace array has an uncommitted record on this CPU. Preemption must be
/// off, and the caller must be in process context.
fn top_is_being_written() -> bool {
    // SAFETY: The top trace array always exists.
    let top = unsafe { TraceArray::from_raw(Data::GlobalTrace.as_ptr()) };
    // A snapshot may have swapped the buffers after the record was reserved.
    [top.buffer(), top.snapshot_buffer()]
        .into_iter()
        .any(|buffer| {
            if buffer.is_null() {
                return false;
            }
            // SAFETY: The buffers of the top trace array are not freed while it records, and have
            // a part for each CPU that exists. The count is one aligned word.
            unsafe {
                let cpu = bindings::raw_smp_processor_id();
                let part = addr_of!((*buffer).buffers).read().add(cpu as usize).read();
                !part.is_null() && addr_of!((*part).committing).cast::<usize>().read_volatile() != 0
            }
        })
}

/// # Safety
///
/// Only for `marker_export.c`: `record` must be a marker's record with `size` readable bytes, and
/// preemption must be off.
unsafe extern "C" fn written<T: MarkerWatcher>(record: *const c_void, size: c_uint) {
    with_current(|task| {
        if top_is_being_written() {
            // SAFETY: The caller guarantees that this is a marker's record.
            let marker = unsafe { read(record.cast(), size as usize) };
            T::written(task, &marker);
        }
    });
}

/// Reads the record of a marker.
///
/// # Safety
///
/// `entry` must be a marker's record with `size` bytes, which stay valid for the lifetime that the
/// caller chooses.
unsafe fn read<'a>(entry: *const abi::print_entry, size: usize) -> Marker<'a> {
    let room = size.saturating_sub(size_of::<abi::print_entry>());
    // SAFETY: The record has `size` bytes, as the caller guarantees; the text is the rest of it.
    let (ip, text) = unsafe {
        (
            addr_of!((*entry).ip).read_unaligned(),
            core::slice::from_raw_parts(addr_of!((*entry).buf).cast::<u8>(), room),
        )
    };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(room);
    let text = text.get(..end).unwrap_or(text);
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    Marker { ip, text }
}
