// SPDX-License-Identifier: MIT OR Apache-2.0

//! The calls of a task.

use crate::recording::{
    Blocked,
    CallId,
    FuncId, //
};

use super::split::Split;

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
pub struct OpenCall {
    /// The function and its depth.
    pub id: CallId,
    /// When it began, in ns.
    pub start: u64,
    /// The times of its callees that were recorded.
    pub(super) callees: Split,
    /// The time of all states of the task when it began.
    pub(super) before: Split,
    /// Whether the task's states were known when it began.
    pub(super) states_known: bool,
    /// The end of its latest callee.
    pub(super) floor: u64,
    /// The time of a loss since then, in which it may have returned.
    pub(super) lost: Option<u64>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned.
    Returned,
    /// The record of its return was lost.
    Lost,
    /// It had not returned when the recording or the task ended.
    Open,
}

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The function.
    pub func: FuncId,
    /// When it began, in ns.
    pub start: u64,
    /// When it ended, in ns. The time since its beginning is up to some us more than the duration
    /// where that is needed to place it within its caller.
    pub end: u64,
    /// Its duration, divided.
    pub split: Split,
    /// Its duration without its callees that were recorded.
    pub own: Split,
    /// How often the task lost its CPU in it, if that was recorded.
    pub switches: u32,
    /// The last blocked interval in it, if it was recorded.
    pub blocked: Option<Blocked>,
    /// How it ended.
    pub ending: Ending,
}
