// SPDX-License-Identifier: MIT OR Apache-2.0

//! The records of a sub-buffer of the kernel's ring buffer, as `trace_pipe_raw` contains them.
//!
//! libtraceevent's `kbuffer` reads the same, with four calls of functions for each record: a sixth
//! of what the live view consumed.

use std::ops::Range;

/// The bits of the length field that say that records are missing before the sub-buffer, and that
/// their number is known.
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;

/// The size of the time and of the length field, with which a sub-buffer begins.
const HEADER: usize = 16;

/// Types of items. Smaller numbers are lengths of data in words of 4 bytes.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// The number of bits of a time that an item has, and of one with an additional word.
const DELTA_BITS: u32 = 27;
const STAMP_BITS: u32 = 59;

/// The records of a sub-buffer: an iterator of their times and of the places of their data.
pub struct Records<'a> {
    page: &'a [u8],
    next: usize,
    end: usize,
    time: u64,
}

impl<'a> Records<'a> {
    /// Reads the header of a sub-buffer. `None` if it is too short.
    pub fn new(page: &'a [u8]) -> Option<Self> {
        let length = usize::try_from(length(page)? & !(MISSED | MISSED_STORED)).ok()?;
        Some(Self {
            page: page.get(..HEADER.checked_add(length)?)?,
            next: HEADER,
            end: HEADER + length,
            time: u64::from_ne_bytes(*page.first_chunk()?),
        })
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(*self.page.get(at..)?.first_chunk()?))
    }
}

impl Iterator for Records<'_> {
    type Item = (u64, Range<usize>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.end {
            let head = self.word(self.next)?;
            let start = self.next + 4;
            let (kind, delta) = match cfg!(target_endian = "little") {
                true => (head & 0x1f, u64::from(head >> 5)),
                false => (
                    head >> DELTA_BITS,
                    u64::from(head & ((1 << DELTA_BITS) - 1)),
                ),
            };
            let start = match kind {
                0 => {
                    // The word that has the length counts.
                    let length = usize::try_from(self.word(start)?).ok()?;
                    self.next = start.checked_add(length)?;
                    start + 4
                }
                PADDING if delta == 0 => return None,
                PADDING => {
                    let length = usize::try_from(self.word(start)?).ok()?;
                    self.next = start.checked_add(length)?;
                    self.time = self.time.wrapping_add(delta);
                    continue;
                }
                TIME_EXTEND | TIME_STAMP => {
                    let time = (u64::from(self.word(start)?) << DELTA_BITS) | delta;
                    self.time = match kind {
                        TIME_EXTEND => self.time.wrapping_add(time),
                        // The upper bits are those of the time before.
                        _ => (self.time & (u64::MAX << STAMP_BITS)) | time,
                    };
                    self.next = start + 4;
                    continue;
                }
                words => {
                    self.next = start + 4 * words as usize;
                    start
                }
            };
            self.time = self.time.wrapping_add(delta);
            return (start <= self.next && self.next <= self.end)
                .then_some((self.time, start..self.next));
        }
        None
    }
}

fn length(page: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(*page.get(8..)?.first_chunk()?))
}

