// SPDX-License-Identifier: GPL-2.0

//! Pairs the entries and exits of the calls of one CPU. The state for this is kept between the
//! lines that a reader prints.

use crate::{
    events,
    ktrace::{
        output::iter::{
            is_irq_entry,
            Header, //
            RecordedEntry,
        },
        record::GraphEntry, //
    },
    option,
};

/// The maximum depth for which entries and exits are matched, as in the kernel
/// (`FTRACE_RETFUNC_DEPTH`).
const MAX_DEPTH: usize = 50;

/// The state that is kept between the lines of one CPU.
#[derive(Clone, Copy)]
pub(crate) struct CpuLines {
    /// The task of the latest line.
    pub(super) pid: Option<i32>,
    /// The depth at which comments are indented.
    pub(super) depth: i32,
    /// The depth of the interrupt that is hidden together with its callees.
    hidden: Option<i32>,
    /// The functions whose entry was shown and whose exit was not, indexed by depth.
    open: [usize; MAX_DEPTH],
    /// The run, wait and block times of the next return.
    pub(super) times: Option<RecordedTimes>,
    /// An entry that was consumed from the buffer, but whose line did not fit.
    pub(super) pending: Option<PendingCall>,
}

/// The content of [`CpuLines::pending`].
#[derive(Clone, Copy)]
pub(super) struct PendingCall {
    pub(super) entry: RecordedEntry,
    pub(super) header: Header,
    /// In units of the trace clock.
    pub(super) time: u64,
    pub(super) times: Option<RecordedTimes>,
}

/// The run, wait and block times of a call, as recorded.
pub(super) type RecordedTimes = events::funcgraph_times::Read;

impl Default for CpuLines {
    fn default() -> Self {
        Self {
            pid: None,
            depth: 0,
            hidden: None,
            open: [0; MAX_DEPTH],
            times: None,
            pending: None,
        }
    }
}

impl CpuLines {
    /// Records that the entry of a call was shown, or its exit.
    pub(super) fn set_open(&mut self, call: &GraphEntry, open: bool) {
        if let Some(place) = usize::try_from(call.depth)
            .ok()
            .and_then(|depth| self.open.get_mut(depth))
        {
            *place = if open { call.func } else { 0 };
        }
    }

    /// Returns whether the latest entry that was shown at its depth is of this function. Returns
    /// true if the call is too deep to know.
    pub(super) fn is_open(&self, call: &GraphEntry) -> bool {
        usize::try_from(call.depth)
            .ok()
            .and_then(|depth| self.open.get(depth))
            .is_none_or(|func| *func == call.func)
    }

    /// Returns whether an entry is hidden because it is of an interrupt, or of a call within one.
    pub(super) fn hides_entry(&mut self, options: u32, call: &GraphEntry) -> bool {
        if options & option::IRQS != 0 {
            return false;
        }
        if self.hidden.is_none() && is_irq_entry(call.func) {
            self.hidden = Some(call.depth);
        }
        self.hidden.is_some()
    }

    /// Returns whether an exit is hidden because it is of an interrupt, or of a call within one.
    pub(super) fn hides_return(&mut self, options: u32, call: &GraphEntry) -> bool {
        if options & option::IRQS != 0 {
            return false;
        }
        let Some(depth) = self.hidden else {
            // The entry may have been lost.
            return is_irq_entry(call.func);
        };
        if depth >= call.depth {
            self.hidden = None;
        }
        true
    }
}
