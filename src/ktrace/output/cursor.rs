// SPDX-License-Identifier: GPL-2.0

//! Walks through the items of a pack.

use kernel::prelude::*;

use super::{
    pack::Pack,
    synthetic::return_of, //
};
use crate::ktrace::{
    compact::encoding::{
        DecodedItem,
        Item,
        WordReader,
        Words, //
    },
    record::GraphReturn, //
};

/// A position in a pack, and its next item. The caller has the words.
#[derive(Clone, Copy)]
pub(in crate::ktrace) struct PackCursor {
    pub(in crate::ktrace) pid: c_int,
    reader: WordReader,
    pub(in crate::ktrace) next: Option<DecodedItem>,
    /// Number of records of this CPU that were lost before the pack and are not reported yet.
    pub(in crate::ktrace) lost: c_ulong,
}

impl PackCursor {
    /// Creates a cursor at the item with number `first`.
    pub(in crate::ktrace) fn new(
        pack: &Pack,
        words: &(impl Words + ?Sized),
        first: usize,
        lost: c_ulong,
    ) -> Self {
        let mut cursor = Self {
            pid: pack.header.pid,
            reader: pack.reader(),
            next: None,
            lost,
        };
        for _ in 0..=first {
            cursor.next = cursor.reader.next(words);
        }
        cursor
    }

    pub(in crate::ktrace) fn advance(&mut self, words: &(impl Words + ?Sized)) {
        self.lost = 0;
        self.next = self.reader.next(words);
    }

    /// Returns the item after the next one.
    pub(in crate::ktrace) fn ahead(&self, words: &(impl Words + ?Sized)) -> Option<NextItem> {
        let mut reader = self.reader;
        let next = reader.next(words)?;
        Some(NextItem::new(&self.next?, &next))
    }
}

/// The item that follows the one being printed, in the same pack.
#[derive(Clone, Copy)]
pub struct NextItem {
    /// The return of the call, if the item being printed is its entry.
    pub ret: Option<GraphReturn>,
    /// Whether that return is printed with it.
    pub taken: bool,
}

impl NextItem {
    fn new(decoded: &DecodedItem, next: &DecodedItem) -> Self {
        let ret = match next.item {
            Item::Return(call) if decoded.item.is_ended_by(&next.item) => {
                Some(return_of(next, &call))
            }
            _ => None,
        };
        Self { ret, taken: false }
    }

    /// Creates the value for a leaf, which contains its own return.
    pub(super) fn of(ret: GraphReturn) -> Self {
        Self {
            ret: Some(ret),
            taken: false,
        }
    }
}
