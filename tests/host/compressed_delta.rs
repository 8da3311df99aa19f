// SPDX-License-Identifier: GPL-2.0

//! The 32-bit form of a past time.

use crate::deltas::CompressedDelta;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 24 * 3600 * SECOND;

#[test]
fn is_exact_below_two_seconds() {
    let most = (1 << 31) - 1;
    for ns in [0, 1, 1023, 1 << 30, 1 + (1 << 30), 2 * SECOND, most] {
        assert_eq!(CompressedDelta::new(ns).ns(), ns);
    }
}

#[test]
fn is_right_to_four_millionths_for_weeks() {
    let mut ns = 2 * SECOND;
    while ns < 52 * DAY {
        for ns in [ns - 1, ns, ns + 1] {
            let said = CompressedDelta::new(ns).ns();
            assert!(said <= ns && ns - said <= ns / 250_000, "{ns}: {said}");
        }
        ns = ns * 3 / 2;
    }
    let units = 1 << 40;
    assert_eq!(CompressedDelta::new(units).ns(), units);
    assert_eq!(CompressedDelta::new(units - 1).ns(), units - 1024);
}

#[test]
fn is_no_more_than_there_is_room_for() {
    let most = CompressedDelta::new(u64::MAX).ns();
    assert!(most > 52 * DAY);
    assert_eq!(CompressedDelta::new(most).ns(), most);
}
