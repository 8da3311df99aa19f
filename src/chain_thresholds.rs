// SPDX-License-Identifier: GPL-2.0

//! Which blocked intervals get a chain of wakeups: the thresholds of the trace arrays.

use kernel::sync::atomic::{
    Atomic,
    Relaxed,
    Release, //
};

use crate::{
    ktrace::{
        array::trace_array::{
            Id,
            TraceArray, //
        },
        sync::read_once::ReadOnce, //
    },
    relaxed_u64::RelaxedU64,
};

/// Maximum number of trace arrays with a threshold.
pub(crate) const MAX: usize = 32;

/// The threshold of a trace array.
struct Threshold {
    owner: Atomic<usize>,
    ns: RelaxedU64,
}

/// The thresholds of all trace arrays that have one. `owner` is a number that is only compared; 0
/// means that the place is free.
static THRESHOLDS: [Threshold; MAX] = [const {
    Threshold {
        owner: Atomic::new(0),
        ns: RelaxedU64::new(0),
    }
}; MAX];

/// The least threshold in ns; [`u64::MAX`] if there is none.
static LEAST_NS: Atomic<u64> = Atomic::new(u64::MAX);

/// Sets the thresholds in ns of all trace arrays that have one, at most [`MAX`]. Callers
/// must hold the lock of [`crate::arrays::STATE`].
pub(crate) fn set_thresholds(thresholds: impl Iterator<Item = (Id, u64)>) {
    let mut least_ns = u64::MAX;
    let mut all = thresholds.fuse();
    for place in &THRESHOLDS {
        place.owner.store(0, Release);
        if let Some((tr, ns)) = all.next() {
            place.ns.set(ns);
            place.owner.store(tr.as_usize(), Release);
            least_ns = least_ns.min(ns);
        }
    }
    LEAST_NS.store(least_ns, Relaxed);
}

/// Returns the least threshold in ns; [`u64::MAX`] if there is none.
#[inline]
pub(crate) fn least_ns() -> u64 {
    LEAST_NS.read_once()
}

/// Returns whether any trace array has a threshold.
pub(crate) fn are_wanted() -> bool {
    least_ns() != u64::MAX
}

/// Returns whether a trace array wants the chain of a blocked interval. To be called by probes.
pub(crate) fn is_wanted(tr: &TraceArray, block_ns: u64) -> bool {
    let mut places = THRESHOLDS.iter();
    let own = places.find(|place| place.owner.read_once() == tr.id().as_usize());
    own.is_some_and(|place| block_ns >= place.ns.get())
}
