// SPDX-License-Identifier: GPL-2.0

//! Trace arrays: the top one, and one for each folder below `instances/`.
//!
//! C header: `kernel/trace/trace.h`.

use core::{
    marker::PhantomData,
    ptr::{
        addr_of,
        addr_of_mut,
        NonNull, //
    },
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    types::{
        NotThreadSafe,
        Opaque, //
    },
};

use super::{
    abi, array_options,
    symbols::{
        Data,
        Resolved, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_tracing_check_open_get_tr(tr: *mut abi::trace_array) -> c_int;
    fn ktrace_call_trace_array_put(tr: *mut abi::trace_array);
    fn ktrace_events_are_on(files: *const abi::list_head) -> bool;
    fn ktrace_events_were_on(files: *const abi::list_head) -> bool;
    fn ring_buffer_entries(buffer: *mut abi::trace_buffer) -> c_ulong;
    fn ring_buffer_overruns(buffer: *mut abi::trace_buffer) -> c_ulong;
    fn ring_buffer_reset(buffer: *mut abi::trace_buffer);
}

/// A trace array that somebody keeps from being removed.
///
/// # Invariants
///
/// A reference to it is to a `struct trace_array` that is not freed while the reference lives: the
/// holder has `trace_types_lock`, a [`Pinned`], or a tracer that is current there.
#[repr(transparent)]
pub struct TraceArray(Opaque<abi::trace_array>);

// SAFETY: All access is through the kernel's own functions, by single words, or under its locks.
unsafe impl Sync for TraceArray {}

/// Which trace array it is: good for comparing, and for [`pin`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Id(usize);

impl Id {
    /// As a number, which is never zero.
    pub(super) fn as_usize(self) -> usize {
        self.0
    }
}

impl TraceArray {
    /// # Safety
    ///
    /// `tr` must point to a trace array that is not freed within the lifetime that the caller
    /// chooses.
    pub(super) unsafe fn from_raw<'a>(tr: *mut abi::trace_array) -> &'a Self {
        // SAFETY: By the precondition; the type is transparent.
        unsafe { &*tr.cast() }
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *mut abi::trace_array {
        self.0.get()
    }

    /// Which one this is.
    pub fn id(&self) -> Id {
        Id(self.as_ptr() as usize)
    }

    /// Whether it is the one that `/sys/kernel/tracing` itself shows.
    pub fn is_top(&self) -> bool {
        // SAFETY: Alive, by the type's invariant; the flag is constant.
        unsafe { addr_of!((*self.as_ptr()).flags).read() & abi::TRACE_ARRAY_FL_GLOBAL != 0 }
    }

    /// Whether its buffer lies in memory that was set aside for it, to be read after a reboot
    /// (`reserve_mem=`, `memmap=`).
    pub fn is_persistent(&self) -> bool {
        // SAFETY: Alive, by the type's invariant; the address is set when the trace array is made.
        unsafe { addr_of!((*self.as_ptr()).range_addr_start).read() != 0 }
    }

    /// Keeps it for good, with `rmdir` told that it is busy: for what the kernel goes on using although it was asked
    /// not to.
    ///
    /// # Safety
    ///
    /// `trace_types_lock` is held.
    pub(super) unsafe fn keep_for_good(&self) {
        // SAFETY: Alive, by the type's invariant; the lock guards the count.
        unsafe { *addr_of_mut!((*self.as_ptr()).ref_) += 1 };
    }

    /// The buffer that is written to now; a snapshot swaps it.
    #[inline]
    pub(super) fn buffer(&self) -> *mut abi::trace_buffer {
        // SAFETY: Alive, by the type's invariant; one aligned word that a swap may change.
        unsafe { addr_of!((*self.as_ptr()).array_buffer.buffer).read_volatile() }
    }

    /// The buffer of its snapshot; null if it has none.
    fn snapshot_buffer(&self) -> *mut abi::trace_buffer {
        #[cfg(has_trace_array_snapshot_buffer)]
        // SAFETY: As in `buffer()`.
        return unsafe { addr_of!((*self.as_ptr()).snapshot_buffer.buffer).read_volatile() };
        #[cfg(has_trace_array_max_buffer)]
        // SAFETY: As in `buffer()`.
        return unsafe { addr_of!((*self.as_ptr()).max_buffer.buffer).read_volatile() };
        #[cfg(not(any(has_trace_array_snapshot_buffer, has_trace_array_max_buffer)))]
        core::ptr::null_mut()
    }

    /// Forgets all records, those of the snapshot and of CPUs that are away too. May sleep; under
    /// `trace_types_lock`, which keeps the trace array.
    pub fn forget_records(&self, _: &TypesLock) {
        let buffers = loop {
            let buffers = [self.buffer(), self.snapshot_buffer()];
            // Not in the middle of a swap.
            if buffers[0] != buffers[1] {
                break buffers;
            }
        };
        for buffer in buffers.into_iter().filter(|buffer| !buffer.is_null()) {
            // SAFETY: A buffer of a live trace array, which has the same two as long as it lives. The function
            // keeps writers, readers and those who would change its size away.
            unsafe { ring_buffer_reset(buffer) };
        }
    }

    /// Whether an event of this module was ever on there, so that records of it may be in its buffers.
    pub fn has_had_events(&self, _: &TypesLock) -> bool {
        // SAFETY: The list of a live trace array, which changes under the lock alone (`event_mutex` is held then as
        // well, and taken before it: kernel/trace/trace_events.c).
        unsafe { ktrace_events_were_on(addr_of!((*self.as_ptr()).events)) }
    }

    /// Whether any event is enabled there, softly or not.
    pub fn has_events_on(&self, _: &TypesLock) -> bool {
        // SAFETY: The list of a live trace array, which changes under the lock alone, see above; of its elements a word
        // is read.
        unsafe { ktrace_events_are_on(addr_of!((*self.as_ptr()).events)) }
    }

    /// Records in the buffer now, and records that were overwritten before they were read.
    pub fn entries(&self) -> (u64, u64) {
        let buffer = self.buffer();
        // SAFETY: The buffer of a live trace array; both functions only add up counters.
        unsafe {
            (
                ring_buffer_entries(buffer) as u64,
                ring_buffer_overruns(buffer) as u64,
            )
        }
    }

    /// The flags of its current tracer's options; `None` if the tracer has no options there (yet). For a tracer's own
    /// callbacks.
    pub(super) fn current_flags(&self) -> Option<u32> {
        array_options::current(self)
    }

    /// The folder that shows it; null stands for tracefs's own root.
    pub(super) fn dir(&self) -> *mut bindings::dentry {
        if self.is_top() {
            return core::ptr::null_mut();
        }
        // SAFETY: Alive, by the type's invariant; set once when an instance is made.
        unsafe { addr_of!((*self.as_ptr()).dir).read() }.cast()
    }
}

/// `trace_types_lock`: the lists of tracers and of trace arrays hold still.
///
/// # Invariants
///
/// The mutex is held by this task until drop.
pub struct TypesLock(NotThreadSafe);

/// Waits until no event is being enabled or disabled any more of those that have begun to be. May sleep; without
/// [`TypesLock`], which is taken after the kernel's lock of events.
pub fn wait_for_events(_: Resolved) {
    // SAFETY: The kernel's own static mutex, found by its name, as `Resolved` shows.
    unsafe {
        bindings::mutex_lock(Data::EventMutex.as_ptr());
        bindings::mutex_unlock(Data::EventMutex.as_ptr());
    }
}

impl TypesLock {
    /// Takes the lock. May sleep.
    pub fn new(_: Resolved) -> Self {
        // SAFETY: The kernel's own static mutex, found by its name, as `Resolved` shows.
        unsafe { bindings::mutex_lock(Data::TraceTypesLock.as_ptr()) };
        // INVARIANT: Just taken.
        Self(NotThreadSafe)
    }

    /// All trace arrays, instances first.
    pub fn arrays(&self) -> Arrays<'_> {
        let head: *mut abi::list_head = Data::TraceArrays.as_ptr();
        Arrays {
            head,
            // SAFETY: The head of a list that holds still while the lock is held.
            next: unsafe { (*head).next },
            _lock: PhantomData,
        }
    }

    /// The trace array called `id`, if there (still) is one.
    pub fn find(&self, id: Id) -> Option<&TraceArray> {
        self.arrays().find(|tr| tr.id() == id)
    }
}

impl Drop for TypesLock {
    fn drop(&mut self) {
        // SAFETY: Held by this task, by the invariant.
        unsafe { bindings::mutex_unlock(Data::TraceTypesLock.as_ptr()) }
    }
}

/// See [`TypesLock::arrays`].
///
/// # Invariants
///
/// `next` is an element of the list or its head, and the list holds still for `'a`.
pub struct Arrays<'a> {
    head: *mut abi::list_head,
    next: *mut abi::list_head,
    _lock: PhantomData<&'a TypesLock>,
}

