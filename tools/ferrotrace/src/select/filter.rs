// SPDX-License-Identifier: MIT OR Apache-2.0

//! Passes on to a visitor what is about the selected tasks, in the selected time.

use anyhow::bail;
use rustc_hash::FxHashMap;

use super::{
    window::{
        CutTask,
        Window, //
    },
    Selection, //
};
use crate::{
    model::{
        Call,
        Chain,
        Interval,
        OpenCall,
        State,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        Event,
        TaskName,
        Waker, //
    },
};

/// A visitor for a part of a recording.
pub struct Filter<V> {
    /// The visitor that gets this part.
    pub visitor: V,
    selection: Selection,
    /// The selected time, from the first event on.
    window: Option<Window>,
    /// The tasks, if a time is selected.
    tasks: FxHashMap<TaskId, CutTask>,
}

impl Selection {
    /// Returns a visitor that passes on this part of a recording to another one.
    pub fn filter<V: Visitor>(self, visitor: V) -> Filter<V> {
        Filter {
            visitor,
            selection: self,
            window: None,
            tasks: FxHashMap::default(),
        }
    }
}

impl<V: Visitor> Filter<V> {
    /// Must be called for each event, before the model.
    pub fn event(&mut self, event: &Event<'_>) {
        let Selection { from, to, .. } = self.selection;
        if self.window.is_none() && (from.is_some() || to.is_some()) {
            let first = event.time;
            let from = from.map(|from| from.after(first));
            self.window = Some(Window {
                // A call can begin before the first event, which is that of its end.
                from: from.filter(|from| *from > first).unwrap_or(0),
                to: to.map_or(u64::MAX, |to| to.after(first)),
            });
        }
    }

    /// Returns whether an event about this task is shown.
    pub fn shows(&self, event: &Event<'_>, task: TaskName) -> bool {
        self.has(TaskId::new(task.pid, event.cpu)) && self.has_time(event.time)
    }

    /// Returns the beginning of what is shown, if the recording begins at `first`.
    pub fn start(&self, first: u64) -> u64 {
        self.window.map_or(first, |window| window.from.max(first))
    }

    /// Returns the times of the beginning and the end of what is shown, of a recording with this
    /// time.
    ///
    /// # Errors
    ///
    /// If none of it is shown.
    pub fn span(&self, (first, last): (u64, u64)) -> anyhow::Result<(u64, u64)> {
        let Some(window) = self.window else {
            return Ok((first, last));
        };
        let begin = window.from.max(first);
        if begin >= window.to || begin > last {
            bail!(
                "--from and --to leave nothing (the recording has {}.{:06} s, from {}.{:06} on)",
                (last - first) / 1_000_000_000,
                (last - first) / 1000 % 1_000_000,
                first / 1_000_000_000,
                first / 1000 % 1_000_000
            );
        }
        Ok((begin, window.to.min(last)))
    }

    fn has(&self, id: TaskId) -> bool {
        let tasks = self.selection.tasks.as_ref();
        tasks.is_none_or(|tasks| tasks.contains(&id))
    }

    fn has_time(&self, time: u64) -> bool {
        self.window.is_none_or(|window| window.has(time))
    }

    /// Passes on the beginnings of the open calls of a task, which are in the selected time.
    fn begin_calls(&mut self, task: &Task, window: &Window) {
        let Some(cut) = self.tasks.get_mut(&task.id()) else {
            return;
        };
        for open in &mut cut.calls {
            if !open.is_known && open.call.start < window.to {
                open.is_known = true;
                self.visitor.call_begin(task, &open.call);
            }
        }
    }
}

impl<V: Visitor> Visitor for Filter<V> {
    fn state_begin(&mut self, task: &Task, at: u64, state: State) {
        if self.has(task.id()) {
            self.visitor.state_begin(task, at, state);
        }
    }

    fn state_end(&mut self, task: &Task, interval: &Interval) {
        if !self.has(task.id()) {
            return;
        }
        let Some(window) = self.window else {
            return self.visitor.state_end(task, interval);
        };
        let cut = self.tasks.entry(task.id()).or_default();
        cut.state_end(&window, interval);
        if let Some(interval) = window.cut(interval) {
            self.begin_calls(task, &window);
            self.visitor.state_end(task, &interval);
        }
    }

    fn wakeup(&mut self, task: &Task, times: (u64, u64), waker: &Waker) {
        if self.has(task.id()) && self.has_time(times.0) {
            self.visitor.wakeup(task, times, waker);
        }
    }

    fn call_begin(&mut self, task: &Task, call: &OpenCall) {
        if !self.has(task.id()) {
            return;
        }
        if self.window.is_none() {
            return self.visitor.call_begin(task, call);
        }
        // Whether it is in the selected time is known at its end.
        self.tasks.entry(task.id()).or_default().call_begin(call);
    }

    fn call_end(&mut self, task: &Task, call: &Call) {
        if !self.has(task.id()) {
            return;
        }
        let Some(window) = self.window else {
            return self.visitor.call_end(task, call);
        };
        if window.overlaps(call.start, call.end) {
            self.begin_calls(task, &window);
        }
        let cut = self.tasks.entry(task.id()).or_default();
        let (call, is_known) = cut.call_end(&window, call);
        if is_known {
            self.visitor.call_end(task, &call);
        }
    }

    fn chain(&mut self, chain: &Chain) {
        if self.has(chain.id) && self.has_time(chain.time) {
            self.visitor.chain(chain);
        }
    }
}
