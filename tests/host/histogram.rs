// SPDX-License-Identifier: GPL-2.0

//! Histograms of times, compared with an exact evaluation of the same times.

use crate::{
    histograms::{
        Histogram, //
        HistogramSnapshot,
    }, //
    random::Random,
};

/// Returns the time that `per_mille` of the times do not exceed.
fn exact(sorted: &[u64], per_mille: u64) -> u64 {
    let wanted = (sorted.len() as u64 * per_mille).div_ceil(1000).max(1);
    sorted[wanted as usize - 1]
}

fn check(times: &mut [u64]) {
    let (here, there) = (Histogram::default(), Histogram::default());
    for (i, ns) in times.iter().enumerate() {
        if i % 3 == 0 { &here } else { &there }.add(*ns);
    }
    let mut merged = kernel::zeroed::<HistogramSnapshot>();
    merged.merge(&here);
    merged.merge(&there);
    times.sort_unstable();
    assert_eq!(merged.count, times.len() as u64);
    assert_eq!(merged.sum_ns, times.iter().sum::<u64>());
    assert_eq!(merged.min_ns(), times[0]);
    assert_eq!(merged.max_ns, times[times.len() - 1]);
    for per_mille in [1, 500, 900, 990, 999, 1000] {
        let reported = merged.quantile_ns(per_mille);
        let true_one = exact(times, u64::from(per_mille));
        let off = reported.abs_diff(true_one);
        assert!(off <= true_one / 16, "{reported} instead of {true_one}");
    }
}

#[test]
fn quantiles_are_as_exact_as_is_told() {
    let mut random = Random::new(11);
    for _ in 0..500 {
        let n = 1 + random.below(300);
        let bits = 1 + random.below(39);
        let mut times: Vec<u64> = (0..n)
            .map(|_| {
                let bits = 1 + random.below(bits);
                random.below(1 << bits) as u64
            })
            .collect();
        check(&mut times);
    }
}

#[test]
fn every_power_of_two_and_its_neighbours() {
    for bit in 0..40 {
        for ns in [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1] {
            check(&mut [ns]);
            check(&mut [ns, 2 * ns, ns]);
        }
    }
}

#[test]
fn nothing_and_enormous_times() {
    let merged = kernel::zeroed::<HistogramSnapshot>();
    assert_eq!(merged.min_ns(), 0);
    assert_eq!(merged.quantile_ns(500), 0);
    let histogram = Histogram::default();
    histogram.add(u64::MAX);
    histogram.add(0);
    let mut merged = kernel::zeroed::<HistogramSnapshot>();
    merged.merge(&histogram);
    assert_eq!((merged.min_ns(), merged.max_ns), (0, u64::MAX));
    assert_eq!(merged.quantile_ns(500), 0);
    // Both are in the last bucket, for which its lower limit is returned.
    assert!(merged.quantile_ns(1000) >= 1 << 39);
    histogram.clear();
    let mut merged = kernel::zeroed::<HistogramSnapshot>();
    merged.merge(&histogram);
    assert_eq!((merged.count, merged.min_ns(), merged.max_ns), (0, 0, 0));
}

#[test]
fn more_than_32_bits_of_them() {
    let (short, long) = (Histogram::default(), Histogram::default());
    for _ in 0..1_000_000 {
        short.add(10);
        long.add(1000);
    }
    let mut merged = kernel::zeroed::<HistogramSnapshot>();
    for n in 0..6000 {
        merged.merge(&short);
        if n < 4400 {
            merged.merge(&long);
        }
    }
    assert_eq!(merged.count, 10_400_000_000);
    // 57.7 % of the times are short.
    assert_eq!(merged.quantile_ns(550), 10);
    assert!(merged.quantile_ns(600) > 900);
}
