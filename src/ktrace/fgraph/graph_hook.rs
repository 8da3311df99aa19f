// SPDX-License-Identifier: GPL-2.0

//! The trait that a user of the call graph implements.

use super::{
    active_calls::Open,
    current_call::{
        CurrentCall,
        Return, //
    },
    fast_path::FastPathConfig,
    frame::FrameRef, //
};
use crate::ktrace::record::context::Context;

/// The operations of a hook on calls and returns.
pub trait GraphHook: Send + Sync + Sized + 'static {
    /// Handles a call by a task that the trace mask selects. Returns true to be called at its
    /// return too. Any context; must not sleep, allocate, print or take a lock.
    fn entry(&self, call: &CurrentCall<'_>) -> bool;

    /// Handles the return of a call for which [`entry`](Self::entry) returned true. Any context;
    /// must not sleep, allocate, print or take a lock.
    fn ret(&self, ret: &Return<'_>);

    /// Returns which calls of the hook with this tag take the fast path; `None` if none do.
    fn fast_path(&self, _tag: u32) -> Option<FastPathConfig<'_>> {
        None
    }

    /// Handles a fast-path call whose entry must be written now; `frame` is its frame. Returns
    /// false if the entry was not written: then the call and its frame are dropped, and its return
    /// is not reported. Context as for [`GraphHook::entry`].
    fn fast_entry(&self, _call: &CurrentCall<'_>, _frame: FrameRef<'_>) -> bool {
        false
    }

    /// Handles a fast-path return if [`FastPathConfig::profile`] is set: a call of `func` took
    /// `total_ns`, and stayed on CPU `cpu`. Context as for [`GraphHook::ret`].
    fn fast_ret_profile(&self, _cpu: usize, _func: usize, _total_ns: u64) {}

    /// Handles a fast-path return that must be written, with its entry unless that is `written`.
    /// The entries of its callers are written. Context as for [`GraphHook::ret`].
    fn fast_ret(&self, _ret: &Return<'_>, _total_ns: u64, _written: bool) {}

    /// Handles a fast-path return whose entry is not written, and for whose callers that is not
    /// known. The call took at least [`FastPathConfig::threshold_ns`], if there is a limit. Context
    /// as for [`GraphHook::ret`].
    fn fast_ret_late(&self, _ret: &Return<'_>, _total_ns: u64) {}

    /// Handles a fast-path call that found the shadow stack full. Context as for
    /// [`GraphHook::entry`].
    fn overrun(&self) {}

    /// Handles the switch of the current task, before it loses its CPU. With interrupts off.
    fn sched_out(&self, task: &Open<'_>);

    /// Handles a record that is not an event, before it is written in the current task in that
    /// context ([`MarkerWatch`](super::MarkerWatch)). Context as for [`GraphHook::entry`].
    fn interposed(&self, task: &Open<'_>, context: Context);

    /// Handles the end of the current task, which will not return from its open calls. With
    /// preemption off.
    fn task_exit(&self, task: &Open<'_>);
}
