// SPDX-License-Identifier: MIT OR Apache-2.0

//! A time of a recording, and how intervals and calls are cut at its limits.

use crate::model::{
    Call,
    Interval,
    OpenCall,
    Split,
    State, //
};

/// A time between two timestamps in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first time that is shown.
    pub from: u64,
    /// The first time after it that is not shown.
    pub to: u64,
}

impl Window {
    /// Returns whether a moment is shown.
    pub fn has(&self, time: u64) -> bool {
        (self.from..self.to).contains(&time)
    }

    /// Returns whether a part of an interval is shown, or all of an interval of 0 ns.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        start < self.to && end > self.from || start == end && self.has(start)
    }

    /// Returns the part of an interval that is shown, if there is one.
    pub fn cut(&self, interval: &Interval) -> Option<Interval> {
        let start = interval.start.max(self.from);
        let end = interval.end.min(self.to);
        (start < end).then_some(Interval {
            start,
            end,
            ..*interval
        })
    }
}

/// An open call of a task.
pub struct CutCall {
    /// The call.
    pub call: OpenCall,
    /// Whether the visitor knows it.
    pub is_known: bool,
    /// The time of the task that was not shown when it began.
    before: Split,
    /// The time of its callees that is not shown.
    callees: Split,
}

/// A task, whose calls are cut.
#[derive(Default)]
pub struct CutTask {
    /// Its open calls, the outermost first.
    pub calls: Vec<CutCall>,
    /// The time of its wait and block states that is not shown.
    hidden: Split,
    has_states: bool,
}

impl CutTask {
    /// A state of the task ended.
    pub fn state_end(&mut self, window: &Window, interval: &Interval) {
        self.has_states = true;
        let shown = window.cut(interval).map_or(0, |cut| cut.ns());
        let hidden = interval.ns() - shown;
        self.hidden += match interval.state {
            State::Wait { .. } => Split::new(hidden, hidden, 0),
            State::Block { .. } => Split::new(hidden, 0, hidden),
            State::Run { .. } | State::Dead | State::Unknown => Split::default(),
        };
    }

    /// A call began.
    pub fn call_begin(&mut self, call: &OpenCall) {
        self.calls.push(CutCall {
            call: *call,
            is_known: false,
            before: self.hidden,
            callees: Split::default(),
        });
    }

    /// A call ended. Returns the part of it that is shown, and whether the visitor knows it.
    ///
    /// The wait and block times that are not shown are those of the states of the task. Without
    /// states, all times of a call are reduced in proportion.
    pub fn call_end(&mut self, window: &Window, call: &Call) -> (Call, bool) {
        let Some(open) = self.calls.pop() else {
            return (*call, false);
        };
        let start = call.start.max(window.from);
        let end = call.end.min(window.to);
        let wall = call.end - call.start;
        let shown = end.saturating_sub(start);
        let hidden = match wall - shown {
            0 => Split::default(),
            ns if self.has_states => {
                let off = self.hidden - open.before;
                Split::new(ns, off.wait, off.block)
            }
            ns => {
                let part = |time: u64| {
                    let scaled = u128::from(time) * u128::from(ns) / u128::from(wall);
                    u64::try_from(scaled).unwrap_or(time)
                };
                Split {
                    run: part(call.split.run),
                    wait: part(call.split.wait),
                    block: part(call.split.block),
                }
            }
        };
        if let Some(caller) = self.calls.last_mut() {
            caller.callees += hidden;
        }
        let split = call.split - hidden;
        let cut = Call {
            start,
            end: end.max(start),
            split,
            own: call.own - (hidden - open.callees),
            blocked: call.blocked.filter(|_| split.block != 0),
            ..*call
        };
        (cut, open.is_known)
    }
}
