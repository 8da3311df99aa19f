// SPDX-License-Identifier: GPL-2.0

//! Merges the values of all CPUs by key, for a reader.

use kernel::{
    alloc::KVVec,
    prelude::*,
    rbtree::RBTree, //
};

/// Values, ordered by their keys.
///
/// A value has one or two kilobytes and is not moved; the tree has the indices of the values.
pub(super) struct ByKey<V> {
    values: KVVec<V>,
    places: RBTree<u64, usize>,
}

impl<V: Default> ByKey<V> {
    /// Creates an empty map. Does not allocate.
    pub(super) fn new() -> Self {
        Self {
            values: KVVec::new(),
            places: RBTree::new(),
        }
    }

    /// Returns the value of a key, which is created if there is none. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn value(&mut self, key: u64) -> Result<&mut V> {
        let at = match self.places.get(&key) {
            Some(at) => *at,
            None => {
                let at = self.values.len();
                self.values.push(V::default(), GFP_KERNEL)?;
                self.places.try_create_and_insert(key, at, GFP_KERNEL)?;
                at
            }
        };
        self.values.get_mut(at).ok_or(EINVAL)
    }

    /// Returns the value of a key, if there is one.
    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.values.get(*self.places.get(&key)?)
    }

    /// Iterates over all keys and values, in ascending order of the keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.places
            .iter()
            .filter_map(|(key, at)| Some((*key, self.values.get(*at)?)))
    }
}
