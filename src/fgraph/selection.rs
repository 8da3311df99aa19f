// SPDX-License-Identifier: GPL-2.0

//! Decides whether a call is recorded, by `set_graph_function`, `max_graph_depth` and the options.

use super::{
    task_word,
    Graph, //
};
use crate::{
    ktrace::fgraph::{
        self,
        CurrentCall,
        Open, //
    },
    option,
};

impl Graph {
    /// Returns whether `set_graph_function`, `max_graph_depth` and the options let a call through.
    /// Updates the flags in `state`.
    #[inline]
    pub(super) fn selects(&self, call: &CurrentCall<'_>, flags: u32, state: &mut u32) -> bool {
        if *state & task_word::CHOSEN == 0 {
            match fgraph::in_graph_function(call.func) {
                None => {}
                Some(false) => return false,
                Some(true) => {
                    let depth = call.depth().max(0) as u32;
                    *state &= !(task_word::DEPTH | task_word::CHOSEN_IRQ);
                    *state |=
                        task_word::CHOSEN | (depth << task_word::DEPTH_SHIFT & task_word::DEPTH);
                    if fgraph::in_hardirq() {
                        *state |= task_word::CHOSEN_IRQ;
                    }
                }
            }
        }
        let too_deep = |max: u32| max != 0 && call.depth() >= 0 && call.depth() as u32 >= max;
        if call.depth() < 0 || too_deep(fgraph::max_graph_depth()) {
            return false;
        }
        if too_deep(self.limits().max_depth()) {
            return false;
        }
        flags & option::IRQS != 0 || *state & task_word::CHOSEN_IRQ != 0 || !fgraph::in_hardirq()
    }

    /// Returns whether the current task and its call, which was traced when it began, would still
    /// be traced if the call began now.
    pub(super) fn is_still_traced(&self, open: &Open<'_>, state: u32) -> bool {
        let chosen = state & task_word::CHOSEN != 0 || !fgraph::has_graph_functions();
        chosen && open.is_task_traced()
    }
}
