// SPDX-License-Identifier: GPL-2.0

//! The times of calls by path: the function and its traced callers, in one table for each CPU.
//!
//! The key of a path is a sum: each function on it adds a hash of its address, multiplied by a
//! factor that depends on its depth. So the key of the callers' path is the difference, and a path
//! is found in one pass over the open calls, the innermost first. An entry refers to that of the
//! callers, which is created with it.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::{
    gone::Gone,
    table::Table, //
};
use crate::{
    ktrace::{
        private::modules::LeavingText,
        sync::{
            double_buffer::DoubleBuffer,
            read_once::ReadOnce, //
        },
    },
    relaxed_u64::RelaxedU64,
    time_split::Split, //
};

/// The number of paths that a CPU has entries for.
const PATHS: usize = 4096;

/// The kernel's shadow stack has room for fewer calls.
pub(super) const MAX_DEPTH: usize = 64;

/// An odd number: the golden ratio as a fraction of 2^64.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Factors by depth: powers of the multiplier.
static FACTORS: [u64; MAX_DEPTH] = {
    let mut factors = [1; MAX_DEPTH];
    let mut n = 1;
    while n < MAX_DEPTH {
        factors[n] = u64::wrapping_mul(factors[n - 1], MULTIPLIER);
        n += 1;
    }
    factors
};

/// The accumulated values of the calls that have returned on a path.
#[derive(Default)]
pub(super) struct Path {
    /// The last function; 0 until the entry is complete.
    pub(super) func: RelaxedU64,
    /// The key of the callers' path; 0 if there are none.
    pub(super) callers: RelaxedU64,
    pub(super) run_ns: RelaxedU64,
    /// The part of `run_ns` that was the time of interrupts.
    pub(super) irq_ns: RelaxedU64,
    pub(super) wait_ns: RelaxedU64,
    pub(super) block_ns: RelaxedU64,
}

impl Path {
    fn clear(&self) {
        self.run_ns.set(0);
        self.irq_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
    }
}

/// Returns what a function at a depth adds to the key of a path.
#[inline]
fn part(salt: u64, func: usize, depth: i32) -> u64 {
    let mut hash = (func as u64 ^ salt).wrapping_mul(MULTIPLIER);
    hash ^= hash >> 32;
    let factor = FACTORS.get(depth as usize % MAX_DEPTH);
    hash.wrapping_mul(MULTIPLIER)
        .wrapping_mul(*factor.unwrap_or(&1))
}

/// The paths of one trace array.
pub(crate) struct Paths {
    tables: DoubleBuffer<Table<Path>>,
    /// Changes the keys of all later paths, so that functions of a module that was unloaded are not
    /// confused with later ones at the same addresses.
    salt: Atomic<u64>,
}

impl Paths {
    /// Creates empty tables. May sleep.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            tables: DoubleBuffer::new(Table::new(PATHS)?)?,
            salt: Atomic::new(0),
        })
    }

    /// Returns the size in bytes.
    pub(super) fn size(&self) -> usize {
        self.table().size().saturating_mul(self.tables.count())
    }

    /// Returns the number of additions for which there was no free entry.
    pub(super) fn lost(&self) -> u64 {
        self.table().lost()
    }

    pub(super) fn table(&self) -> &Table<Path> {
        self.tables.get()
    }

    /// Adds a call of `func` at `depth`, whose callers are `caller(1)`, `caller(2)` and so on up to
    /// `caller(depth)`; the result is `None` for a call that is not traced. Preemption must be off;
    /// any context.
    pub(crate) fn add(
        &self,
        func: usize,
        depth: i32,
        split: &Split,
        caller: impl Fn(i32) -> Option<usize>,
    ) {
        // All parts of a path need equal salt, which can change in between.
        let salt = self.salt.read_once();
        let callers = (1..=depth)
            .filter_map(|up| Some(part(salt, caller(up)?, depth.wrapping_sub(up))))
            .fold(0, u64::wrapping_add);
        let mut is_new = false;
        self.with(callers.wrapping_add(part(salt, func, depth)), |path| {
            is_new = path.func.get() == 0;
            path.run_ns.add(split.run);
            if split.irq != 0 {
                path.irq_ns.add(split.irq);
            }
            path.wait_ns.add(split.wait);
            path.block_ns.add(split.block);
        });
        if is_new {
            self.add_new(salt, callers, (func, depth), caller);
        }
    }

    /// Completes the entry of a path that is new on this CPU, and those of its callers.
    #[cold]
    fn add_new(
        &self,
        salt: u64,
        mut callers: u64,
        (func, depth): (usize, i32),
        caller: impl Fn(i32) -> Option<usize>,
    ) {
        let complete = |callers: u64, func: usize, part: u64| {
            self.with(callers.wrapping_add(part), |path| {
                path.callers.set(callers);
                path.func.set(func as u64);
            });
        };
        complete(callers, func, part(salt, func, depth));
        for up in 1..=depth {
            if let Some(func) = caller(up) {
                let part = part(salt, func, depth.wrapping_sub(up));
                callers = callers.wrapping_sub(part);
                complete(callers, func, part);
            }
        }
    }

    #[inline]
    fn with(&self, key: u64, with: impl FnOnce(&Path)) {
        // 0 is the key of an unused entry.
        if key != 0 {
            self.table().with(key, with);
        }
    }

    /// Replaces functions whose text is about to be freed. May sleep.
    pub(crate) fn text_leaves(&self, text: &LeavingText<'_>, gone: &mut Gone) {
        let mut has_left = false;
        self.table().visit(|_, path| {
            let func = path.func.get() as usize;
            if func != 0 && text.has(func) {
                path.func.set(gone.key_of(func));
                has_left = true;
            }
        });
        if has_left {
            let salt = self.salt.load(Relaxed);
            self.salt.store(salt.wrapping_add(1), Relaxed);
        }
    }

    /// Removes all paths. May sleep. If memory is short, or if another task does the same, only the
    /// values are reset.
    pub(crate) fn clear(&self) {
        let clear = |table: &Table<Path>| {
            table.clear(|path| {
                path.clear();
                path.func.set(0);
                path.callers.set(0);
            });
        };
        if self.tables.restart(|| Table::new(PATHS), clear).is_err() {
            self.table().clear_values(Path::clear);
        }
    }
}
