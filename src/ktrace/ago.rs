// SPDX-License-Identifier: GPL-2.0

//! How long before its record something happened that a record tells of.

/// How long ago something was, in 32 bits: in ns if that is below 2^31; else with the highest bit set, and in the 30
/// lowest ones in units of 2^10 ns, or of 2^22 ns with the next bit set, too.
#[derive(Clone, Copy)]
pub(super) struct Ago(u32);

impl Ago {
    const COARSE: u32 = 1 << 31;
    const COARSER: u32 = Self::COARSE | 1 << 30;
    /// What there is room for beside those.
    const UNITS: u64 = 1 << 30;

    /// Of a time in ns; of more than 52 days it says so many.
    pub(super) fn new(ns: u64) -> Self {
        match ns {
            ns if ns < u64::from(Self::COARSE) => Self(ns as u32),
            ns if ns >> 10 < Self::UNITS => Self((ns >> 10) as u32 | Self::COARSE),
            ns => Self((ns >> 22).min(Self::UNITS - 1) as u32 | Self::COARSER),
        }
    }

    /// In ns, no more than it was.
    pub(super) fn ns(self) -> u64 {
        let units = u64::from(self.0 & !Self::COARSER);
        match self.0 & Self::COARSER {
            Self::COARSER => units << 22,
            Self::COARSE => units << 10,
            _ => u64::from(self.0),
        }
    }
}
