// SPDX-License-Identifier: GPL-2.0

//! The list that one control file contains. Changes to it take effect completely or not at all.

use kernel::prelude::*;

use super::{
    cgroups::{
        parse_cgroup,
        Name, //
    },
    error::{
        Fault,
        InputError, //
    },
    glob::{
        name_of,
        Glob, //
    },
    ids::{
        parse_id,
        IdSet, //
    },
    tokens::MAX_TOKEN,
};

/// The maximum length of the path of a cgroup: `PATH_MAX` without the NUL.
pub(crate) const MAX_PATH: usize = 4095;

/// Maximum number of patterns in a list.
pub(crate) const MAX_GLOBS: usize = 256;

/// Distinct patterns for task names, in the order in which they were written.
///
/// # Invariants
///
/// No two patterns have the same text, and there are at most [`MAX_GLOBS`].
#[derive(Default)]
pub(crate) struct GlobSet {
    globs: KVec<Glob>,
}

impl GlobSet {
    /// Returns whether any of the patterns matches the name. May be called from any context.
    pub(crate) fn matches(&self, comm: &[u8]) -> bool {
        let name = name_of(comm);
        self.globs.iter().any(|glob| glob.matches_name(name))
    }

    /// Returns the patterns, in the order in which they were written.
    pub(crate) fn as_slice(&self) -> &[Glob] {
        &self.globs
    }

    /// Iterates over the patterns, in the order in which they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Glob> {
        self.globs.iter()
    }

    /// Returns the number of patterns.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.globs.len()
    }

    /// Returns whether there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Appends a pattern; does nothing if it is already in the set. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the set is full, [`ENOMEM`].
    pub(crate) fn insert(&mut self, glob: Glob) -> Result {
        if self.globs.iter().any(|own| *own == glob) {
            return Ok(());
        }
        if self.globs.len() >= MAX_GLOBS {
            return Err(ENOSPC);
        }
        // INVARIANT: The pattern is not in the set, and there are fewer than `MAX_GLOBS`.
        self.globs.push(glob, GFP_KERNEL)?;
        Ok(())
    }

    /// Returns the union of this set and `more`. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if the union has more than [`MAX_GLOBS`] patterns, [`ENOMEM`].
    pub(crate) fn merge(&self, more: &[Glob]) -> Result<Self> {
        let mut merged = self.try_clone()?;
        for glob in more {
            merged.insert(*glob)?;
        }
        Ok(merged)
    }

    /// Returns a copy. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut globs = KVec::with_capacity(self.globs.len(), GFP_KERNEL)?;
        globs.extend_from_slice(&self.globs, GFP_KERNEL)?;
        // INVARIANT: The copy has the same entries, in the same order, as `self`.
        Ok(Self { globs })
    }
}

/// Finds what words name, which depends on the namespaces of the task that writes.
pub(crate) struct Lookup {
    /// Returns the id in the initial PID namespace of the task that has this id in the writer's.
    pub(crate) pid: fn(i32) -> Option<i32>,
    /// Returns the id of the cgroup with this path in the writer's cgroup namespace, [`ENOENT`] if
    /// there is none, or [`ENOMEM`]. May sleep.
    pub(crate) cgroup: fn(&[u8]) -> Result<u64>,
}

/// The operations that all kinds of list have: inserting a word and building a union.
pub(crate) trait List: Default {
    /// The maximum length of a word in bytes.
    const MAX_WORD: usize = MAX_TOKEN;

    /// The fault of a word that is longer than any entry can be.
    const WORD_TOO_LONG: Fault;

    /// Returns whether there are no entries.
    fn has_none(&self) -> bool;

    /// Parses a word and inserts the entry. May sleep.
    fn insert_word(&mut self, word: &[u8], names: &Lookup) -> Result<(), Fault>;

    /// Returns the union of this list and `more`. May sleep.
    fn union(&self, more: &Self) -> Result<Self>;
}

impl List for IdSet<i32> {
    // Without leading zeros, such a number would be out of range. But the rest of the word was not
    // read, so it need not be a number at all.
    const WORD_TOO_LONG: Fault = Fault::NotANumber;

    fn has_none(&self) -> bool {
        self.is_empty()
    }

    fn insert_word(&mut self, word: &[u8], names: &Lookup) -> Result<(), Fault> {
        let id = (names.pid)(parse_id(word)?).ok_or(Fault::NoTask)?;
        self.insert(id).map_err(fault_of)
    }

    fn union(&self, more: &Self) -> Result<Self> {
        self.merge(more.as_slice())
    }
}

impl List for IdSet<u64> {
    const MAX_WORD: usize = MAX_PATH;
    const WORD_TOO_LONG: Fault = Fault::NoCgroup;

    fn has_none(&self) -> bool {
        self.is_empty()
    }

    fn insert_word(&mut self, word: &[u8], names: &Lookup) -> Result<(), Fault> {
        let id = match parse_cgroup(word).map_err(fault_of)? {
            Some(Name::Id(id)) => Ok(id),
            Some(Name::Path(path)) => (names.cgroup)(&path),
            None => Err(ENOENT),
        };
        self.insert(id.map_err(fault_of)?).map_err(fault_of)
    }

    fn union(&self, more: &Self) -> Result<Self> {
        self.merge(more.as_slice())
    }
}

impl List for GlobSet {
    const WORD_TOO_LONG: Fault = Fault::NameTooLong;

    fn has_none(&self) -> bool {
        self.is_empty()
    }

    fn insert_word(&mut self, word: &[u8], _: &Lookup) -> Result<(), Fault> {
        self.insert(Glob::new(word)?).map_err(fault_of)
    }

    fn union(&self, more: &Self) -> Result<Self> {
        self.merge(more.as_slice())
    }
}

/// Converts the error of a look-up, an insertion or a union to a fault.
fn fault_of(error: Error) -> Fault {
    match error {
        error if error == ENOSPC => Fault::TooMany,
        error if error == ENOENT => Fault::NoCgroup,
        _ => Fault::NoMemory,
    }
}

/// The entries of one input, before they take effect.
///
/// The whole input is checked before the current list is touched. That list is never changed in
/// place: [`NewList::commit`] creates a new one.
#[derive(Default)]
pub(crate) struct NewList<L> {
    list: L,
}

impl<L: List> NewList<L> {
    /// Returns whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.has_none()
    }

    /// Parses a word that begins `offset` bytes into the input, and adds the entry. May sleep.
    pub(crate) fn push(
        &mut self,
        word: &[u8],
        offset: usize,
        names: &Lookup,
    ) -> Result<(), InputError> {
        self.list
            .insert_word(word, names)
            .map_err(|fault| InputError::new(fault, word, offset))
    }

    /// Returns the new list: with `replace`, only the entries of this input (possibly none);
    /// without it, the union of `current` and these entries. May sleep.
    pub(crate) fn commit(self, replace: bool, current: &L) -> Result<L, InputError> {
        if replace {
            Ok(self.list)
        } else {
            current
                .union(&self.list)
                .map_err(|error| InputError::new(fault_of(error), b"", 0))
        }
    }
}
