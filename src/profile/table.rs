// SPDX-License-Identifier: GPL-2.0

//! A table of fixed size on each CPU, from keys to what is added up for them.
//!
//! Each CPU writes to its own, in any context, so an interrupt may come in between: a place is taken
//! by a compare-and-exchange of its key, and values are made of atomics. Whoever reads sees all CPUs'.

use kernel::{
    alloc::KVVec,
    cpu::{
        nr_cpu_ids,
        CpuId, //
    },
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use crate::ktrace::once::Once;

/// How many places are looked at for one key.
const PROBES: usize = 16;

struct Place<V> {
    /// 0: nobody's.
    key: Atomic<u64>,
    value: V,
}

/// Where a key is looked for first: Fibonacci's multiplier spreads keys that are near each other.
#[inline(always)]
fn hash(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// The table.
pub(crate) struct Table<V> {
    cpus: KVec<KVVec<Place<V>>>,
    /// How many places there are on each CPU, less one.
    mask: usize,
    /// What found no place.
    lost: Atomic<u64>,
}

impl<V: Default> Table<V> {
    /// With so many places on each CPU, a power of two. May sleep.
    pub(crate) fn new(places: usize) -> Result<Self> {
        let mut cpus = KVec::new();
        for _ in 0..nr_cpu_ids() {
            let mut cpu = KVVec::with_capacity(places, GFP_KERNEL)?;
            for _ in 0..places {
                let place = Place {
                    key: Atomic::new(0),
                    value: V::default(),
                };
                cpu.push(place, GFP_KERNEL)?;
            }
            cpus.push(cpu, GFP_KERNEL)?;
        }
        Ok(Self {
            cpus,
            mask: places.wrapping_sub(1),
            lost: Atomic::new(0),
        })
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        let cpu = self
            .mask
            .saturating_add(1)
            .saturating_mul(size_of::<Place<V>>());
        self.cpus.len().saturating_mul(cpu)
    }

    /// What found no place.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Calls `with` with the value of a key, which is not 0, on this CPU. Preemption must be off for
    /// that to be worth anything; any context.
    pub(crate) fn with(&self, key: u64, with: impl FnOnce(&V)) {
        let cpu = CpuId::current().as_u32() as usize;
        let Some(places) = self.cpus.get(cpu) else {
            return;
        };
        let hash = hash(key);
        for probe in 0..PROBES {
            let at = hash.wrapping_add(probe) & self.mask;
            let Some(place) = places.get(at) else {
                break;
            };
            let mut there = place.key.read_once();
            if there == 0 {
                there = match place.key.cmpxchg(0, key, Relaxed) {
                    Ok(_) => key,
                    Err(now) => now,
                };
            }
            if there == key {
                return with(&place.value);
            }
        }
        self.lost.add(1, Relaxed);
    }

    /// The value of a key, which is not 0, on `cpu`, if it is where a key is looked for first.
    #[inline]
    pub(crate) fn first(&self, cpu: usize, key: u64) -> Option<&V> {
        let place = self.cpus.get(cpu)?.get(hash(key) & self.mask)?;
        (place.key.read_once() == key).then_some(&place.value)
    }

    /// Calls `visit` with every key and value of every CPU.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64, &V) -> Result) -> Result {
        for place in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            match place.key.load(Relaxed) {
                0 => {}
                key => visit(key, &place.value)?,
            }
        }
        Ok(())
    }

    /// Gives each key to `change`, and the place the key that it returns. That must not be 0, and
    /// nothing may be added to either key until this returns.
    pub(crate) fn change_keys(&self, mut change: impl FnMut(u64) -> u64) {
        for place in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            let key = place.key.load(Relaxed);
            if key != 0 {
                place.key.store(change(key), Relaxed);
            }
        }
    }

    /// Gives all values to `clear`, and forgets what was lost. Keys keep their places.
    pub(crate) fn clear_values(&self, clear: impl Fn(&V)) {
        for place in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            clear(&place.value);
        }
        self.lost.store(0, Relaxed);
    }

    /// The same, and forgets all keys. For a table that nobody uses meanwhile.
    pub(crate) fn clear(&self, clear: impl Fn(&V)) {
        self.clear_values(clear);
        for place in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            place.key.store(0, Relaxed);
        }
    }
}
