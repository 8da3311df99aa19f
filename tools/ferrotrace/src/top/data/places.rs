// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where threads were blocked.

use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;

use crate::{
    model::{
        Place,
        Sum, //
    },
    recording::Blocked,
};

/// How many places are kept. If there are more, the half with the larger sums remains.
const LIMIT: usize = 4096;

/// The precision of quantiles, in digits.
const DIGITS: u8 = 2;

/// The places where threads were blocked.
#[derive(Clone, Default)]
pub struct Places(FxHashMap<Place, PlaceTimes>);

/// How long threads were blocked at a place.
#[derive(Clone)]
pub struct PlaceTimes {
    /// The number of intervals, their sum, and the longest one.
    pub sum: Sum,
    /// Their distribution.
    times: Option<Histogram<u32>>,
}

impl PlaceTimes {
    /// Returns a quantile in ns, for example 0.99; it is up to 1 % too large.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let times = self.times.as_ref();
        let value = times.map_or(0, |times| times.value_at_quantile(quantile));
        value.min(self.sum.max)
    }
}

impl Places {
    /// Adds an interval of `ns`.
    pub fn add(&mut self, blocked: &Blocked, ns: u64) {
        let times = self
            .0
            .entry(Place::new(blocked))
            .or_insert_with(|| PlaceTimes {
                sum: Sum::default(),
                times: Histogram::new(DIGITS).ok(),
            });
        times.sum.add(ns);
        if let Some(times) = &mut times.times {
            // The histogram grows with the values, so none is out of range.
            let _ = times.record(ns);
        }
        if self.0.len() > LIMIT {
            self.shrink();
        }
    }

    /// Returns all places, those with the largest sums first.
    pub fn sorted(&self) -> Vec<(&Place, &PlaceTimes)> {
        let mut places: Vec<_> = self.0.iter().collect();
        places.sort_unstable_by_key(|(place, times)| {
            let pid = place.waker.task.pid;
            let total = std::cmp::Reverse(times.sum.total);
            (total, place.caller, pid, place.waker.context)
        });
        places
    }

    fn shrink(&mut self) {
        let mut all: Vec<_> = self.0.drain().collect();
        all.select_nth_unstable_by_key(LIMIT / 2, |(_, times)| std::cmp::Reverse(times.sum.total));
        all.truncate(LIMIT / 2);
        self.0.extend(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::FuncId;

    fn blocked(func: u32) -> Blocked {
        Blocked {
            caller: Some(FuncId::new(func)),
            ..Blocked::default()
        }
    }

    #[test]
    fn quantiles() {
        let mut places = Places::default();
        for ns in 1..=1000 {
            places.add(&blocked(1), ns * 1000);
        }
        let sorted = places.sorted();
        let [(_, times)] = sorted[..] else {
            panic!("{} places", sorted.len());
        };
        assert_eq!((times.sum.count, times.sum.max), (1000, 1_000_000));
        assert_eq!(times.sum.total, 500_500_000);
        let half = times.quantile(0.5);
        assert!((500_000..505_001).contains(&half), "{half}");
        let most = times.quantile(0.99);
        assert!((990_000..1_000_001).contains(&most), "{most}");
        assert_eq!(times.quantile(1.0), 1_000_000);
    }

    #[test]
    fn the_largest_are_kept() {
        let mut places = Places::default();
        for func in 0..6000 {
            places.add(&blocked(func), u64::from(func) + 1);
        }
        let sorted = places.sorted();
        assert!(
            sorted.len() <= LIMIT && sorted.len() > LIMIT / 2,
            "{}",
            sorted.len()
        );
        assert_eq!(sorted[0].0.caller, Some(FuncId::new(5999)));
        assert!(sorted.iter().all(|(_, times)| times.sum.total > 2000));
        let mut places = Places::default();
        for func in 0..6000 {
            places.add(&blocked(func), 7);
        }
        assert!(places.sorted().len() > LIMIT / 2, "places with equal sums");
    }
}
