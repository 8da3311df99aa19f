// SPDX-License-Identifier: GPL-2.0

//! The packs of a trace array: one current pack on each CPU.

use core::{
    mem::size_of,
    ptr::{
        addr_of,
        addr_of_mut,
        null_mut, //
    },
    sync::atomic::{
        compiler_fence,
        Ordering, //
    },
};

use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Relaxed,
        Release, //
    },
};

use super::{
    clock::Clock,
    encoding::{
        Item,
        MAX_WORDS, //
    },
    percpu_pack::{
        PackContext, //
        PackResult,
    },
    selftest,
    state::PerCpuPack, //
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    record::context::Context,
    sync::{
        atomic::{
            AtomicBool,
            AtomicPtr, //
        },
        read_once::ReadOnce, //
    },
};

extern "C" {
    fn ktrace_alloc_packs() -> *mut c_void;
    fn ktrace_free_packs(packs: *mut c_void);
    fn ktrace_this_cpu_ptr(memory: *mut c_void) -> *mut c_void;
    fn ktrace_cpu_ptr(memory: *mut c_void, cpu: c_uint) -> *mut c_void;
    fn ktrace_set_packs(slot: c_uint, packs: *mut c_void);
}

/// The packs of a trace array.
///
/// # Invariants
///
/// `memory` is null, or points to per-CPU memory with a `PerCpuPack` for each possible CPU, which
/// is all zero at first.
pub struct Packer {
    memory: AtomicPtr<c_void>,
    mult: Atomic<u32>,
    is_counter: AtomicBool,
}

