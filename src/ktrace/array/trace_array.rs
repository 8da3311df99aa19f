// SPDX-License-Identifier: GPL-2.0

//! Trace arrays: the top one, and one for each directory in `instances/`.
//!
//! C header: `kernel/trace/trace.h`.

use core::{
    ffi::CStr,
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

use super::options;
use crate::ktrace::private::{
    abi,
    cstr_ext::CStrExt,
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

/// A trace array that cannot be removed while it is borrowed.
///
/// # Invariants
///
/// A reference points to a `struct trace_array` that is not freed during the reference's lifetime:
/// its owner holds `trace_types_lock` or a [`Pinned`], or has a tracer that is current in the trace
/// array.
#[repr(transparent)]
pub struct TraceArray(Opaque<abi::trace_array>);

// SAFETY: All access is by the kernel's own functions, to single words, or under the kernel's
// locks.
unsafe impl Sync for TraceArray {}

/// The identity of a trace array, for comparison and for [`pin`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Id(usize);

impl Id {
    /// Returns the identity as a number, which is never 0.
    pub fn as_usize(self) -> usize {
        self.0
    }
}

impl TraceArray {
    /// Returns the trace array at an address of the kernel.
    ///
    /// # Safety
    ///
    /// `tr` must point to a trace array that is not freed within the lifetime that the caller
    /// chooses.
    pub(in crate::ktrace) unsafe fn from_raw<'a>(tr: *mut abi::trace_array) -> &'a Self {
        // SAFETY: The caller guarantees that `tr` is valid for `'a`; the type is transparent.
        unsafe { &*tr.cast() }
    }

    #[inline]
    pub(in crate::ktrace) fn as_ptr(&self) -> *mut abi::trace_array {
        self.0.get()
    }

    /// Returns the identity of this trace array.
    pub fn id(&self) -> Id {
        Id(self.as_ptr() as usize)
    }

    /// Returns whether this is the top trace array, shown in `/sys/kernel/tracing` itself.
    pub fn is_top(&self) -> bool {
        // SAFETY: By the type invariant, the trace array is alive; this flag never changes.
        unsafe { addr_of!((*self.as_ptr()).flags).read() & abi::TRACE_ARRAY_FL_GLOBAL != 0 }
    }

    /// Returns whether the buffer is in reserved memory, from which it can be read after a reboot
    /// (`reserve_mem=`, `memmap=`).
    pub fn is_persistent(&self) -> bool {
        // SAFETY: By the type invariant, the trace array is alive; the address is only set when it
        // is created.
        unsafe { addr_of!((*self.as_ptr()).range_addr_start).read() != 0 }
    }

    /// Takes a reference that is never released, so that `rmdir` fails with `EBUSY`. For a trace
    /// array that the kernel may still use because a hook in it could not be unregistered.
    ///
    /// # Safety
    ///
    /// The caller must hold `trace_types_lock`.
    pub(in crate::ktrace) unsafe fn leak(&self) {
        // SAFETY: By the type invariant, the trace array is alive; the caller holds the lock that
        // protects the count.
        unsafe { *addr_of_mut!((*self.as_ptr()).ref_) += 1 };
    }

    /// Returns the name of the instance, or `None` for the top trace array. Any context.
    pub fn name(&self) -> Option<&CStr> {
        // SAFETY: By the type invariant, the trace array is alive. Its name is null or a C string
        // that does not change, and that is freed together with the trace array.
        unsafe {
            let name = addr_of!((*self.as_ptr()).name).read();
            (!name.is_null()).then(|| CStr::from_chars(name))
        }
    }

    /// Returns the buffer that is written to now; a snapshot swaps it with another one.
    #[inline]
    pub(in crate::ktrace) fn buffer(&self) -> *mut abi::trace_buffer {
        // SAFETY: By the type invariant, the trace array is alive; this reads one aligned word,
        // which a swap may change.
        unsafe { addr_of!((*self.as_ptr()).array_buffer.buffer).read_volatile() }
    }

    /// Returns the snapshot buffer, or null if there is none.
    pub(in crate::ktrace) fn snapshot_buffer(&self) -> *mut abi::trace_buffer {
        #[cfg(has_trace_array_snapshot_buffer)]
        // SAFETY: By the type invariant, the trace array is alive; this reads one aligned word,
        // which a swap may change.
        return unsafe { addr_of!((*self.as_ptr()).snapshot_buffer.buffer).read_volatile() };
        #[cfg(has_trace_array_max_buffer)]
        // SAFETY: By the type invariant, the trace array is alive; this reads one aligned word,
        // which a swap may change.
        return unsafe { addr_of!((*self.as_ptr()).max_buffer.buffer).read_volatile() };
        #[cfg(not(any(has_trace_array_snapshot_buffer, has_trace_array_max_buffer)))]
        core::ptr::null_mut()
    }

    /// Deletes all records of the trace array, including those in the snapshot and of offline CPUs.
    /// May sleep. The lock keeps the trace array alive.
    pub fn clear_records(&self, _: &TypesLock) {
        let buffers = loop {
            let buffers = [self.buffer(), self.snapshot_buffer()];
            // If both are the same, a swap is in progress: read them again.
            if buffers[0] != buffers[1] {
                break buffers;
            }
        };
        for buffer in buffers.into_iter().filter(|buffer| !buffer.is_null()) {
            // SAFETY: This is a buffer of a live trace array, which keeps the same two buffers as
            // long as it lives. The function excludes writers, readers and changes of the buffer's
            // size.
            unsafe { ring_buffer_reset(buffer) };
        }
    }

    /// Returns whether an event of this module was ever enabled, so that its records may be in the
    /// buffers. The argument shows that the caller holds `trace_types_lock`. Does not sleep.
    pub fn has_had_events(&self, _: &TypesLock) -> bool {
        // SAFETY: This is the event list of a live trace array. It only changes with
        // `trace_types_lock` held (and `event_mutex`, which is taken before it:
        // kernel/trace/trace_events.c).
        unsafe { ktrace_events_were_on(addr_of!((*self.as_ptr()).events)) }
    }

    /// Returns whether any event is enabled, including soft-enabled ones. The argument shows that
    /// the caller holds `trace_types_lock`. Does not sleep.
    pub fn has_events_on(&self, _: &TypesLock) -> bool {
        // SAFETY: This is the event list of a live trace array, which only changes with
        // `trace_types_lock` held. The function reads one word of each element.
        unsafe { ktrace_events_are_on(addr_of!((*self.as_ptr()).events)) }
    }

    /// Returns the numbers of records in the buffer now and of records that were overwritten before
    /// they were read. Any context.
    pub fn entries(&self) -> (u64, u64) {
        let buffer = self.buffer();
        // SAFETY: This is the buffer of a live trace array; both functions only add up counters.
        unsafe {
            (
                ring_buffer_entries(buffer) as u64,
                ring_buffer_overruns(buffer) as u64,
            )
        }
    }

    /// Returns the flags of the options of the current tracer, or `None` if it has no options in
    /// this trace array (yet). For callbacks of that tracer.
    pub(in crate::ktrace) fn current_flags(&self) -> Option<u32> {
        options::current(self)
    }

    /// Returns the tracefs directory of the trace array; null means the root of tracefs.
    pub(in crate::ktrace) fn dir(&self) -> *mut bindings::dentry {
        if self.is_top() {
            return core::ptr::null_mut();
        }
        // SAFETY: By the type invariant, the trace array is alive; the directory is set once, when
        // the instance is created.
        unsafe { addr_of!((*self.as_ptr()).dir).read() }.cast()
    }
}

/// A guard that holds `trace_types_lock`: the lists of tracers and of trace arrays do not change.
///
/// # Invariants
///
/// This task holds the mutex until drop.
pub struct TypesLock(NotThreadSafe);

/// Waits for event enabling and disabling operations that have already started. May sleep. Callers
/// must not hold [`TypesLock`], which is taken after the kernel's `event_mutex`.
pub fn wait_for_events(_: Resolved) {
    // SAFETY: This is the kernel's own static mutex, found by its name, as `Resolved` shows.
    unsafe {
        bindings::mutex_lock(Data::EventMutex.as_ptr());
        bindings::mutex_unlock(Data::EventMutex.as_ptr());
    }
}

impl TypesLock {
    /// Takes the lock. May sleep.
    pub fn new(_: Resolved) -> Self {
        // SAFETY: This is the kernel's own static mutex, found by its name, as `Resolved` shows.
        unsafe { bindings::mutex_lock(Data::TraceTypesLock.as_ptr()) };
        // INVARIANT: The mutex was locked above.
        Self(NotThreadSafe)
    }

    /// Returns an iterator over all trace arrays, instances first.
    pub fn arrays(&self) -> Arrays<'_> {
        let head: *mut abi::list_head = Data::TraceArrays.as_ptr();
        Arrays {
            head,
            // SAFETY: This is the head of a list that does not change while the lock is held.
            next: unsafe { (*head).next },
            _lock: PhantomData,
        }
    }

    /// Returns the trace array with the identity `id`, if it (still) exists.
    pub fn find(&self, id: Id) -> Option<&TraceArray> {
        self.arrays().find(|tr| tr.id() == id)
    }
}

impl Drop for TypesLock {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, this task holds the mutex.
        unsafe { bindings::mutex_unlock(Data::TraceTypesLock.as_ptr()) }
    }
}

