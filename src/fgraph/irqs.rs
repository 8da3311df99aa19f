// SPDX-License-Identifier: GPL-2.0

//! Determines the time of interrupts within calls. The frame of a call has the task's time of
//! interrupts at the beginning of the call.

use super::Graph;
use crate::ktrace::{
    fgraph::{
        CurrentCall,
        FrameRef,
        Open,
        Return, //
    },
    task::irq_time, //
};

/// The word of a frame if the task's time of interrupts is not known.
const UNKNOWN: u64 = u64::MAX;

impl Graph {
    /// Reserves a frame that has the current task's time of interrupts.
    #[cold]
    pub(super) fn reserve_with_irqs<'a>(
        &self,
        call: &'a CurrentCall<'_>,
        flags: u32,
    ) -> Option<FrameRef<'a>> {
        call.reserve_long_frame(call.task().switches(), flags, || {
            self.irqs_now(call).unwrap_or(UNKNOWN)
        })
    }

    fn irqs_now(&self, open: &Open<'_>) -> Option<u64> {
        self.accounting.irq_ns(open.task())
    }

    /// Returns the time of interrupts within the call that returns, for the profile: all of it if
    /// the call is a part of an interrupt itself. So the sum over a function and its callees is
    /// right.
    #[cold]
    pub(super) fn part_of_irqs(&self, irq_ns: u64) -> u64 {
        match irq_time::is_in_irq() {
            true => u64::MAX,
            false => irq_ns,
        }
    }

    /// Returns the time of interrupts, in ns, since the beginning of the call that returns; 0 if it
    /// is not known. A call in an interrupt has none: it is part of the interrupt.
    #[cold]
    pub(super) fn irqs_since_entry(&self, ret: &Return<'_>) -> u64 {
        let Some(begun) = ret.word().filter(|word| *word != UNKNOWN) else {
            return 0;
        };
        let now = self.irqs_now(ret);
        now.map_or(0, |now| now.saturating_sub(begun))
    }
}
