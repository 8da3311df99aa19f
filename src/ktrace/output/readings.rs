// SPDX-License-Identifier: GPL-2.0

//! Keeps the state of a reader in its iterator, from the moment that it is opened until it is
//! closed.

use kernel::{
    alloc::KVVec,
    prelude::*, //
};

use super::{
    reader_state::ReaderState,
    tracer::Tracer, //
};
use crate::ktrace::private::abi;

/// Returns whether the iterator belongs to an open `trace` file, or reads like one. The iterator of
/// `ftrace_dump()` is opened, but never closed; it has no per-CPU iterators.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to a callback.
pub(super) unsafe fn is_file(iter: *mut abi::trace_iterator) -> bool {
    // SAFETY: `iter` is valid, as the caller guarantees.
    !unsafe { (*iter).buffer_iter }.is_null()
}

/// The state of a reader.
pub(super) struct Readings<T: Tracer> {
    /// For each possible CPU.
    pub(super) cpus: KVVec<T::Reading>,
    /// For packs.
    pub(super) shared: ReaderState,
}

/// Allocates the state of a reader, and stores it in the iterator; null if memory is short. May
/// sleep.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to a callback, without a state.
pub(super) unsafe fn give_readings<T: Tracer>(iter: *mut abi::trace_iterator) {
    let fill = || -> Result<KBox<Readings<T>>> {
        let nr = kernel::cpu::nr_cpu_ids() as usize;
        let mut cpus = KVVec::with_capacity(nr, GFP_KERNEL)?;
        for _ in 0..nr {
            cpus.push(T::Reading::default(), GFP_KERNEL)?;
        }
        let shared = ReaderState::persistent()?;
        Ok(KBox::new(Readings { cpus, shared }, GFP_KERNEL)?)
    };
    let readings = fill().map_or(core::ptr::null_mut(), KBox::into_raw);
    // SAFETY: `iter` is valid, as the caller guarantees, and `private` belongs to the tracer.
    unsafe { (*iter).private = readings.cast() };
}

/// Frees the state of a reader.
///
/// # Safety
///
/// `iter` must have been passed to [`give_readings`], and its `private` must not have changed.
pub(super) unsafe fn take_readings<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `private` is null or a pointer of `KBox::into_raw()` in `give_readings()`, as the
    // caller guarantees.
    unsafe {
        let readings: *mut Readings<T> = (*iter).private.cast();
        (*iter).private = core::ptr::null_mut();
        if !readings.is_null() {
            drop(KBox::from_raw(readings));
        }
    }
}