/// Returns the number of records that are missing before a sub-buffer: -1 if it is not known,
/// `None` if no records are missing.
pub fn missed(page: &[u8]) -> Option<i64> {
    let length = length(page)?;
    if length & MISSED == 0 {
        return None;
    }
    let end = HEADER + usize::try_from(length & !(MISSED | MISSED_STORED)).ok()?;
    let number = page.get(end..).and_then(|rest| rest.first_chunk());
    match number {
        Some(number) if length & MISSED_STORED != 0 => Some(i64::from_ne_bytes(*number)),
        _ => Some(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sub-buffer that is written as the kernel does.
    struct Writer(Vec<u8>);

    impl Writer {
        fn new(time: u64) -> Self {
            Self([time.to_ne_bytes(), [0; 8]].concat())
        }

        fn word(&mut self, word: u32) {
            self.0.extend(word.to_ne_bytes());
        }

        fn head(&mut self, kind: u32, delta: u32) {
            self.word(match cfg!(target_endian = "little") {
                true => kind | (delta << 5),
                false => (kind << DELTA_BITS) | delta,
            });
        }

        /// Appends a record, and returns the place of its data.
        fn record(&mut self, delta: u32, data: &[u32]) -> Range<usize> {
            match u32::try_from(data.len()) {
                Ok(words @ 1..=28) => self.head(words, delta),
                words => {
                    self.head(0, delta);
                    self.word(4 + 4 * words.expect("a small record"));
                }
            }
            let start = self.0.len();
            data.iter().for_each(|word| self.word(*word));
            start..self.0.len()
        }

        /// Writes the length, and fills the page.
        fn finish(mut self, flags: u64, missed: Option<i64>) -> Vec<u8> {
            let length = (self.0.len() - HEADER) as u64 | flags;
            self.0[8..HEADER].copy_from_slice(&length.to_ne_bytes());
            self.0.extend(missed.into_iter().flat_map(i64::to_ne_bytes));
            self.0.resize(4096, 0x5a);
            self.0
        }
    }

    fn read(page: &[u8]) -> Vec<(u64, Range<usize>)> {
        Records::new(page).expect("a header").collect()
    }

    #[test]
    fn records_of_all_kinds() {
        let mut page = Writer::new(1000);
        let mut expected = vec![(1003, page.record(3, &[7, 8]))];
        expected.push((1003, page.record(0, &[9; 28])));
        expected.push((1008, page.record(5, &[1; 29])));
        page.head(TIME_EXTEND, 1);
        page.word(2);
        expected.push((1009 + (2 << 27), page.record(0, &[3])));
        // A record that was discarded.
        page.head(PADDING, 2);
        page.word(8);
        page.word(0);
        expected.push((1012 + (2 << 27), page.record(1, &[4])));
        page.head(TIME_STAMP, 5);
        page.word(1 << 20);
        expected.push((5 + (1 << 47), page.record(0, &[5])));
        page.head(PADDING, 0);
        assert_eq!(read(&page.finish(0, None)), expected);
    }

    #[test]
    fn a_stamp_keeps_the_upper_bits() {
        let mut page = Writer::new(3 << STAMP_BITS);
        page.head(TIME_STAMP, 7);
        page.word(0);
        let place = page.record(1, &[5]);
        let page = page.finish(0, None);
        assert_eq!(read(&page), [((3 << STAMP_BITS) + 8, place)]);
    }

    #[test]
    fn missing_records() {
        let with = |flags, number| {
            let mut page = Writer::new(1);
            let place = page.record(1, &[5]);
            let page = page.finish(flags, number);
            assert_eq!(read(&page), [(2, place)]);
            missed(&page)
        };
        assert_eq!(with(0, Some(9)), None);
        assert_eq!(with(MISSED, Some(9)), Some(-1));
        assert_eq!(with(MISSED | MISSED_STORED, Some(9)), Some(9));
    }

    #[test]
    fn damaged_pages_end_early() {
        let mut page = Writer::new(1000);
        for n in 0..40 {
            page.record(n % 7, &vec![n; (n as usize % 33) + 1]);
            page.head(TIME_EXTEND, n);
            page.word(n);
        }
        let page = page.finish(0, None);
        assert_eq!(read(&page).len(), 40);
        for cut in 0..page.len() {
            let records = Records::new(&page[..cut]).into_iter().flatten();
            assert!(records.count() <= 40);
        }
        let mut random = 1_u64;
        for _ in 0..20_000 {
            let mut page = page.clone();
            for _ in 0..3 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let at = (random >> 33) as usize % page.len();
                page[at] = (random >> 24) as u8;
            }
            for (_, place) in Records::new(&page).into_iter().flatten() {
                assert!(place.start <= place.end && place.end <= page.len());
            }
            let _ = missed(&page);
        }
    }
}
