// SPDX-License-Identifier: GPL-2.0

//! Chains of wakeups: which task woke a blocked task, what this waker was blocked on itself in the
//! meantime, which task woke the waker, and so on.
//!
//! The chain is followed back when the blocked task is woken, through the recent blocked intervals
//! of the wakers ([`RecentBlocks`](crate::task_times::recent::RecentBlocks)). It ends at an
//! interrupt, at a waker that was not blocked long, or after [`MAX_HOPS`]. Each part of it is one
//! event `task_chain`. Only intervals that reach the threshold of a trace array (`chain_thresh`)
//! are followed; intervals of wakers are kept from an eighth of the least threshold on.

use crate::{
    chain_thresholds::least_ns,
    events,
    ktrace::task::{
        irqs::Irq,
        sched_state::caller_of,
        Task, //
    },
    task_times::{
        accounting::Accounting,
        recent::{
            Past,
            PastBlock, //
        },
        times::TaskTimes,
        types::{
            ChainLink,
            Waker, //
        },
    },
};

/// Maximum number of parts of a chain.
const MAX_HOPS: u8 = 8;

impl Accounting {
    /// Keeps a blocked interval of `task`, which is woken at `now_ns`, and reports its chain, if it
    /// was long enough. For the probe on wakeups.
    #[inline]
    pub(crate) fn follow_chain(
        &self,
        times: &TaskTimes,
        task: Task<'_>,
        now_ns: u64,
        block_ns: u64,
        waker: &Waker,
    ) {
        let least_ns = least_ns();
        if block_ns >= least_ns / 8 && least_ns != u64::MAX {
            self.follow_long(times, task, now_ns, block_ns, waker, least_ns);
        }
    }

    #[cold]
    fn follow_long(
        &self,
        times: &TaskTimes,
        task: Task<'_>,
        now_ns: u64,
        block_ns: u64,
        waker: &Waker,
        least_ns: u64,
    ) {
        if block_ns >= least_ns && events::task_chain::is_enabled() {
            self.report_chain(task, now_ns, block_ns, waker);
        }
        let caller = match times.caller.get() {
            0 => caller_of(task),
            known => known as usize,
        };
        let block = PastBlock {
            end_ns: now_ns,
            ns: block_ns,
            state: times.state.get() as u32,
            caller,
            waker: *waker,
        };
        self.recent.add(task, &block);
    }

    fn report_chain(&self, task: Task<'_>, now_ns: u64, block_ns: u64, waker: &Waker) {
        let from_ns = now_ns.saturating_sub(block_ns);
        let mut until_ns = now_ns;
        let mut waker = *waker;
        for hop in 1..=MAX_HOPS {
            let is_task = waker.context == 0 && waker.pid != 0;
            let past = match is_task {
                true => self.recent.longest(waker.pid, from_ns, until_ns),
                false => Past::NotBlocked,
            };
            let mut link = ChainLink {
                block_ns,
                waker,
                irq: Irq::from_code(waker.irq).name(),
                hop,
                is_known: true,
                state: 0,
                waker_block_ns: 0,
                caller: 0,
            };
            let next = match past {
                Past::Blocked(block, overlap_ns) => {
                    link.state = block.state;
                    link.waker_block_ns = overlap_ns;
                    link.caller = block.caller;
                    Some(block)
                }
                Past::NotBlocked => None,
                Past::Unknown => {
                    link.is_known = false;
                    None
                }
            };
            events::task_chain::trace(task, &link);
            let Some(block) = next else {
                return;
            };
            until_ns = block.end_ns;
            waker = block.waker;
        }
    }
}
