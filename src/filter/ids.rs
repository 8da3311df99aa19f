// SPDX-License-Identifier: GPL-2.0

//! Sets of thread or process ids.

use core::cmp::Ordering;

use kernel::prelude::*;

/// The most ids a set can hold.
pub(crate) const MAX_IDS: usize = 16384;

/// The largest id: `PID_MAX_LIMIT` of a 64-bit kernel (`include/linux/threads.h`).
pub(crate) const MAX_ID: i32 = 4 * 1024 * 1024;

/// Why a word is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdError {
    /// It is not a decimal number.
    NotANumber,
    /// It is a number, but below 0 or above [`MAX_ID`].
    OutOfRange,
}

/// Reads an id.
///
/// Decimal digits only, as many as one likes: no sign, no `0x`, and a leading 0 does not make it
/// octal. 0 stands for the idle tasks.
pub(crate) fn parse_id(word: &[u8]) -> Result<i32, IdError> {
    let (negative, digits) = match word.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, word),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(IdError::NotANumber);
    }
    if negative {
        return Err(IdError::OutOfRange);
    }
    digits
        .iter()
        .try_fold(0_i32, |id, digit| {
            id.checked_mul(10)?
                .checked_add(i32::from(digit.wrapping_sub(b'0')))
        })
        .filter(|id| *id <= MAX_ID)
        .ok_or(IdError::OutOfRange)
}

/// A set of ids.
///
/// # Invariants
///
/// `ids` is strictly ascending and has at most [`MAX_IDS`] entries.
#[derive(Default)]
pub(crate) struct IdSet {
    ids: KVec<i32>,
}

impl IdSet {
    /// Whether the id is in the set. May be called from any context.
    pub(crate) fn contains(&self, id: i32) -> bool {
        self.find(id).is_ok()
    }

    /// Where the id is, or where it would have to go in.
    ///
    /// As `slice::binary_search()`, which with overflow checks has a panic path.
    fn find(&self, id: i32) -> Result<usize, usize> {
        let mut low = 0;
        let mut high = self.ids.len();
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.ids.get(middle).map(|own| own.cmp(&id)) {
                Some(Ordering::Equal) => return Ok(middle),
                Some(Ordering::Less) => low = middle.wrapping_add(1),
                Some(Ordering::Greater) | None => high = middle,
            }
        }
        Err(low)
    }

    /// The ids, in ascending order.
    pub(crate) fn as_slice(&self) -> &[i32] {
        &self.ids
    }

    /// Iterates over the ids, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        self.ids.iter().copied()
    }

    /// The number of ids.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Puts one id in; nothing changes if it is there already. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the set is full, [`ENOMEM`].
    pub(crate) fn insert(&mut self, id: i32) -> Result {
        // What is written is mostly in order, and then goes to the end.
        let place = match self.ids.last() {
            Some(last) if *last < id => self.ids.len(),
            _ => match self.find(id) {
                Ok(_) => return Ok(()),
                Err(place) => place,
            },
        };
        if self.ids.len() >= MAX_IDS {
            return Err(ENOSPC);
        }
        self.ids.reserve(1, GFP_KERNEL)?;
        // INVARIANT: The id was not found, and `place` is where it belongs.
        self.ids
            .insert_within_capacity(place, id)
            .map_err(|_| ENOMEM)
    }

    /// Makes the set of all that are in this one or in `more`, which need not be sorted. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if that is more than [`MAX_IDS`], [`ENOMEM`].
    pub(crate) fn merge(&self, more: &[i32]) -> Result<Self> {
        let mut sorted = Self::default();
        for id in more {
            sorted.insert(*id)?;
        }

        let mut merged = Self::default();
        let mut own = self.ids.iter().copied().peekable();
        let mut new = sorted.ids.iter().copied().peekable();
        loop {
            let id = match (own.peek(), new.peek()) {
                (Some(a), Some(b)) if a <= b => own.next(),
                (Some(_), None) => own.next(),
                _ => new.next(),
            };
            let Some(id) = id else {
                return Ok(merged);
            };
            // Both are ascending, so this always goes to the end or is there already.
            merged.insert(id)?;
        }
    }

    /// Makes a copy. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut ids = KVec::with_capacity(self.ids.len(), GFP_KERNEL)?;
        ids.extend_from_slice(&self.ids, GFP_KERNEL)?;
        // INVARIANT: The copy has the entries of a set.
        Ok(Self { ids })
    }
}
