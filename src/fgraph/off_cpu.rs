// SPDX-License-Identifier: GPL-2.0

//! Determines the run, wait and block times of calls that lost the CPU. Before a task loses the
//! CPU, its off-CPU time so far is saved in the frames of its open calls.

use super::Graph;
use crate::{
    ktrace::{
        fgraph::{ClockPair, FrameRef, Open},
        task::Task, //
    },
    time_split::Split, //
};

impl Graph {
    /// Returns the run, wait and block times of a call, and how often it lost the CPU. The times
    /// are all zero if they are unknown, because the task was not accounted in between.
    pub(super) fn divide(&self, task: Task<'_>, frame: FrameRef<'_>, total: u64) -> (Split, u32) {
        let switches = task.switches().wrapping_sub(frame.half());
        if switches == 0 {
            return (Split::undivided(total), 0);
        }
        let Some(now) = self.accounting.off_cpu(task) else {
            // An idle task, which is not accounted.
            return (Split::undivided(total), 0);
        };
        let seen = self.accounting.has_seen_since(task, frame.half());
        let parts = frame.off_cpu().filter(|_| seen);
        let parts = parts.and_then(|[wait_before, block_before]| {
            let wait = now.wait_ns.checked_sub(wait_before)?;
            let block = now.block_ns.checked_sub(block_before)?;
            Some((wait, block))
        });
        let Some((wait, block)) = parts else {
            self.accounting.count_missing();
            return (Split::unknown(total), switches);
        };
        (Split::new(total, wait, block), switches)
    }

    /// Saves the task's off-CPU time in the frames of all open calls, before the task loses the
    /// CPU.
    #[inline]
    pub(super) fn save_off_cpu(&self, open: &Open<'_>) {
        let Some(off_cpu) = self.accounting.off_cpu(open.task()) else {
            return;
        };
        let now = ClockPair::now();
        for up in 0..=open.depth() {
            match open.frame(up) {
                Some(frame) if frame.has_off_cpu() => break,
                Some(frame) => frame.save_off_cpu([off_cpu.wait_ns, off_cpu.block_ns], now),
                // A call that only another hook traces.
                None => {}
            }
        }
    }
}
