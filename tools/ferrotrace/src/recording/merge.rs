// SPDX-License-Identifier: MIT OR Apache-2.0

//! Merges the records of several CPUs that are read while they are being written.

use super::cpu_buffer::CpuBuffer;
use crate::sys::RawRecord;

/// Records that were read, but are not due yet: a record of another CPU can precede them.
#[derive(Default)]
pub struct Merge {
    records: Vec<Held>,
    pages: Pages,
}

/// A record in a page.
#[derive(Clone, Copy)]
struct Held {
    time: u64,
    cpu: usize,
    missed: Option<i64>,
    page: usize,
    start: usize,
    end: usize,
}

impl Merge {
    /// Takes the records of the next sub-buffer of a CPU. Returns false if there are none.
    ///
    /// # Errors
    ///
    /// If the buffer cannot be read.
    pub fn read(&mut self, cpu: &mut CpuBuffer) -> anyhow::Result<bool> {
        let (page, data) = self.pages.take();
        let before = self.records.len();
        let number = cpu.cpu();
        let result = cpu.read(data, |time, missed, place| {
            self.records.push(Held {
                time,
                cpu: number,
                missed,
                page,
                start: place.start,
                end: place.end,
            });
        });
        self.pages.hold(page, self.records.len() - before);
        result
    }

    /// Passes all records up to `time` to `visit`, in the order of their times, and removes them.
    pub fn drain(&mut self, time: u64, mut visit: impl FnMut(&RawRecord<'_>)) {
        // Records of the same time keep their order.
        self.records.sort_by_key(|held| held.time);
        let due = self.records.partition_point(|held| held.time <= time);
        for held in self.records.drain(..due) {
            visit(&RawRecord {
                time: held.time,
                cpu: held.cpu,
                buffer: 0,
                missed: held.missed,
                data: self.pages.data(held.page, held.start..held.end),
            });
            self.pages.release(held.page);
        }
    }
}

/// The pages of the records. Those without a record that is held are used again.
#[derive(Default)]
struct Pages {
    all: Vec<Page>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Page {
    data: Vec<u8>,
    /// The number of its records that are held.
    held: usize,
}

impl Pages {
    /// Returns a page that is free, and its number.
    fn take(&mut self) -> (usize, &mut Vec<u8>) {
        let page = self.free.pop().unwrap_or_else(|| {
            self.all.push(Page::default());
            self.all.len() - 1
        });
        (page, &mut self.all[page].data)
    }

    /// Keeps a page until as many records are released.
    fn hold(&mut self, page: usize, records: usize) {
        self.all[page].held = records;
        if records == 0 {
            self.free.push(page);
        }
    }

    fn release(&mut self, page: usize) {
        self.all[page].held -= 1;
        if self.all[page].held == 0 {
            self.free.push(page);
        }
    }

    fn data(&self, page: usize, range: std::ops::Range<usize>) -> &[u8] {
        self.all[page].data.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds records, in a page of their own.
    fn add(merge: &mut Merge, cpu: usize, times: &[u64]) {
        let (page, data) = merge.pages.take();
        data.clear();
        for time in times {
            let start = data.len();
            data.extend([u8::try_from(*time).expect("a small time"); 3]);
            merge.records.push(Held {
                time: *time,
                cpu,
                missed: None,
                page,
                start,
                end: start + 3,
            });
        }
        merge.pages.hold(page, times.len());
    }

    fn drain(merge: &mut Merge, until: u64) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        merge.drain(until, |raw| {
            assert_eq!(raw.data, [u8::try_from(raw.time).expect("a small time"); 3]);
            all.push((raw.time, raw.cpu));
        });
        all
    }

    #[test]
    fn records_are_merged() {
        let mut merge = Merge::default();
        add(&mut merge, 0, &[1, 5, 9]);
        add(&mut merge, 1, &[2, 5]);
        add(&mut merge, 1, &[7, 12]);
        add(&mut merge, 1, &[]);
        assert_eq!(drain(&mut merge, 5), [(1, 0), (2, 1), (5, 0), (5, 1)]);
        // A CPU that was read late.
        add(&mut merge, 2, &[6]);
        assert_eq!(drain(&mut merge, 9), [(6, 2), (7, 1), (9, 0)]);
        assert_eq!(drain(&mut merge, 11), []);
        assert_eq!(drain(&mut merge, u64::MAX), [(12, 1)]);
        assert_eq!(drain(&mut merge, u64::MAX), []);
        assert_eq!(merge.pages.free.len(), merge.pages.all.len());
        assert_eq!(merge.pages.all.len(), 4, "pages are used again");
    }
}
