// SPDX-License-Identifier: MIT OR Apache-2.0

//! Says in words where the time of a task went.

use super::{
    collect::TaskDetails,
    text::{
        behind_name,
        name_of,
        waker_name,
        Share,
        Short, //
    },
};
use crate::summary::TaskSums;

/// The sentences about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The main thing: in what state most of its time was spent, and why.
    pub headline: String,
    /// More about its time on a CPU.
    pub run: String,
    /// More about its time waiting for a CPU.
    pub wait: String,
    /// More about its time blocked.
    pub block: String,
}

impl Answer {
    /// Returns the sentences about a task. `function` names functions by their numbers.
    pub fn new<'a>(
        task: &TaskSums,
        details: Option<&TaskDetails>,
        has_states: bool,
        function: impl Fn(usize) -> &'a str,
    ) -> Self {
        let split = &task.split;
        let whole = split.wall().saturating_add(task.unknown);
        let wait_reason = details.and_then(TaskDetails::longest_wait).map(|(by, ns)| {
            let how = how_much(ns, split.wait);
            format!("{how} behind {} ({})", behind_name(by), Short(ns))
        });
        let block_reason = details.and_then(|details| {
            let (caller, ns) = details.longest_block()?;
            let how = how_much(ns, split.block);
            let caller_name = caller.map_or("an unknown function", |func| function(func.index()));
            let waker = details.main_waker(caller).map(|(waker, by)| match by {
                by if by == ns => format!(", woken by {}", waker_name(&waker)),
                by => format!(", woken by {} ({})", waker_name(&waker), Share(by, ns)),
            });
            let waker = waker.unwrap_or_default();
            Some(format!("{how} in {caller_name} ({}){waker}", Short(ns)))
        });
        let in_calls = Share(task.in_calls.run, split.run);
        let run_reason = match task.calls {
            0 => None,
            _ if !has_states => None,
            _ => Some(format!("{in_calls} of it in recorded calls")),
        };
        let (part, state, reason) = [
            (split.run, "was spent on a CPU", &run_reason),
            (split.wait, "was spent waiting for a CPU", &wait_reason),
            (split.block, "was spent blocked", &block_reason),
            (
                task.unknown,
                "is unknown, because events are missing",
                &None,
            ),
        ]
        .into_iter()
        .max_by_key(|(part, _, _)| *part)
        .unwrap_or((0, "is unknown", &None));
        let time = if has_states {
            "time"
        } else {
            "time in recorded calls"
        };
        let name = name_of(task);
        let share = Share(part, whole);
        let headline = match reason {
            Some(reason) => format!("{share} of the {time} of {name} {state}, {reason}."),
            None => format!("{share} of the {time} of {name} {state}."),
        };
        let line = |part: u64, reason: Option<String>| {
            let reason = reason.filter(|_| part != 0);
            let reason = reason.map(|reason| format!(", {reason}"));
            format!(
                "{}, {}{}",
                Short(part),
                Share(part, whole),
                reason.unwrap_or_default()
            )
        };
        Self {
            headline,
            run: line(split.run, run_reason),
            wait: line(split.wait, wait_reason),
            block: line(split.block, block_reason),
        }
    }
}

/// Returns the words for a part of a time.
fn how_much(part: u64, whole: u64) -> String {
    match u128::from(part) * 100 / u128::from(whole.max(1)) {
        100.. => "all of it".to_owned(),
        50.. => "most of it".to_owned(),
        _ => format!("{} of it", Share(part, whole)),
    }
}
