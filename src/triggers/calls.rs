// SPDX-License-Identifier: GPL-2.0

//! Rules on the calls and returns of a function.

use kernel::sync::Arc;

use super::RuleSet;
use crate::{
    filter::glob::name_of,
    function_trace::Count,
    ktrace::{
        fgraph::{
            BegunCall,
            CallWatcher, //
        },
        task::{
            task_ref::with_current,
            Task, //
        },
        time::clock::local_ns, //
    },
    time_split::Split,
    trigger_rule::{
        Facts,
        Moment,
        Quantity, //
    },
};

/// A rule on calls, for its hook.
pub(crate) struct CallRule {
    set: Arc<RuleSet>,
    index: usize,
    moment: Moment,
}

impl CallRule {
    /// Creates the watcher for the rule at `index`, whose moment is [`Moment::Entry`] or
    /// [`Moment::Exit`].
    pub(crate) fn new(set: Arc<RuleSet>, index: usize, moment: Moment) -> Self {
        Self { set, index, moment }
    }

    fn evaluate(&self, task: Task<'_>, with: impl Fn(Facts<'_>) -> Facts<'_>) {
        let comm = task.comm();
        let facts = with(Facts::new(task.pid(), name_of(comm.as_bytes())));
        self.set.evaluate_one(self.index, task, &facts);
    }
}

impl CallWatcher for CallRule {
    fn entry(&self) -> Option<BegunCall> {
        with_current(|task| {
            if self.moment == Moment::Entry {
                self.evaluate(task, |facts| facts);
                return None;
            }
            let off_cpu = self.set.accounting.off_cpu(task).unwrap_or_default();
            Some(BegunCall {
                begun_ns: local_ns(),
                wait_ns: off_cpu.wait_ns,
                block_ns: off_cpu.block_ns,
            })
        })
    }

    fn exit(&self, begun: BegunCall, value: usize) {
        with_current(|task| {
            let total = local_ns().saturating_sub(begun.begun_ns);
            let off_cpu = self.set.accounting.off_cpu(task).unwrap_or_default();
            let wait = off_cpu.wait_ns.saturating_sub(begun.wait_ns);
            let block = off_cpu.block_ns.saturating_sub(begun.block_ns);
            let split = Split::new(total, wait, block);
            self.evaluate(task, |facts| {
                facts
                    .with_ns(Quantity::Total, split.total)
                    .with_ns(Quantity::Run, split.run)
                    .with_ns(Quantity::Wait, split.wait)
                    .with_ns(Quantity::Block, split.block)
                    .with_retval(value as u64)
            });
        });
    }

    fn overrun(&self) {
        self.set.recorder.add(Count::StackFull);
    }
}
