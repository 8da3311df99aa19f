// SPDX-License-Identifier: GPL-2.0

//! Copies settings of the kernel that affect recording: `tracing_thresh`, the graph functions, and
//! which trace arrays have enabled events. Watches markers while a trace array writes entries only
//! if needed.

use kernel::prelude::*;

use super::{
    Array,
    Recording,
    State, //
};
use crate::{
    fgraph::Graph,
    ktrace::{
        self,
        array::trace_array::{
            TraceArray,
            TypesLock, //
        },
        fgraph::{
            MarkerWatch,
            When, //
        }, //
    },
};

impl State {
    /// Reads the kernel's `tracing_thresh` for `tr`; it applies only to the top-level trace array.
    pub(crate) fn sync_tracing_thresh(&mut self, tr: &TraceArray) {
        let Some(array) = self.index_of(tr).and_then(|at| self.arrays.get(at)) else {
            return;
        };
        let thresh_ns = match tr.is_top() {
            true => ktrace::fgraph::tracing_thresh_ns(),
            false => 0,
        };
        array.recorder.set_tracing_thresh(thresh_ns);
    }

    /// Copies the contents of `set_graph_function` and `set_graph_notrace`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, with the old copies still in effect.
    pub(crate) fn sync_graph_functions(&self) -> Result {
        ktrace::fgraph::copy_graph_functions(self.resolved)?;
        for array in &self.arrays {
            if let Some(Recording::Graph(hook)) = &array.hook {
                hook.sync_graph_functions();
            }
        }
        Ok(())
    }

    /// Updates which trace arrays have enabled events.
    pub(crate) fn sync_events(&mut self, lock: &TypesLock) {
        for array in &self.arrays {
            let tr = lock.find(array.tr).filter(|tr| array.is_of(tr));
            let any = tr.is_some_and(|tr| tr.has_events_on(lock));
            array.recorder.set_has_events(any || self.has_no_markers);
        }
        self.sync_markers();
    }

    /// Watches markers while a trace array writes entries only if needed. May sleep.
    pub(crate) fn sync_markers(&mut self) {
        let needs = |array: &Array| {
            let is_graph = matches!(array.hook, Some(Recording::Graph(_)));
            is_graph && When::read(array.recorder.when()) == When::IfNeeded
        };
        if !self.arrays.iter().any(needs) {
            self.markers = None;
        } else if self.markers.is_none() {
            match MarkerWatch::new::<Graph>(self.resolved) {
                Ok(registered) => self.markers = Some(registered),
                Err(error) => {
                    pr_warn!(
                        "markers cannot be watched ({:?}): entries are written at once\n",
                        error
                    );
                    self.has_no_markers = true;
                    let all = self.arrays.iter();
                    all.for_each(|array| array.recorder.set_has_events(true));
                }
            }
        }
    }
}
