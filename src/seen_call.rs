// SPDX-License-Identifier: GPL-2.0

//! A traced call or return, for the parts that need to see each of them, whether it is recorded or
//! not.

use crate::ktrace::{
    array::trace_array::TraceArray,
    hook::stack_depth::Stack,
    record::context::Context,
    sync::published::PreemptionOff,
    task::Task, //
};

/// A function and its caller: their addresses, or keys of [`Gone`](crate::profile::gone::Gone).
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) func: usize,
    pub(crate) caller: usize,
}

/// A call or return of a traced function, as a hook sees it.
pub(crate) struct SeenCall<'a> {
    /// The trace array that traces it.
    pub(crate) tr: &'a TraceArray,
    /// The current task.
    pub(crate) task: Task<'a>,
    pub(crate) context: Context,
    pub(crate) place: Place,
    /// The function is called; otherwise it returns.
    pub(crate) is_call: bool,
    /// The stack of a call, if the registers are known.
    pub(crate) stack: Option<Stack<'a>>,
    pub(crate) preemption_off: PreemptionOff<'a>,
}
