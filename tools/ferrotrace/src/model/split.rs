// SPDX-License-Identifier: MIT OR Apache-2.0

//! A time, divided into run, wait and block.

use std::ops::{
    AddAssign,
    Sub, //
};

/// A time in ns, divided by what the task did in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Time on a CPU.
    pub run: u64,
    /// Time during which the task was runnable, but not running.
    pub wait: u64,
    /// Time during which the task was not runnable.
    pub block: u64,
}

impl Split {
    /// Returns the time that is divided.
    pub fn wall(&self) -> u64 {
        self.run
            .saturating_add(self.wait)
            .saturating_add(self.block)
    }

    /// Divides `wall`. What neither `wait` nor `block` accounts for is run.
    pub fn new(wall: u64, wait: u64, block: u64) -> Self {
        let wait = wait.min(wall);
        let block = block.min(wall - wait);
        Self {
            run: wall - wait - block,
            wait,
            block,
        }
    }
}

impl AddAssign for Split {
    fn add_assign(&mut self, other: Self) {
        self.run = self.run.saturating_add(other.run);
        self.wait = self.wait.saturating_add(other.wait);
        self.block = self.block.saturating_add(other.block);
    }
}

impl Sub for Split {
    type Output = Self;

    /// Subtracts each part; the result has no negative parts.
    fn sub(self, other: Self) -> Self {
        Self {
            run: self.run.saturating_sub(other.run),
            wait: self.wait.saturating_sub(other.wait),
            block: self.block.saturating_sub(other.block),
        }
    }
}
