// SPDX-License-Identifier: GPL-2.0

//! Timers that can be started in any context.
//!
//! Code in a probe may hold locks that the start of a timer takes (of the run queue, of timers). So
//! it only queues a hard interrupt (`struct irq_work`), which starts the timer.
//!
//! C headers: `include/linux/hrtimer.h`, `include/linux/irq_work.h`.

use core::ptr::NonNull;

use kernel::{
    bindings,
    prelude::*,
    sync::Arc, //
};

use crate::ktrace::private::callbacks::ktrace_expired_t;

#[repr(C)]
struct RawDelay {
    _opaque: [u8; 0],
}

extern "C" {
    fn ktrace_new_delay(ns: u64, expired: ktrace_expired_t, data: *const c_void) -> *mut RawDelay;
    fn ktrace_start_delay(delay: *mut RawDelay, from_ns: u64);
    fn ktrace_free_delay(delay: *mut RawDelay);
}

/// Returns the time of the clock of timers (`CLOCK_MONOTONIC`) in ns. Any context.
pub fn timer_ns() -> u64 {
    // SAFETY: The kernel allows this in any context, also in NMIs.
    unsafe { bindings::ktime_get_mono_fast_ns() }
}

/// The end of a [`Delay`].
pub trait Expires: Send + Sync + 'static {
    /// Called in a hard interrupt, with interrupts off, `late_ns` after the time has passed.
    fn expired(&self, late_ns: u64);
}

/// A timer.
///
/// # Invariants
///
/// `delay` is from `ktrace_new_delay()`, with a pointer to the value in `handler`.
pub struct Delay<T: Expires> {
    delay: NonNull<RawDelay>,
    _handler: Arc<T>,
}

// SAFETY: Owns a timer and a reference, neither of which is bound to a thread.
unsafe impl<T: Expires> Send for Delay<T> {}
// SAFETY: A shared reference can only start the timer, which any context may do.
unsafe impl<T: Expires> Sync for Delay<T> {}

impl<T: Expires> Delay<T> {
    /// Creates a timer of `ns` nanoseconds. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(ns: u64, handler: Arc<T>) -> Result<Self> {
        // SAFETY: The callback gets a pointer to the handler, of which this keeps a reference until
        // the timer is freed.
        let delay =
            unsafe { ktrace_new_delay(ns, Some(expired::<T>), (&raw const *handler).cast()) };
        // INVARIANT: Just created with this handler.
        Ok(Self {
            delay: NonNull::new(delay).ok_or(ENOMEM)?,
            _handler: handler,
        })
    }

    /// Starts the timer, unless it is running. Any context.
    pub fn start(&self) {
        self.start_from(timer_ns());
    }

    /// Starts the timer as if this were done at the time `from_ns` of [`timer_ns`], unless it is
    /// running. Any context.
    pub fn start_from(&self, from_ns: u64) {
        // SAFETY: By the type invariant, this is a timer that exists until drop.
        unsafe { ktrace_start_delay(self.delay.as_ptr(), from_ns) }
    }
}

impl<T: Expires> Drop for Delay<T> {
    /// Cancels the timer. May sleep.
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the timer exists; nothing can start it any more.
        unsafe { ktrace_free_delay(self.delay.as_ptr()) }
    }
}

/// # Safety
///
/// Only for `delay.c`: `data` must be the handler of a timer of this type.
unsafe extern "C" fn expired<T: Expires>(data: *const c_void, late_ns: u64) {
    // SAFETY: The handler is alive as long as the timer, as the caller guarantees.
    unsafe { &*data.cast::<T>() }.expired(late_ns);
}
