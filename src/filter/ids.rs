// SPDX-License-Identifier: GPL-2.0

//! Sets of thread ids, process ids or ids of cgroups.

use core::cmp::Ordering;

use kernel::prelude::*;

/// Maximum number of ids in a set.
pub(crate) const MAX_IDS: usize = 16384;

/// The largest id: `PID_MAX_LIMIT` of a 64-bit kernel (`include/linux/threads.h`).
pub(crate) const MAX_ID: i32 = 4 * 1024 * 1024;

/// The reason why a word is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdError {
    /// The word is not a decimal number.
    NotANumber,
    /// The number is below 0 or above [`MAX_ID`].
    OutOfRange,
}

/// Parses an id.
///
/// Only decimal digits are accepted, any number of them: no sign, no `0x`; a leading 0 does not
/// mean octal. The id 0 represents the idle tasks.
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
pub(crate) struct IdSet<T = i32> {
    ids: KVec<T>,
}

impl<T> Default for IdSet<T> {
    fn default() -> Self {
        Self { ids: KVec::new() }
    }
}

impl<T: Copy + Ord> IdSet<T> {
    /// Returns whether the id is in the set. May be called from any context.
    pub(crate) fn contains(&self, id: T) -> bool {
        self.find(id).is_ok()
    }

    /// Returns the index of the id, or as an error the index at which to insert it.
    ///
    /// `slice::binary_search()` is not used because it has a panic path if overflow checks are on.
    fn find(&self, id: T) -> Result<usize, usize> {
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

    /// Returns the ids, in ascending order.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.ids
    }

    /// Iterates over the ids, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.ids.iter().copied()
    }

    /// Returns the number of ids.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Inserts an id; does nothing if it is already in the set. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the set is full, [`ENOMEM`].
    pub(crate) fn insert(&mut self, id: T) -> Result {
        // The input is usually sorted, so that most ids are appended.
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
        // INVARIANT: The id was not found, `place` keeps the order, and the number of ids was
        // checked.
        self.ids
            .insert_within_capacity(place, id)
            .map_err(|_| ENOMEM)
    }

    /// Returns the union of this set and `more`, which need not be sorted. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the union, or `more` alone, has more than [`MAX_IDS`] ids, [`ENOMEM`].
    pub(crate) fn merge(&self, more: &[T]) -> Result<Self> {
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
            // Both inputs are ascending, so the id is either appended or a duplicate of the last
            // one.
            merged.insert(id)?;
        }
    }

    /// Returns a copy. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut ids = KVec::with_capacity(self.ids.len(), GFP_KERNEL)?;
        ids.extend_from_slice(&self.ids, GFP_KERNEL)?;
        // INVARIANT: The copy has the same entries, in the same order, as `self`.
        Ok(Self { ids })
    }
}
