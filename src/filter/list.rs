// SPDX-License-Identifier: GPL-2.0

//! What one control file holds, and how it is changed: all or nothing.

use kernel::prelude::*;

use super::{
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
};

/// The most patterns a list can hold.
pub(crate) const MAX_GLOBS: usize = 256;

/// Patterns over a task's name, each once, in the order in which they were written.
///
/// # Invariants
///
/// No two are the same text, and there are at most [`MAX_GLOBS`].
#[derive(Default)]
pub(crate) struct GlobSet {
    globs: KVec<Glob>,
}

impl GlobSet {
    /// Whether any of the patterns matches the name. May be called from any context.
    pub(crate) fn matches(&self, comm: &[u8]) -> bool {
        let name = name_of(comm);
        self.globs.iter().any(|glob| glob.matches_name(name))
    }

    /// The patterns, in the order in which they were written.
    pub(crate) fn as_slice(&self) -> &[Glob] {
        &self.globs
    }

    /// Iterates over the patterns, in the order in which they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Glob> {
        self.globs.iter()
    }

    /// The number of patterns.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.globs.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Puts one pattern in; nothing changes if it is there already. May sleep.
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
        // INVARIANT: It is not there, and there is room for one more.
        self.globs.push(glob, GFP_KERNEL)?;
        Ok(())
    }

    /// Makes the set of all that are in this one or in `more`. May sleep.
    ///
    /// # Errors
    ///
    /// [`ENOSPC`] if that is more than [`MAX_GLOBS`], [`ENOMEM`].
    pub(crate) fn merge(&self, more: &[Glob]) -> Result<Self> {
        let mut merged = self.try_clone()?;
        for glob in more {
            merged.insert(*glob)?;
        }
        Ok(merged)
    }

    /// Makes a copy. May sleep.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let mut globs = KVec::with_capacity(self.globs.len(), GFP_KERNEL)?;
        globs.extend_from_slice(&self.globs, GFP_KERNEL)?;
        // INVARIANT: The copy has the entries of a set.
        Ok(Self { globs })
    }
}

/// What is common to the lists: they are filled word by word and can be added up.
pub(crate) trait List: Default {
    /// What is wrong with a word that is longer than any entry could be.
    const WORD_TOO_LONG: Fault;

    /// Whether there are no entries.
    fn has_none(&self) -> bool;

    /// Puts in the entry that a word stands for. May sleep.
    fn insert_word(&mut self, word: &[u8]) -> Result<(), Fault>;

    /// Makes the list of all that are in this one or in `more`. May sleep.
    fn union(&self, more: &Self) -> Result<Self>;
}

impl List for IdSet {
    // Leading zeros apart, it was out of range long before; but the rest of it was not looked at.
    const WORD_TOO_LONG: Fault = Fault::NotANumber;

    fn has_none(&self) -> bool {
        self.is_empty()
    }

    fn insert_word(&mut self, word: &[u8]) -> Result<(), Fault> {
        self.insert(parse_id(word)?).map_err(fault_of)
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

    fn insert_word(&mut self, word: &[u8]) -> Result<(), Fault> {
        self.insert(Glob::new(word)?).map_err(fault_of)
    }

    fn union(&self, more: &Self) -> Result<Self> {
        self.merge(more.as_slice())
    }
}

/// What went wrong when a list refused to grow.
fn fault_of(error: Error) -> Fault {
    if error == ENOSPC {
        Fault::TooMany
    } else {
        Fault::NoMemory
    }
}

/// The entries of one input, before they come into force.
///
/// Whatever is wrong with the input shows up before the list in force is touched, and that list
/// is never changed in place: [`Pending::commit`] makes a new one.
#[derive(Default)]
pub(crate) struct Pending<L> {
    list: L,
}

impl<L: List> Pending<L> {
    /// Whether nothing was pushed.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.has_none()
    }

    /// Takes a word that begins `offset` bytes into the input. May sleep.
    pub(crate) fn push(&mut self, word: &[u8], offset: usize) -> Result<(), InputError> {
        self.list
            .insert_word(word)
            .map_err(|fault| InputError::new(fault, word, offset))
    }

    /// Makes the list that is to be in force: what was pushed, with `replace` alone (and empty if
    /// that is nothing), without it added to `current`. May sleep.
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
