// SPDX-License-Identifier: MIT OR Apache-2.0

//! Functions of the kernel, each with a small number.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::sys::Formats;

/// The number of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(u32);

impl FuncId {
    /// Returns the number, which counts from 0 in the order in which functions occur.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Creates a function of this number, for tests of code that does not need names.
    #[cfg(test)]
    pub fn new(number: u32) -> Self {
        Self(number)
    }
}

/// The functions that have occurred.
pub struct Symbols<'a> {
    formats: &'a Formats,
    by_address: FxHashMap<u64, FuncId>,
    by_start: FxHashMap<u64, FuncId>,
    names: Vec<String>,
    /// The address that was asked for last.
    last: (u64, FuncId),
    comms: RefCell<FxHashMap<i32, super::Comm>>,
}

impl<'a> Symbols<'a> {
    /// Creates an empty table.
    pub fn new(formats: &'a Formats) -> Self {
        Self {
            formats,
            by_address: FxHashMap::default(),
            by_start: FxHashMap::default(),
            names: Vec::new(),
            last: (0, FuncId(u32::MAX)),
            comms: RefCell::default(),
        }
    }

    /// Returns the name of a function.
    pub fn name(&self, func: FuncId) -> &str {
        self.names.get(func.index()).map_or("?", String::as_str)
    }

    /// Returns the names of the functions that have occurred, by their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the name that a task had when the recording ended; empty if it is unknown.
    pub fn comm(&self, pid: i32) -> super::Comm {
        *self.comms.borrow_mut().entry(pid).or_insert_with(|| {
            let comm = self.formats.comm(pid);
            comm.map_or_else(Default::default, |comm| super::Comm::new(comm.to_bytes()))
        })
    }

    /// Returns the function that contains an address.
    #[inline]
    pub(super) fn func(&mut self, address: u64) -> FuncId {
        if self.last.0 == address && self.last.1 .0 != u32::MAX {
            return self.last.1;
        }
        let func = match self.by_address.get(&address) {
            Some(func) => *func,
            None => self.find(address),
        };
        self.last = (address, func);
        func
    }

    #[cold]
    fn find(&mut self, address: u64) -> FuncId {
        let found = self.formats.function(address);
        let start = found.map_or(address, |function| function.start);
        let func = *self.by_start.entry(start).or_insert_with(|| {
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX - 1);
            self.names.push(match found {
                Some(function) => function.name.to_string_lossy().into_owned(),
                None => format!("{address:#x}"),
            });
            FuncId(number)
        });
        self.by_address.insert(address, func);
        func
    }
}