/// An iterator over all trace arrays; see [`TypesLock::arrays`].
///
/// # Invariants
///
/// `next` is an element of the list or its head, and the list does not change during `'a`.
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
        // SAFETY: By the type invariant, `this` is an element or the head, and it is not the head.
        self.next = unsafe { (*this).next };
        // SAFETY: Each element except the head is the `list` member of a trace array. The trace
        // array is not freed while it is on the list, where it stays for `'a`.
        Some(unsafe { TraceArray::from_raw(kernel::container_of!(this, abi::trace_array, list)) })
    }
}

/// A trace array with a reference, like that of an open file: `rmdir` fails with `EBUSY`.
///
/// # Invariants
///
/// This owns one reference to the trace array.
pub struct Pinned(NonNull<abi::trace_array>);

// SAFETY: A reference count is not bound to a thread.
unsafe impl Send for Pinned {}
// SAFETY: This only gives out a `&TraceArray`, which is `Sync`.
unsafe impl Sync for Pinned {}

/// Takes a reference, as the kernel's own files do when they are opened. May sleep.
///
/// # Errors
///
/// `ENODEV` if the trace array does not exist (any more), or if tracing is disabled permanently;
/// `EPERM` if the kernel is locked down.
pub fn pin(_: Resolved, id: Id) -> Result<Pinned> {
    let tr = id.0 as *mut abi::trace_array;
    // SAFETY: The function compares the pointer with those on the list and dereferences it only
    // after it was found there. It takes `trace_types_lock`, which no caller of this function
    // holds.
    to_result(unsafe { ktrace_call_tracing_check_open_get_tr(tr) })?;
    // INVARIANT: The reference was taken above.
    Ok(Pinned(NonNull::new(tr).ok_or(ENODEV)?))
}

impl core::ops::Deref for Pinned {
    type Target = TraceArray;

    fn deref(&self) -> &TraceArray {
        // SAFETY: The reference keeps the trace array alive.
        unsafe { TraceArray::from_raw(self.0.as_ptr()) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: Releases the one reference that this owns.
        unsafe { ktrace_call_trace_array_put(self.0.as_ptr()) }
    }
}
