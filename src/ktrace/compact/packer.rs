// SPDX-License-Identifier: GPL-2.0

//! The packs of a trace array: one at a time on each CPU.

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
    counter::Clock,
    pack::{
        Local,
        Outcome,
        Where, //
    },
    selftest,
    word::{
        Item,
        MAX_WORDS, //
    },
};
use crate::ktrace::{
    atomic::{
        AtomicBool,
        AtomicPtr, //
    },
    once::Once,
    records::Context,
    trace_array::TraceArray, //
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
/// The pointer is null, or to a `Local` for each CPU that there may be, all zero at first.
pub struct Packer {
    memory: AtomicPtr<c_void>,
    mult: Atomic<u32>,
    is_counter: AtomicBool,
}

impl Packer {
    /// Of one that packs nothing.
    #[expect(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            memory: AtomicPtr::null(),
            mult: Atomic::new(0),
            is_counter: AtomicBool::new(false),
        }
    }

    /// Takes the memory that it needs, if it has none yet, until it is dropped. May sleep; not to be
    /// called twice at once.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EOPNOTSUPP` if this kernel's ring buffer does not do what packs rely on.
    pub fn prepare(&self) -> Result {
        if !self.memory.load(Relaxed).is_null() {
            return Ok(());
        }
        selftest::supported()?;
        // SAFETY: No preconditions; may sleep.
        let memory = unsafe { ktrace_alloc_packs() };
        if memory.is_null() {
            return Err(ENOMEM);
        }
        self.set_clock(Clock::new());
        // INVARIANT: Fresh, and zeroed by the kernel, which is a valid `Local`.
        self.memory.store(memory, Release);
        Ok(())
    }

    fn set_clock(&self, clock: Clock) {
        self.mult.store(clock.mult, Relaxed);
        self.is_counter.store(clock.is_counter, Relaxed);
    }

    /// Finds out anew what times are of: the kernel may have given the counter up. To be called while nobody writes.
    pub fn choose_clock(&self) {
        let clock = Clock::new();
        let is_same = clock.mult == self.mult.load(Relaxed)
            && clock.is_counter == self.is_counter.load(Relaxed);
        if is_same || self.memory.load(Relaxed).is_null() {
            return;
        }
        self.set_clock(clock);
        self.for_each_local(|local| {
            // No pack goes on by another clock than it was begun by.
            // SAFETY: One word, which is written by nobody else just now.
            unsafe { addr_of_mut!((*local).page).write_volatile(null_mut()) };
        });
    }

    /// Calls `with` for the packs of each CPU, if there are any. Each CPU may write its own meanwhile.
    fn for_each_local(&self, with: impl FnMut(*mut Local)) {
        let memory = self.memory.load(Relaxed);
        if memory.is_null() {
            return;
        }
        // SAFETY: Allocated per CPU, by the invariant; null if there cannot be such a CPU.
        let local = |cpu| unsafe { ktrace_cpu_ptr(memory, cpu) }.cast::<Local>();
        (0..kernel::cpu::nr_cpu_ids())
            .map(local)
            .filter(|local| !local.is_null())
            .for_each(with);
    }

    /// Lets functions that the hook in that slot reports take the shortest way, or none of them.
    ///
    /// The packer has to stay until the hook is gone, or this was called for another one.
    pub(in crate::ktrace) fn bind(slot: u32, packer: Option<&Self>) {
        let is_of_use = |packer: &&Self| packer.is_counter.load(Relaxed);
        let memory = packer
            .filter(is_of_use)
            .map_or(null_mut(), |packer| packer.memory.load(Relaxed));
        // SAFETY: Null, or what the other side takes it for.
        unsafe { ktrace_set_packs(slot, memory) };
    }

    /// The sum of what `of` says of the packs of all CPUs.
    fn sum(&self, of: impl Fn(*const Local) -> u64) -> u64 {
        let mut sum = 0u64;
        self.for_each_local(|local| sum = sum.wrapping_add(of(local)));
        sum
    }

    /// Functions that were packed, ever.
    pub fn functions(&self) -> u64 {
        self.sum(|local| {
            // SAFETY: Single words, each of which its CPU may write meanwhile: the sum is exact when
            // nothing is recorded.
            unsafe {
                let functions = addr_of!((*local).functions).read_volatile();
                let place = addr_of!((*local).place).read_volatile().addr();
                let words = addr_of!((*local).words).read_volatile().addr();
                let half = addr_of!((*local).half).read_volatile() != 0;
                let halves = (place.saturating_sub(words) / size_of::<u32>()) as u64;
                let before = addr_of!((*local).halves).read_volatile();
                let calls = addr_of!((*local).calls).read_volatile();
                let calls = calls.saturating_sub(addr_of!((*local).calls_seen).read_volatile());
                let since = (halves | u64::from(half)).saturating_sub(before);
                let since = since.saturating_sub(calls.saturating_mul(2));
                functions.wrapping_add(since.min(2 * MAX_WORDS as u64))
            }
        })
    }

    /// Calls that were packed by the shortest way, ever.
    pub fn calls(&self) -> u64 {
        // SAFETY: As above.
        self.sum(|local| unsafe { addr_of!((*local).calls).read_volatile() })
    }

    /// What came by the shortest way, may have been read by nobody, and found no room to be written again, ever.
    pub fn lost(&self) -> u64 {
        // SAFETY: As above.
        self.sum(|local| u64::from(unsafe { addr_of!((*local).lost).read_volatile() }))
    }

    /// The packs, for calls that take the shortest way to them; null if they may not.
    pub(in crate::ktrace) fn for_calls(&self) -> *mut c_void {
        match self.is_counter.load(Relaxed) {
            true => self.memory.load(Relaxed),
            false => null_mut(),
        }
    }

    /// Writes an item, which happens now, to a pack; `kind` is the number that records of packs begin
    /// with. Preemption must be off; any context.
    #[inline]
    pub fn write(&self, tr: &TraceArray, kind: u32, context: Context, item: &Item) -> Outcome {
        // The rest is there before it.
        let memory = self.memory.load(Acquire);
        if memory.is_null() {
            return Outcome::Other;
        }
        let at = Where {
            tr,
            kind,
            context,
            clock: Clock {
                mult: self.mult.read_once(),
                is_counter: self.is_counter.read_once(),
            },
        };
        // SAFETY: Allocated per CPU, by the invariant.
        let local: *mut Local = unsafe { ktrace_this_cpu_ptr(memory) }.cast();
        // SAFETY: This CPU's own, and preemption is off: only an interrupt can come in between, and
        // it leaves alone what is busy, or is through before this goes on.
        unsafe {
            let busy = addr_of_mut!((*local).busy);
            if busy.read_volatile() != 0 {
                return Outcome::Other;
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
            // SAFETY: Allocated by the invariant, and nobody has a reference to this any more.
            unsafe { ktrace_free_packs(memory) };
        }
    }
}