impl Packer {
    /// Creates a packer without memory, which packs nothing.
    #[expect(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            memory: AtomicPtr::null(),
            mult: Atomic::new(0),
            is_counter: AtomicBool::new(false),
        }
    }

    /// Allocates the memory for packs if there is none yet. It is freed when the packer is dropped.
    /// May sleep. Must not be called concurrently.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short; `EOPNOTSUPP` if this kernel's ring buffer does not work as
    /// packs require.
    pub fn prepare(&self) -> Result {
        if !self.memory.load(Relaxed).is_null() {
            return Ok(());
        }
        selftest::supported()?;
        // SAFETY: `ktrace_alloc_packs()` may sleep, and so may this function; it has no other
        // preconditions.
        let memory = unsafe { ktrace_alloc_packs() };
        if memory.is_null() {
            return Err(ENOMEM);
        }
        self.set_clock(Clock::new());
        // INVARIANT: The memory is new, per CPU, and zeroed; all zero is a valid `PerCpuPack`.
        self.memory.store(memory, Release);
        Ok(())
    }

    fn set_clock(&self, clock: Clock) {
        self.mult.store(clock.mult, Relaxed);
        self.is_counter.store(clock.is_counter, Relaxed);
    }

    /// Chooses the clock of packs again, because the kernel may have found the counter unusable.
    /// Must be called while no context writes.
    pub fn choose_clock(&self) {
        let clock = Clock::new();
        let is_same = clock.mult == self.mult.load(Relaxed)
            && clock.is_counter == self.is_counter.load(Relaxed);
        if is_same || self.memory.load(Relaxed).is_null() {
            return;
        }
        self.set_clock(clock);
        self.for_each_local(|local| {
            // A pack has only one clock, so the current packs are closed. SAFETY: `local` points to
            // a `PerCpuPack`. A single word is written, and no context writes concurrently, as the
            // caller guarantees.
            unsafe { addr_of_mut!((*local).page).write_volatile(null_mut()) };
        });
    }

    /// Calls `with` for the state of each CPU, if there is memory. Each CPU may write its own state
    /// concurrently.
    fn for_each_local(&self, with: impl FnMut(*mut PerCpuPack)) {
        let memory = self.memory.load(Relaxed);
        if memory.is_null() {
            return;
        }
        // SAFETY: `memory` is not null, so it is per-CPU memory, by the type invariant. The result
        // is null for a CPU that is not possible.
        let local = |cpu| unsafe { ktrace_cpu_ptr(memory, cpu) }.cast::<PerCpuPack>();
        (0..kernel::cpu::nr_cpu_ids())
            .map(local)
            .filter(|local| !local.is_null())
            .for_each(with);
    }

    /// Enables the fast path for the functions that the hook in `slot` reports, or disables it if
    /// `packer` is `None`.
    ///
    /// The packer must live until the hook is gone, or until this is called with another packer.
    pub(in crate::ktrace) fn bind(slot: u32, packer: Option<&Self>) {
        let is_of_use = |packer: &&Self| packer.is_counter.load(Relaxed);
        let memory = packer
            .filter(is_of_use)
            .map_or(null_mut(), |packer| packer.memory.load(Relaxed));
        // SAFETY: `memory` is null, or per-CPU memory of `PerCpuPack`, which has the layout of
        // `struct ktrace_pack`.
        unsafe { ktrace_set_packs(slot, memory) };
    }

    /// Returns the sum of `of` over the packs of all CPUs.
    fn sum(&self, of: impl Fn(*const PerCpuPack) -> u64) -> u64 {
        let mut sum = 0u64;
        self.for_each_local(|local| sum = sum.wrapping_add(of(local)));
        sum
    }

    /// Returns the number of functions that were packed, in total.
    pub fn functions(&self) -> u64 {
        self.sum(|local| {
            // SAFETY: `local` points to a `PerCpuPack`, of which single words are read. Its CPU may
            // write each concurrently: the sum is exact while nothing is recorded.
            unsafe {
                let functions = addr_of!((*local).functions).read_volatile();
                let place = addr_of!((*local).place).read_volatile().addr();
                let words = addr_of!((*local).words).read_volatile().addr();
                let half = addr_of!((*local).half).read_volatile() != 0;
                let halves = (place.saturating_sub(words) / size_of::<u32>()) as u64;
                let before = addr_of!((*local).halves).read_volatile();
                let calls = addr_of!((*local).calls).read_volatile();
                let calls = calls.saturating_sub(addr_of!((*local).calls_seen).read_volatile());
                let extra = addr_of!((*local).extra).read_volatile();
                let extra = extra.saturating_sub(addr_of!((*local).extra_seen).read_volatile());
                let others = calls.saturating_mul(2).saturating_add(extra);
                let since = (halves | u64::from(half)).saturating_sub(before);
                let since = since.saturating_sub(others);
                functions.wrapping_add(since.min(2 * MAX_WORDS as u64))
            }
        })
    }

    /// Returns the number of entries of calls that the fast path packed, in total.
    pub fn begins(&self) -> u64 {
        // SAFETY: `local` points to a `PerCpuPack`, of which a single word is read.
        self.sum(|local| unsafe { addr_of!((*local).begins).read_volatile() })
    }

    /// Returns the number of calls that the fast path packed when they returned, in total.
    pub fn returns(&self) -> u64 {
        // SAFETY: `local` points to a `PerCpuPack`, of which single words are read.
        self.sum(|local| unsafe {
            let begins = addr_of!((*local).begins).read_volatile();
            addr_of!((*local).calls)
                .read_volatile()
                .saturating_sub(begins)
        })
    }

    /// Returns the number of items of the fast path that a reader may have missed, and that found
    /// no room to be written again, in total.
    pub fn lost(&self) -> u64 {
        // SAFETY: `local` points to a `PerCpuPack`, of which a single word is read.
        self.sum(|local| u64::from(unsafe { addr_of!((*local).lost).read_volatile() }))
    }

    /// Returns the packs for the fast path of calls; null if it must not be used.
    pub(in crate::ktrace) fn for_calls(&self) -> *mut c_void {
        match self.is_counter.load(Relaxed) {
            true => self.memory.load(Relaxed),
            false => null_mut(),
        }
    }

    /// Writes an item that happens now to a pack. `kind` is the type number of pack records.
    /// Preemption must be off. Any context.
    #[inline]
    pub fn write(&self, tr: &TraceArray, kind: u32, context: Context, item: &Item) -> PackResult {
        // `mult` and `is_counter` were stored before the pointer.
        let memory = self.memory.load(Acquire);
        if memory.is_null() {
            return PackResult::Fallback;
        }
        let at = PackContext {
            tr,
            kind,
            context,
            clock: Clock {
                mult: self.mult.read_once(),
                is_counter: self.is_counter.read_once(),
            },
        };
        // SAFETY: `memory` is per-CPU memory, by the type invariant.
        let local: *mut PerCpuPack = unsafe { ktrace_this_cpu_ptr(memory) }.cast();
        // SAFETY: `local` is this CPU's state, and preemption is off. So only an interrupt can use
        // it in between: it does not touch a busy state, or it has finished before this code
        // continues.
        unsafe {
            let busy = addr_of_mut!((*local).busy);
            if busy.read_volatile() != 0 {
                return PackResult::Fallback;
            }
            busy.write_volatile(1);
            compiler_fence(Ordering::SeqCst);
            let outcome = (*local).write(at, item);
            compiler_fence(Ordering::SeqCst);
            busy.write_volatile(0);
            outcome
        }
    }
}

impl Drop for Packer {
    fn drop(&mut self) {
        let memory = self.memory.load(Relaxed);
        if !memory.is_null() {
            // SAFETY: Allocated by `ktrace_alloc_packs()`, by the type invariant, and `self` is not
            // used after this.
            unsafe { ktrace_free_packs(memory) };
        }
    }
}
