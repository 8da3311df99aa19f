// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A compressed time difference: how long before its record an event happened.

/// A time difference in 32 bits. Below 2^31 ns, it is stored in ns. Otherwise the highest bit is
/// set, and the 30 lowest bits count units of 2^10 ns, or of 2^22 ns if the second highest bit is
/// set too.
#[derive(Clone, Copy)]
pub(crate) struct CompressedDelta(u32);

impl CompressedDelta {
    const COARSE: u32 = 1 << 31;
    const COARSER: u32 = Self::COARSE | 1 << 30;
    /// Number of values in the 30 lowest bits.
    const UNITS: u64 = 1 << 30;

    /// Compresses a time in ns. More than 52 days are stored as 52 days.
    pub(crate) fn new(ns: u64) -> Self {
        match ns {
            ns if ns < u64::from(Self::COARSE) => Self(ns as u32),
            ns if ns >> 10 < Self::UNITS => Self((ns >> 10) as u32 | Self::COARSE),
            ns => Self((ns >> 22).min(Self::UNITS - 1) as u32 | Self::COARSER),
        }
    }

    /// Creates the difference that is stored as `bits` in a record.
    #[allow(dead_code, reason = "used by the command `ferrotrace` only")]
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the time in ns, rounded down.
    pub(crate) fn ns(self) -> u64 {
        let units = u64::from(self.0 & !Self::COARSER);
        match self.0 & Self::COARSER {
            Self::COARSER => units << 22,
            Self::COARSE => units << 10,
            _ => u64::from(self.0),
        }
    }
}