impl<'a> Iterator for Arrays<'a> {
    type Item = &'a TraceArray;

    fn next(&mut self) -> Option<&'a TraceArray> {
        if self.next == self.head {
            return None;
        }
        let this = self.next;
        // SAFETY: An element, by the invariant, and not the head.
        self.next = unsafe { (*this).next };
        // SAFETY: Every element but the head is the `list` of a trace array, which is not freed
        // while it is on the list, and it stays there for `'a`.
        Some(unsafe { TraceArray::from_raw(kernel::container_of!(this, abi::trace_array, list)) })
    }
}

/// A trace array with a reference, as an open file of it has: `rmdir` says that it is busy.
///
/// # Invariants
///
/// Owns one reference.
pub struct Pinned(NonNull<abi::trace_array>);

// SAFETY: A reference count belongs to no thread.
unsafe impl Send for Pinned {}
// SAFETY: As for `TraceArray`.
unsafe impl Sync for Pinned {}

/// Takes a reference, as the kernel's own files do when they are opened. May sleep.
///
/// # Errors
///
/// `ENODEV` if there is no such trace array (any more), or tracing is disabled for good; `EPERM`
/// under lockdown.
pub fn pin(_: Resolved, id: Id) -> Result<Pinned> {
    let tr = id.0 as *mut abi::trace_array;
    // SAFETY: Compares the pointer with those on the list and does not follow it before it was
    // found there; takes `trace_types_lock`, which no caller of this function holds.
    to_result(unsafe { ktrace_call_tracing_check_open_get_tr(tr) })?;
    // INVARIANT: Just taken.
    Ok(Pinned(NonNull::new(tr).ok_or(ENODEV)?))
}

impl core::ops::Deref for Pinned {
    type Target = TraceArray;

    fn deref(&self) -> &TraceArray {
        // SAFETY: The reference keeps it alive.
        unsafe { TraceArray::from_raw(self.0.as_ptr()) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: Gives back the one reference that this owns.
        unsafe { ktrace_call_trace_array_put(self.0.as_ptr()) }
    }
}
