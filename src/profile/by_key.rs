// SPDX-License-Identifier: GPL-2.0

//! What the CPUs know, brought together for a reader by its keys.

use kernel::{
    alloc::KVVec,
    prelude::*,
    rbtree::RBTree, //
};

/// Values by their keys.
///
/// They are a kilobyte or two each, and stay where they are made; what is sorted is their numbers.
pub(super) struct ByKey<V> {
    values: KVVec<V>,
    places: RBTree<u64, usize>,
}

impl<V: Default> ByKey<V> {
    /// None. Takes no memory.
    pub(super) fn new() -> Self {
        Self {
            values: KVVec::new(),
            places: RBTree::new(),
        }
    }

    /// The value of a key; a fresh one if it has none yet. May sleep.
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

    /// All of them, the least key first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.places
            .iter()
            .filter_map(|(key, at)| Some((*key, self.values.get(*at)?)))
    }
}
