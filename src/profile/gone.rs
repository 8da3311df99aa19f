// SPDX-License-Identifier: GPL-2.0

//! Functions in a profile whose module was unloaded.
//!
//! In a profile, functions stand under their addresses. The text of a module may be freed, and
//! another module be loaded at the same address. Before that, what was added up for a function
//! there is moved to a key that is no address: an index of the name that the function had.

use kernel::prelude::*;

use crate::ktrace::modules;

/// The key of all functions for whose names there was no memory.
const NAMELESS: u64 = 1;

/// Keys from here on are indices of names. No kernel function has an address in the first pages.
const FIRST: u64 = 2;

/// How many names are kept, so that no key is as large as an address.
const MAX_NAMES: usize = 4000;

/// The names, each once.
#[derive(Default)]
pub(crate) struct Gone {
    names: KVec<KVec<u8>>,
}

impl Gone {
    /// Returns the key of the function at an address, while the kernel still knows its name. May
    /// sleep.
    pub(crate) fn key_of(&mut self, address: usize) -> u64 {
        self.try_key_of(address).unwrap_or(NAMELESS)
    }

    fn try_key_of(&mut self, address: usize) -> Result<u64> {
        let name = modules::name_of(address)?;
        let at = match self.names.iter().position(|known| **known == *name) {
            Some(at) => at,
            None if self.names.len() >= MAX_NAMES => return Err(ENOSPC),
            None => {
                // No larger than it has to be.
                let mut kept = KVec::with_capacity(name.len(), GFP_KERNEL)?;
                kept.extend_from_slice(&name, GFP_KERNEL)?;
                self.names.push(kept, GFP_KERNEL)?;
                self.names.len().wrapping_sub(1)
            }
        };
        Ok(FIRST.wrapping_add(at as u64))
    }

    /// Returns the name behind a key, if the key is not an address.
    pub(super) fn name(&self, key: u64) -> Option<&[u8]> {
        if key == NAMELESS {
            return Some(b"?");
        }
        let at = key.checked_sub(FIRST)?;
        self.names.get(at as usize).map(|name| &**name)
    }

    /// Forgets all names. For when no profile is left.
    pub(crate) fn clear(&mut self) {
        self.names = KVec::new();
    }
}
