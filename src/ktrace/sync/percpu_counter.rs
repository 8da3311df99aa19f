// SPDX-License-Identifier: GPL-2.0

//! Per-CPU counters whose sum is computed on request.

use core::ptr::NonNull;

use kernel::prelude::*;

extern "C" {
    fn ktrace_alloc_counters(nr: c_uint) -> *mut u64;
    fn ktrace_free_counters(counters: *mut u64);
    fn ktrace_this_cpu_add(counter: *mut u64, n: u64);
    fn ktrace_percpu_sum(counter: *mut u64) -> u64;
}

/// `N` 64-bit counters on each CPU.
///
/// # Invariants
///
/// The pointer was returned by `__alloc_percpu()` for `N` counters, and is freed only on drop.
pub struct Counters<const N: usize>(NonNull<u64>);

// SAFETY: A per-CPU allocation is not bound to a thread.
unsafe impl<const N: usize> Send for Counters<N> {}
// SAFETY: Additions are safe against interrupts and other CPUs (`ktrace_this_cpu_add()`), and a sum
// reads each counter as one machine word.
unsafe impl<const N: usize> Sync for Counters<N> {}

impl<const N: usize> Counters<N> {
    /// Allocates the counters with the value 0. May sleep. Fails with `ENOMEM` if memory is short.
    pub fn new() -> Result<Self> {
        // SAFETY: The function may sleep, as the documentation of `new()` says.
        let counters = unsafe { ktrace_alloc_counters(N as c_uint) };
        // INVARIANT: Allocated above for `N` counters.
        Ok(Self(NonNull::new(counters).ok_or(ENOMEM)?))
    }

    /// Returns the per-CPU address of counter `n`, or of counter 0 if `n` is out of range.
    #[inline]
    fn counter(&self, n: usize) -> *mut u64 {
        let n = if n < N { n } else { 0 };
        self.0.as_ptr().wrapping_add(n)
    }

    /// Adds 1 to counter `n` of this CPU. Any context, including NMI.
    #[inline]
    pub fn inc(&self, n: usize) {
        self.add(n, 1);
    }

    /// Adds `by` to counter `n` of this CPU. Any context, including NMI.
    #[inline]
    pub fn add(&self, n: usize, by: u64) {
        // SAFETY: By the type invariant and `counter()`, this is a per-CPU pointer into the
        // allocation.
        unsafe { ktrace_this_cpu_add(self.counter(n), by) }
    }

    /// Returns the sum of counter `n` over all CPUs.
    pub fn sum(&self, n: usize) -> u64 {
        // SAFETY: By the type invariant and `counter()`, this is a per-CPU pointer into the
        // allocation.
        unsafe { ktrace_percpu_sum(self.counter(n)) }
    }
}

impl<const N: usize> Drop for Counters<N> {
    fn drop(&mut self) {
        // SAFETY: Allocated, by the type invariant, and `&mut self` shows that there is no other
        // user.
        unsafe { ktrace_free_counters(self.0.as_ptr()) }
    }
}
