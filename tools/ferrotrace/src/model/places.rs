// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sums of intervals, and the places where tasks were blocked.

use crate::recording::{
    Blocked,
    FuncId,
    TaskName,
    Waker, //
};

/// The sum of some intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Their number.
    pub count: u64,
    /// Their total time.
    pub total: u64,
    /// The longest one.
    pub max: u64,
}

impl Sum {
    /// Adds an interval of `ns`.
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(ns);
        self.max = self.max.max(ns);
    }
}

/// A place where tasks were blocked, with the waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The function in which they slept.
    pub caller: Option<FuncId>,
    /// The state, a bit mask of the kernel.
    pub state: u32,
    /// The waker. The task under an interrupt is left out: it is not related.
    pub waker: Waker,
}

impl Place {
    /// Returns where a task was blocked, and its waker.
    pub fn new(blocked: &Blocked) -> Self {
        let mut waker = blocked.waker;
        if waker.context != 0 {
            waker.task = TaskName::default();
        }
        Self {
            caller: blocked.caller,
            state: blocked.state,
            waker,
        }
    }
}
