// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds when sections began, so that those of a thread are nested.
//!
//! The event of a section is slightly later than its end, by a time that varies. The difference of
//! the time of the event and the duration can therefore be later than the beginning of the first
//! section inside.

/// The sections of a thread that have ended and are not inside of one that has ended.
#[derive(Default)]
pub struct Nesting {
    /// Their beginnings and ends, which do not overlap.
    outermost: Vec<(u64, u64)>,
}

impl Nesting {
    /// Returns the beginning of a section that ended at `end` after `ns`: before the beginnings of
    /// all sections inside. Must be called in the order of `end`.
    pub fn begin(&mut self, end: u64, ns: u64) -> u64 {
        let mut begin = end.saturating_sub(ns);
        while let Some((first, _)) = self.outermost.last().filter(|(_, last)| *last > begin) {
            begin = begin.min(first.saturating_sub(1));
            self.outermost.pop();
        }
        self.outermost.push((begin, end));
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_are_apart_keep_their_times() {
        let mut nesting = Nesting::default();
        assert_eq!(nesting.begin(100, 50), 50);
        assert_eq!(nesting.begin(200, 100), 100);
        assert_eq!(nesting.begin(300, 0), 300);
        assert_eq!(nesting.outermost, [(50, 100), (100, 200), (300, 300)]);
    }

    #[test]
    fn an_outer_section_begins_before_all_inside() {
        let mut nesting = Nesting::default();
        assert_eq!(nesting.begin(10, 5), 5);
        assert_eq!(nesting.begin(100, 50), 50);
        assert_eq!(nesting.begin(200, 90), 110);
        // The event is late by 20, so the difference is inside of the first section.
        assert_eq!(nesting.begin(300, 230), 49);
        assert_eq!(nesting.outermost, [(5, 10), (49, 300)]);
        // Both begin at the same time.
        assert_eq!(nesting.begin(301, 252), 48);
    }

    #[test]
    fn times_do_not_wrap() {
        let mut nesting = Nesting::default();
        assert_eq!(nesting.begin(10, 20), 0);
        assert_eq!(nesting.begin(20, 20), 0);
    }
}
