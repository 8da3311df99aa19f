// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers as the screen shows them.

use std::fmt;

use crate::percent;

/// A duration in ns, shown with three digits and a unit.
pub struct Time(pub u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
        let ns = self.0;
        let Some((unit, name)) = units.into_iter().find(|(unit, _)| ns >= *unit) else {
            return f.pad(&format!("{ns} ns"));
        };
        let (whole, part) = (ns / unit, ns % unit * 100 / unit);
        f.pad(&match whole {
            0..10 => format!("{whole}.{part:02} {name}"),
            10..100 => format!("{whole}.{} {name}", part / 10),
            _ => format!("{whole} {name}"),
        })
    }
}

/// A part of a time, in percent with one digit after the point.
pub struct Percent(pub u64, pub u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == 0 {
            return f.pad("-");
        }
        f.pad(&percent::text(self.0, self.1))
    }
}

/// Returns `count` events in `ns` as a number of events a second.
pub fn rate(count: u64, ns: u64) -> u64 {
    let rate = u128::from(count) * 1_000_000_000 / u128::from(ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1000, "1.00 us"),
            (12_345, "12.3 us"),
            (999_999, "999 us"),
            (1_060_000, "1.06 ms"),
            (2_000_000_000, "2.00 s"),
            (3_600_000_000_000, "3600 s"),
        ] {
            assert_eq!(Time(ns).to_string(), text);
        }
        assert_eq!(format!("{:>9}", Time(1000)), "  1.00 us");
    }

    #[test]
    fn parts() {
        assert_eq!(Percent(1, 3).to_string(), "33.3");
        assert_eq!(Percent(2, 3).to_string(), "66.7");
        assert_eq!(Percent(u64::MAX, u64::MAX).to_string(), "100.0");
        assert_eq!(format!("{:>5}", Percent(0, 0)), "    -");
        assert_eq!(rate(5, 500_000_000), 10);
        assert_eq!(rate(5, 0), 5_000_000_000);
    }
}
