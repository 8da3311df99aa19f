// SPDX-License-Identifier: GPL-2.0

//! Counters that every CPU has for itself, and that are added up when somebody asks.

use core::ptr::NonNull;

use kernel::prelude::*;

extern "C" {
    fn ktrace_alloc_counters(nr: c_uint) -> *mut u64;
    fn ktrace_free_counters(counters: *mut u64);
    fn ktrace_this_cpu_add(counter: *mut u64, n: u64);
    fn ktrace_percpu_sum(counter: *mut u64) -> u64;
}

/// `N` counters of 64 bits on each CPU.
///
/// # Invariants
///
/// The pointer is what `__alloc_percpu()` returned for `N` counters, and is not freed before this.
pub struct Counters<const N: usize>(NonNull<u64>);

// SAFETY: A per-CPU allocation belongs to no thread.
unsafe impl<const N: usize> Send for Counters<N> {}
// SAFETY: Each CPU increments its own memory, in one instruction or with interrupts considered
// (`this_cpu_add()`); reading takes one machine word at a time.
unsafe impl<const N: usize> Sync for Counters<N> {}

impl<const N: usize> Counters<N> {
    /// Allocates, all zero. May sleep.
    pub fn new() -> Result<Self> {
        // SAFETY: No preconditions; may sleep, as this function may.
        let counters = unsafe { ktrace_alloc_counters(N as c_uint) };
        // INVARIANT: Just allocated for `N`.
        Ok(Self(NonNull::new(counters).ok_or(ENOMEM)?))
    }

    /// Where counter `n` lies in the per-CPU memory. An `n` that is out of range counts as 0.
    #[inline]
    fn counter(&self, n: usize) -> *mut u64 {
        let n = if n < N { n } else { 0 };
        self.0.as_ptr().wrapping_add(n)
    }

    /// Adds one to counter `n` of this CPU. Any context, NMI too.
    #[inline]
    pub fn inc(&self, n: usize) {
        self.add(n, 1);
    }

    /// Adds `by` to counter `n` of this CPU. Any context, NMI too.
    #[inline]
    pub fn add(&self, n: usize, by: u64) {
        // SAFETY: A per-CPU pointer into the allocation, by the invariant and `counter()`.
        unsafe { ktrace_this_cpu_add(self.counter(n), by) }
    }

    /// The sum of counter `n` over all CPUs.
    pub fn sum(&self, n: usize) -> u64 {
        // SAFETY: As above.
        unsafe { ktrace_percpu_sum(self.counter(n)) }
    }
}

impl<const N: usize> Drop for Counters<N> {
    fn drop(&mut self) {
        // SAFETY: Allocated by the invariant, and nobody has a reference to it any more.
        unsafe { ktrace_free_counters(self.0.as_ptr()) }
    }
}
