// SPDX-License-Identifier: GPL-2.0

//! Functions in a profile whose module was unloaded.
//!
//! The key of a function in a profile is its address. The text of a module may be freed, and
//! another module may then be loaded at the same address. Before that, the values of such a
//! function are moved to a key that is not an address: an index into a table of function names.

use kernel::prelude::*;

use crate::ktrace::private::modules;

/// The key of all functions whose names could not be stored.
pub(super) const NAMELESS: u64 = 1;

/// The first key that is an index of a name. No kernel function has an address in the first pages.
const FIRST: u64 = 2;

/// Maximum number of names, so that no key is as large as an address.
const MAX_NAMES: usize = 4000;

/// The names of unloaded functions, without duplicates.
#[derive(Default)]
pub(crate) struct Gone {
    names: KVec<KVec<u8>>,
}

impl Gone {
    /// Returns the key for the function at an address whose name the kernel still knows. May sleep.
    pub(crate) fn key_of(&mut self, address: usize) -> u64 {
        self.try_key_of(address).unwrap_or(NAMELESS)
    }

    fn try_key_of(&mut self, address: usize) -> Result<u64> {
        let name = modules::name_of(address)?;
        let at = match self.names.iter().position(|name_| **name_ == *name) {
            Some(at) => at,
            None if self.names.len() >= MAX_NAMES => return Err(ENOSPC),
            None => {
                // Allocate the exact size.
                let mut kept = KVec::with_capacity(name.len(), GFP_KERNEL)?;
                kept.extend_from_slice(&name, GFP_KERNEL)?;
                self.names.push(kept, GFP_KERNEL)?;
                self.names.len().wrapping_sub(1)
            }
        };
        Ok(FIRST.wrapping_add(at as u64))
    }

    /// Returns the name for a key, or `None` if the key is an address.
    pub(super) fn name(&self, key: u64) -> Option<&[u8]> {
        if key == NAMELESS {
            return Some(b"?");
        }
        let at = key.checked_sub(FIRST)?;
        self.names.get(at as usize).map(|name| &**name)
    }

    /// Removes all names. To be called when no profile is left.
    pub(crate) fn clear(&mut self) {
        self.names = KVec::new();
    }
}
