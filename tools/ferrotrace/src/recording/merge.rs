// SPDX-License-Identifier: MIT OR Apache-2.0

//! Merges the records of several CPUs that are read while they are being written.

use crate::sys::RawRecord;

/// Records that were read, but are not due yet: a record of another CPU can precede them.
#[derive(Default)]
pub struct Merge {
    records: Vec<Held>,
    /// The data of the records, one after the other.
    data: Vec<u8>,
    spare: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Held {
    time: u64,
    cpu: usize,
    missed: Option<i64>,
    start: usize,
    end: usize,
}

impl Merge {
    /// Takes a record. Those of one CPU must be in the order in which they were written.
    pub fn add(&mut self, raw: &RawRecord<'_>) {
        let start = self.data.len();
        self.data.extend_from_slice(raw.data);
        self.records.push(Held {
            time: raw.time,
            cpu: raw.cpu,
            missed: raw.missed,
            start,
            end: self.data.len(),
        });
    }

    /// Passes all records up to `time` to `visit`, in the order of their times, and removes them.
    pub fn drain(&mut self, time: u64, mut visit: impl FnMut(RawRecord<'_>)) {
        // Records of the same time keep their order.
        self.records.sort_by_key(|held| held.time);
        let due = self.records.partition_point(|held| held.time <= time);
        for held in self.records.drain(..due) {
            visit(RawRecord {
                time: held.time,
                cpu: held.cpu,
                buffer: 0,
                missed: held.missed,
                data: self.data.get(held.start..held.end).unwrap_or_default(),
            });
        }
        self.spare.clear();
        for held in &mut self.records {
            let start = self.spare.len();
            let data = self.data.get(held.start..held.end).unwrap_or_default();
            self.spare.extend_from_slice(data);
            (held.start, held.end) = (start, self.spare.len());
        }
        std::mem::swap(&mut self.data, &mut self.spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(merge: &mut Merge, cpu: usize, time: u64) {
        let data = [u8::try_from(time).expect("a small time"); 3];
        merge.add(&RawRecord {
            time,
            cpu,
            buffer: 0,
            missed: None,
            data: &data,
        });
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
        for time in [1, 5, 9] {
            add(&mut merge, 0, time);
        }
        for time in [2, 5, 7, 12] {
            add(&mut merge, 1, time);
        }
        assert_eq!(drain(&mut merge, 5), [(1, 0), (2, 1), (5, 0), (5, 1)]);
        // A CPU that was read late.
        add(&mut merge, 2, 6);
        assert_eq!(drain(&mut merge, 9), [(6, 2), (7, 1), (9, 0)]);
        assert_eq!(drain(&mut merge, 11), []);
        assert_eq!(drain(&mut merge, u64::MAX), [(12, 1)]);
        assert_eq!(drain(&mut merge, u64::MAX), []);
        assert!(merge.data.is_empty());
    }
}
