// SPDX-License-Identifier: MIT OR Apache-2.0

//! Run, wait and block over time, in a fixed number of buckets.

use crate::model::Split;

/// The maximum number of buckets of a series.
const BUCKETS: usize = 256;
/// The width of the first buckets: about 1 us.
const FIRST_SHIFT: u32 = 10;

/// Times per bucket. The width of the buckets, a power of two in ns, doubles when the series gets
/// too long for them.
#[derive(Clone, Debug)]
pub struct Series {
    /// The logarithm of the width.
    shift: u32,
    /// The number of the first bucket in `buckets`.
    first: usize,
    buckets: Vec<Split>,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            shift: FIRST_SHIFT,
            first: 0,
            buckets: Vec::new(),
        }
    }
}

impl Series {
    /// Adds `split`, evenly distributed between the times `start` and `end` in ns, which count from
    /// the beginning of the recording.
    pub fn add(&mut self, start: u64, end: u64, split: &Split) {
        if start >= end {
            return;
        }
        self.widen((end - 1).checked_ilog2().map_or(0, |log| log + 1));
        let (from, to) = (self.bucket(start), self.bucket(end - 1));
        if self.buckets.is_empty() {
            self.first = from;
        }
        if from < self.first {
            let more = self.first - from;
            self.buckets
                .splice(0..0, std::iter::repeat_n(Split::default(), more));
            self.first = from;
        }
        if self.buckets.len() <= to - self.first {
            self.buckets.resize(to - self.first + 1, Split::default());
        }
        let until = |time: u64| {
            let part = |ns: u64| {
                let product = u128::from(ns) * u128::from(time - start);
                u64::try_from(product / u128::from(end - start)).unwrap_or(ns)
            };
            Split {
                run: part(split.run),
                wait: part(split.wait),
                block: part(split.block),
            }
        };
        // The parts up to each boundary are subtracted from each other, so that no ns is lost.
        let mut before = Split::default();
        for number in from..=to {
            let boundary = (number as u64 + 1).saturating_mul(1 << self.shift);
            let after = until(boundary.min(end));
            self.buckets[number - self.first] += after - before;
            before = after;
        }
    }

    /// Returns the series in buckets that are wide enough for a time of `span` ns: their width in
    /// ns, the number of the first one, and their content.
    pub fn fit(mut self, span: u64) -> (u64, usize, Vec<Split>) {
        self.widen(span.checked_ilog2().map_or(0, |log| log + 1));
        (1 << self.shift, self.first, self.buckets)
    }

    fn bucket(&self, time: u64) -> usize {
        // `widen()` has limited it to `BUCKETS`.
        usize::try_from(time >> self.shift).unwrap_or(usize::MAX)
    }

    /// Doubles the width of the buckets until times of `bits` bits fit.
    fn widen(&mut self, bits: u32) {
        let shift = bits.saturating_sub(BUCKETS.ilog2());
        while self.shift < shift {
            self.shift += 1;
            let mut sums = Vec::with_capacity(self.buckets.len() / 2 + 1);
            for (offset, bucket) in self.buckets.iter().enumerate() {
                let at = (self.first + offset) / 2 - self.first / 2;
                if sums.len() <= at {
                    sums.push(Split::default());
                }
                sums[at] += *bucket;
            }
            self.first /= 2;
            self.buckets = sums;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ns: u64) -> Split {
        Split::new(ns, 0, 0)
    }

    #[test]
    fn no_time_is_lost_when_buckets_get_wider() {
        let mut series = Series::default();
        let mut sum = Split::default();
        let mut time = 0;
        for n in 1..500 {
            let ns = 1 + n * n * 977;
            let split = match n % 3 {
                0 => run(ns),
                1 => Split::new(ns, ns, 0),
                _ => Split::new(ns, ns / 3, ns / 3),
            };
            series.add(time, time + ns, &split);
            sum += split;
            time += ns + n;
            assert!(series.buckets.len() <= BUCKETS);
        }
        let (width, _, buckets) = series.fit(time);
        assert!(width * BUCKETS as u64 >= time);
        assert!(buckets.len() > BUCKETS / 2 - 1, "{}", buckets.len());
        let mut total = Split::default();
        for bucket in buckets {
            assert!(bucket.wall() <= width);
            total += bucket;
        }
        assert_eq!(total, sum);
    }

    #[test]
    fn time_is_in_the_bucket_in_which_it_was() {
        let mut series = Series::default();
        series.add(1 << 20, (1 << 20) + 100, &run(100));
        series.add(0, 10, &run(10));
        let (width, first, buckets) = series.fit(1 << 20);
        let index = usize::try_from((1 << 20) / width).unwrap();
        assert_eq!((first, buckets[0]), (0, run(10)));
        assert_eq!(buckets[index], run(100));
        let used = buckets.iter().filter(|bucket| bucket.wall() != 0);
        assert_eq!(used.count(), 2);
    }

    #[test]
    fn the_largest_times_have_a_bucket() {
        let mut series = Series::default();
        series.add(0, 10, &run(10));
        series.add(u64::MAX - 10, u64::MAX, &run(10));
        let (_, first, buckets) = series.fit(u64::MAX);
        assert_eq!((first, buckets.len()), (0, BUCKETS));
        assert_eq!(buckets.last(), Some(&run(10)));
    }
}
