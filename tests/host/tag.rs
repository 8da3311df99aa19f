// SPDX-License-Identifier: GPL-2.0

//! Tags that distinguish hooks from each other.

use std::collections::HashMap;

use crate::tags::{
    of_number,
    SHORT_BITS, //
};

const PLACES: u32 = 16;

#[test]
fn short_tags_of_a_place_differ_for_65520_hooks() {
    for first in [1, 4095, 0x1234_5678, u32::MAX - 300_000] {
        let mut seen = HashMap::new();
        for number in first..first + 200_000 {
            let short = of_number(number) & ((1 << SHORT_BITS) - 1);
            if let Some(before) = seen.insert((number % PLACES, short), number) {
                assert!(number - before >= 65_520, "{before} and {number}");
            }
        }
    }
}

#[test]
fn tags_differ_for_millions() {
    let mut seen = vec![false; 1 << 23];
    for number in 0..8_000_000 {
        let tag = of_number(number) as usize & ((1 << 23) - 1);
        assert!(!seen[tag], "{number}");
        seen[tag] = true;
    }
}
