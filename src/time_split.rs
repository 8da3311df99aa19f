// SPDX-License-Identifier: GPL-2.0

//! How a duration of a task divides.

/// How a duration divides, in ns.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Split {
    pub(crate) total: u64,
    /// Time on a CPU.
    pub(crate) run: u64,
    /// The part of `run` that was the time of interrupts; 0 if it was not measured.
    pub(crate) irq: u64,
    /// Time runnable but not running.
    pub(crate) wait: u64,
    /// Time blocked.
    pub(crate) block: u64,
}

impl Split {
    /// Creates the times of a call that was on a CPU all the time.
    #[inline]
    pub(crate) fn undivided(total: u64) -> Self {
        Self {
            total,
            run: total,
            irq: 0,
            wait: 0,
            block: 0,
        }
    }

    /// Divides a duration, of which the task waited and was blocked for these times. They are
    /// limited so that the parts add up: clocks may differ in the last digits.
    #[inline]
    pub(crate) fn new(total: u64, wait: u64, block: u64) -> Self {
        let wait = wait.min(total);
        let block = block.min(total.wrapping_sub(wait));
        Self {
            total,
            run: total.wrapping_sub(wait).wrapping_sub(block),
            irq: 0,
            wait,
            block,
        }
    }

    /// Adds the time of interrupts, which is limited to the time on a CPU.
    #[inline]
    pub(crate) fn with_irq(self, irq: u64) -> Self {
        Self {
            irq: irq.min(self.run),
            ..self
        }
    }

    /// Creates the times of a call whose run/wait/block split is unknown.
    pub(crate) fn unknown(total: u64) -> Self {
        Self {
            total,
            ..Self::default()
        }
    }
}
