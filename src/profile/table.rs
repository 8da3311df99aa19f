// SPDX-License-Identifier: GPL-2.0

//! A hash table of fixed size, for each CPU or for all, which maps keys to accumulated values.
//!
//! Each CPU writes its own table in any context, so an interrupt may come in between. Therefore an
//! entry is claimed by compare-and-exchange of its key, and values consist of atomics. Readers see
//! the tables of all CPUs.

use kernel::{
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

use crate::ktrace::sync::read_once::ReadOnce;

/// The number of entries that are searched for one key.
const PROBES: usize = 16;

struct Bucket<V> {
    /// The key; 0 if the entry is unused.
    key: Atomic<u64>,
    value: V,
}

/// Returns the hash of a key. Multiplicative (Fibonacci) hashing separates adjacent keys.
#[inline(always)]
fn hash(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// The tables of all CPUs.
pub(crate) struct Table<V> {
    cpus: KVec<VVec<Bucket<V>>>,
    /// The number of entries for each CPU, minus one.
    mask: usize,
    /// The number of additions for which there was no free entry.
    lost: Atomic<u64>,
}

impl<V: Default> Table<V> {
    /// Creates the tables with `buckets` entries for each CPU, which must be a power of two. May
    /// sleep.
    pub(crate) fn new(buckets: usize) -> Result<Self> {
        Self::with_tables(nr_cpu_ids(), buckets)
    }

    /// As [`Table::new`], but creates one table that all CPUs share.
    pub(crate) fn shared(buckets: usize) -> Result<Self> {
        Self::with_tables(1, buckets)
    }

    fn with_tables(tables: u32, buckets: usize) -> Result<Self> {
        let mut cpus = KVec::new();
        for _ in 0..tables {
            let mut cpu = VVec::with_capacity(buckets, GFP_KERNEL)?;
            for _ in 0..buckets {
                let bucket = Bucket {
                    key: Atomic::new(0),
                    value: V::default(),
                };
                cpu.push(bucket, GFP_KERNEL)?;
            }
            cpus.push(cpu, GFP_KERNEL)?;
        }
        Ok(Self {
            cpus,
            mask: buckets.wrapping_sub(1),
            lost: Atomic::new(0),
        })
    }

    /// Returns the size of all tables in bytes.
    pub(crate) fn size(&self) -> usize {
        let cpu = self
            .mask
            .saturating_add(1)
            .saturating_mul(size_of::<Bucket<V>>());
        self.cpus.len().saturating_mul(cpu)
    }

    /// Returns the number of additions for which there was no free entry.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Calls `with` with the value of `key` on this CPU; `key` must not be 0. If there is no free
    /// entry, the addition is counted as lost. Preemption must be off; any context.
    pub(crate) fn with(&self, key: u64, with: impl FnOnce(&V)) {
        let cpu = CpuId::current().as_u32() as usize;
        // The first one may be shared.
        let Some(buckets) = self.cpus.get(cpu).or_else(|| self.cpus.first()) else {
            return;
        };
        let hash = hash(key);
        for probe in 0..PROBES {
            let at = hash.wrapping_add(probe) & self.mask;
            let Some(bucket) = buckets.get(at) else {
                break;
            };
            let mut there = bucket.key.read_once();
            if there == 0 {
                there = match bucket.key.cmpxchg(0, key, Relaxed) {
                    Ok(_) => key,
                    Err(now) => now,
                };
            }
            if there == key {
                return with(&bucket.value);
            }
        }
        self.lost.add(1, Relaxed);
    }

    /// Returns the value of `key` on `cpu` if it is in the first entry of the search; `key` must
    /// not be 0.
    #[inline]
    pub(crate) fn first(&self, cpu: usize, key: u64) -> Option<&V> {
        let bucket = self.cpus.get(cpu)?.get(hash(key) & self.mask)?;
        (bucket.key.read_once() == key).then_some(&bucket.value)
    }

    /// Calls `visit` for the keys and values of all CPUs.
    pub(crate) fn for_each<'a>(&'a self, mut visit: impl FnMut(u64, &'a V) -> Result) -> Result {
        for bucket in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            match bucket.key.load(Relaxed) {
                0 => {}
                key => visit(key, &bucket.value)?,
            }
        }
        Ok(())
    }

    /// Calls `visit` for the keys and values of all CPUs.
    pub(crate) fn visit(&self, mut visit: impl FnMut(u64, &V)) {
        // Without errors.
        let _ = self.for_each(|key, value| {
            visit(key, value);
            Ok(())
        });
    }

    /// Replaces each key by the result of `change`, which must not be 0. Nothing may be added to
    /// the old or the new key until this returns.
    pub(crate) fn change_keys(&self, mut change: impl FnMut(u64) -> u64) {
        for bucket in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            let key = bucket.key.load(Relaxed);
            if key != 0 {
                bucket.key.store(change(key), Relaxed);
            }
        }
    }

    /// Calls `clear` for all values, and resets the number of lost additions. Keys keep their
    /// entries.
    pub(crate) fn clear_values(&self, clear: impl Fn(&V)) {
        for bucket in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            clear(&bucket.value);
        }
        self.lost.store(0, Relaxed);
    }

    /// Calls `clear` for all values, and removes all keys. The table must not be in use.
    pub(crate) fn clear(&self, clear: impl Fn(&V)) {
        self.clear_values(clear);
        for bucket in self.cpus.iter().flat_map(|cpu| cpu.iter()) {
            bucket.key.store(0, Relaxed);
        }
    }
}
