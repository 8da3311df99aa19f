// SPDX-License-Identifier: GPL-2.0

//! Selects the words for an item, given the contents of the pack.

use core::mem::size_of;

use super::{
    encoding::{
        self,
        Item,
        NAMED_WORDS, //
    },
    state::{
        text,
        CallSite,
        PerCpuPack,
        CALL_SITES, //
    },
};
use crate::ktrace::record::context::Context;

/// Words for an item, before they are added to a pack.
pub(super) struct EncodedItem {
    pub(super) words: [u64; 4],
    pub(super) nr: usize,
    /// Whether the first word replaces the last word of the pack.
    pub(super) joins: bool,
    /// The last word if its second half is free, else 0.
    pub(super) half: u64,
    /// Address pairs that these words contain, each with the index of its word in the pack.
    new_sites: [([usize; 2], usize); 2],
    nr_new_sites: usize,
}

impl EncodedItem {
    pub(super) fn new() -> Self {
        Self {
            words: [0; 4],
            nr: 0,
            joins: false,
            half: 0,
            new_sites: [([0; 2], 0); 2],
            nr_new_sites: 0,
        }
    }

    pub(super) fn push(&mut self, word: u64) -> Option<()> {
        *self.words.get_mut(self.nr)? = word;
        self.nr = self.nr.wrapping_add(1);
        Some(())
    }

    pub(super) fn add_site(&mut self, addresses: [usize; 2], index: usize) {
        if index >= NAMED_WORDS {
            return;
        }
        if let Some(entry) = self.new_sites.get_mut(self.nr_new_sites) {
            *entry = (addresses, index);
            self.nr_new_sites = self.nr_new_sites.wrapping_add(1);
        }
    }
}

/// Takes the place of the return address in the key of an address word.
pub(super) const NO_SITE: usize = 1;

/// Hashes an address pair for [`PerCpuPack::call_sites`], as `ktrace_call_site_at()` in `compact.h`
/// does.
fn index_of_site([address, other]: [usize; 2]) -> usize {
    const UNIT: u32 = size_of::<CallSite>().ilog2();
    (address << 1 ^ other << UNIT) >> UNIT
}

impl PerCpuPack {
    /// Returns the table entry of the word that holds these addresses, if there is one.
    #[inline]
    pub(super) fn find(&self, addresses: [usize; 2]) -> Option<&CallSite> {
        let site = self.call_sites.get(index_of_site(addresses) % CALL_SITES)?;
        let [address, other] = addresses;
        let found = site.address == address && site.salted == other ^ self.salt;
        found.then_some(site)
    }

    /// Returns the field value for an address, and adds an address word to the draft if it needs
    /// one. `None` if the pack cannot hold or refer to the address.
    pub(super) fn address(
        &self,
        draft: &mut EncodedItem,
        field: encoding::AddrField,
        address: usize,
    ) -> Option<u64> {
        if let Some(near) = field.near(text().base, address) {
            return Some(near);
        }
        if let Some(site) = self.find([address, NO_SITE]) {
            return Some(field.far(encoding::index_of(site.second)));
        }
        let index = self.used().wrapping_add(draft.nr);
        if index >= NAMED_WORDS {
            return None;
        }
        draft.push(encoding::address(address)?)?;
        draft.add_site([address, NO_SITE], index);
        Some(field.far(index))
    }

    /// Returns the words for an item at counter value `now`. `None` if it cannot be added to this
    /// pack: no room, a value that does not fit, or a pack that is too old.
    pub(super) fn draft(&self, context: Context, now: u64, item: &Item) -> Option<EncodedItem> {
        let mut delta = self.delta(now)?;
        let mut draft = EncodedItem::new();
        if context.packed != self.packed {
            draft.push(encoding::context(context.packed, delta)?)?;
            delta = 0;
        }
        match *item {
            Item::Function { ip, parent_ip } => {
                if let Some(site) = self.find([ip, parent_ip]) {
                    if draft.nr == 0 && self.half != 0 {
                        draft.joins = true;
                        draft.push(self.half | encoding::second_half(site.second, delta)?)?;
                    } else {
                        draft.half = encoding::first_half(site.first, delta)?;
                        draft.push(draft.half)?;
                    }
                } else {
                    let ip_field = self.address(&mut draft, encoding::FUNC, ip)?;
                    let parent_field = self.address(&mut draft, encoding::SITE, parent_ip)?;
                    let word = match encoding::function(ip_field, parent_field, delta) {
                        Some(word) => word,
                        None => {
                            draft.push(encoding::context(context.packed, delta)?)?;
                            encoding::function(ip_field, parent_field, 0)?
                        }
                    };
                    draft.add_site([ip, parent_ip], self.used().wrapping_add(draft.nr));
                    draft.push(word)?;
                }
            }
            Item::Leaf(call) | Item::Begin(call) | Item::Return(call) => {
                let func = self.address(&mut draft, encoding::FUNC, call.func)?;
                let mut item = *item;
                if let Some((word, rest)) = encoding::long(&item) {
                    draft.push(word)?;
                    item = rest;
                }
                let word = match encoding::call(&item, func, delta) {
                    Some(word) => word,
                    None => {
                        draft.push(encoding::context(context.packed, delta)?)?;
                        encoding::call(&item, func, 0)?
                    }
                };
                draft.push(word)?;
            }
        }
        (self.at(&draft).wrapping_add(draft.nr) <= self.capacity as usize).then_some(draft)
    }

    /// Returns the word for a call in the common case: one word, same task and same context.
    #[inline(always)]
    pub(super) fn one_word(&self, context: Context, now: u64, item: &Item) -> Option<u64> {
        let (Item::Leaf(call) | Item::Begin(call) | Item::Return(call)) = item else {
            return None;
        };
        if context.packed != self.packed || context.pid != self.pid {
            return None;
        }
        let delta = self.delta(now)?;
        let func = encoding::FUNC.near(text().base, call.func)?;
        encoding::call(item, func, delta)
    }

    /// Adds the addresses of a draft that was just written to the table.
    pub(super) fn add_sites(&mut self, draft: &EncodedItem) {
        for &(addresses, index) in draft.new_sites.iter().take(draft.nr_new_sites) {
            if let Some(entry) = self
                .call_sites
                .get_mut(index_of_site(addresses) % CALL_SITES)
            {
                let [address, other] = addresses;
                *entry = CallSite {
                    address,
                    salted: other ^ self.salt,
                    first: encoding::first_again(index),
                    second: encoding::second_again(index),
                };
            }
        }
    }
}
