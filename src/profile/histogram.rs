// SPDX-License-Identifier: GPL-2.0

//! Statistics of durations: number, sum, minimum, maximum, and a histogram for quantiles.
//!
//! The histogram has eight buckets for each power of two, so a quantile has an error of at most
//! 1/16. Durations below 8 ns have a bucket each; durations above 18 minutes share the last bucket.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    }, //
};

use crate::ktrace::sync::read_once::{
    AddHere,
    ReadOnce, //
};

/// The number of bits that distinguish the buckets of one power of two.
const FINE_BITS: u32 = 3;
const FINE: usize = 1 << FINE_BITS;
/// The exponent of the power of two from which on durations share the last bucket.
const MAX_BITS: u32 = 40;
/// The number of buckets.
const BUCKETS: usize = FINE * (MAX_BITS - FINE_BITS + 1) as usize;

/// Returns the index of the bucket for a duration.
fn bucket(ns: u64) -> usize {
    if ns < FINE as u64 {
        return ns as usize;
    }
    let octave = ns.ilog2().wrapping_sub(FINE_BITS);
    let fine = (ns >> octave) as usize & (FINE - 1);
    let index = (octave as usize + 1) * FINE + fine;
    index.min(BUCKETS - 1)
}

/// Returns the midpoint of a bucket in ns.
fn middle(bucket: usize) -> u64 {
    if bucket < FINE {
        return bucket as u64;
    }
    let octave = (bucket / FINE).wrapping_sub(1) as u32;
    let first = ((FINE + bucket % FINE) as u64) << octave;
    first + (1u64 << octave) / 2
}

/// The statistics of one CPU. Only this CPU adds to them, in any context.
pub(crate) struct Histogram {
    count: Atomic<u64>,
    sum_ns: Atomic<u64>,
    /// The one's complement of the minimum, so that the initial 0 is the largest value.
    min_ns: Atomic<u64>,
    max_ns: Atomic<u64>,
    buckets: [Atomic<u64>; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            count: Atomic::new(0),
            sum_ns: Atomic::new(0),
            min_ns: Atomic::new(0),
            max_ns: Atomic::new(0),
            buckets: [const { Atomic::new(0) }; BUCKETS],
        }
    }
}

/// Raises `place` to `value` if it is less.
fn raise(place: &Atomic<u64>, value: u64) {
    let mut old = place.read_once();
    while old < value {
        match place.cmpxchg(old, value, Relaxed) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

impl Histogram {
    /// Adds a duration. Must be called on the CPU that these statistics belong to, with preemption
    /// off; any context.
    pub(crate) fn add(&self, ns: u64) {
        raise(&self.min_ns, !ns);
        raise(&self.max_ns, ns);
        self.add_in(ns);
    }

    /// Returns whether `ns` is within the range of minimum and maximum.
    #[inline]
    pub(crate) fn has_range(&self, ns: u64) -> bool {
        self.min_ns.read_once() >= !ns && self.max_ns.read_once() >= ns
    }

    /// Adds a duration for which [`Histogram::has_range`] returned true. The conditions of
    /// [`Histogram::add`] apply.
    #[inline]
    pub(crate) fn add_in(&self, ns: u64) {
        self.count.add_here(1);
        self.sum_ns.add_here(ns);
        if let Some(bucket) = self.buckets.get(bucket(ns)) {
            bucket.add_here(1);
        }
    }

    /// Resets the statistics. Durations that are added concurrently may be lost in part.
    pub(crate) fn clear(&self) {
        self.count.store(0, Relaxed);
        self.sum_ns.store(0, Relaxed);
        self.min_ns.store(0, Relaxed);
        self.max_ns.store(0, Relaxed);
        for bucket in &self.buckets {
            bucket.store(0, Relaxed);
        }
    }
}

/// The merged statistics of several CPUs, for a reader. All zeros are those of no durations.
#[derive(Zeroable)]
pub(crate) struct HistogramSnapshot {
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    min_ns: u64,
    pub(crate) max_ns: u64,
    buckets: [u64; BUCKETS],
}

impl HistogramSnapshot {
    /// Adds the statistics of one CPU.
    pub(crate) fn merge(&mut self, other: &Histogram) {
        self.count = self.count.wrapping_add(other.count.load(Relaxed));
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns.load(Relaxed));
        self.min_ns = self.min_ns.max(other.min_ns.load(Relaxed));
        self.max_ns = self.max_ns.max(other.max_ns.load(Relaxed));
        for (to, from) in self.buckets.iter_mut().zip(&other.buckets) {
            *to = to.wrapping_add(from.load(Relaxed));
        }
    }

    /// Returns the minimum in ns, 0 if there are no durations.
    pub(crate) fn min_ns(&self) -> u64 {
        match self.count {
            0 => 0,
            _ => !self.min_ns,
        }
    }

    /// Returns the duration in ns that `per_mille` of 1000 durations do not exceed.
    pub(crate) fn quantile_ns(&self, per_mille: u32) -> u64 {
        let per_mille = u64::from(per_mille);
        let all = self
            .buckets
            .iter()
            .fold(0u64, |all, n| all.wrapping_add(*n));
        // The number of durations that is at least the requested share of all, and at least one.
        let wanted = (all / 1000).wrapping_mul(per_mille);
        let wanted = wanted.wrapping_add((all % 1000).wrapping_mul(per_mille).div_ceil(1000));
        let wanted = wanted.max(1);
        let mut seen = 0u64;
        for (bucket, n) in self.buckets.iter().enumerate() {
            seen = seen.wrapping_add(*n);
            if seen >= wanted {
                return middle(bucket).clamp(self.min_ns(), self.max_ns.max(self.min_ns()));
            }
        }
        self.max_ns
    }
}
