// SPDX-License-Identifier: GPL-2.0

//! Merges the values of all CPUs by key, for a reader.

use kernel::{
    prelude::*,
    rbtree::RBTree, //
};

use super::table::Table;

/// Values, ordered by their keys. A value has several kilobytes: it has an allocation of its own,
/// and is never on the stack.
pub(super) struct ByKey<V>(RBTree<u64, KBox<V>>);

impl<V: Zeroable> ByKey<V> {
    /// Creates an empty map. Does not allocate.
    pub(super) fn new() -> Self {
        Self(RBTree::new())
    }

    /// Merges the entries of all CPUs: calls `merge` with the value of a key, which is all zeros at
    /// first, and each of its entries. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn merged<T: Default>(table: &Table<T>, merge: impl Fn(&mut V, &T)) -> Result<Self> {
        let mut all = Self::new();
        table.for_each(|key, here| {
            merge(all.value(key)?, here);
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns the value of a key, which is created if there is none: all zeros. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn value(&mut self, key: u64) -> Result<&mut V> {
        if self.0.get(&key).is_none() {
            let value = KBox::init(pin_init::init_zeroed(), GFP_KERNEL)?;
            self.0.try_create_and_insert(key, value, GFP_KERNEL)?;
        }
        self.0.get_mut(&key).map(|value| &mut **value).ok_or(EINVAL)
    }

    /// Returns the value of a key, if there is one.
    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.0.get(&key).map(|value| &**value)
    }

    /// Iterates over all keys and values, in ascending order of the keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.0.iter().map(|(key, value)| (*key, &**value))
    }
}
