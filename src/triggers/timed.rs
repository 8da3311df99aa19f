// SPDX-License-Identifier: GPL-2.0

//! Rules on the time since they were written.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::RuleSet;
use crate::{
    ktrace::{
        task::task_ref::with_idle,
        time::delay::{
            Delay,
            Expires, //
        },
    },
    trigger_rule::{
        Facts,
        Quantity, //
    },
};

/// A rule whose moment is [`crate::trigger_rule::Moment::After`], for its timer.
pub(crate) struct TimedRule {
    set: Arc<RuleSet>,
    index: usize,
}

/// The timer of a rule.
pub(crate) struct RuleTimer {
    timer: Delay<TimedRule>,
    written_ns: u64,
}

impl RuleTimer {
    /// Creates the timer of the rule at `index`. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if there is no such rule.
    pub(crate) fn new(set: Arc<RuleSet>, index: usize) -> Result<Self> {
        let active = set.rules.get(index).ok_or(EINVAL)?;
        let (after_ns, written_ns) = (active.rule.after_ns(), active.firings.written_ns);
        let rule = Arc::new(TimedRule { set, index }, GFP_KERNEL)?;
        Ok(Self {
            timer: Delay::new(after_ns, rule)?,
            written_ns,
        })
    }

    /// Starts the timer. The rules must be in use, because it may expire at once.
    pub(crate) fn start(&self) {
        self.timer.start_from(self.written_ns);
    }
}

impl Expires for TimedRule {
    /// Evaluates the rule, for no task. If two sets have the rule because one of them replaces the
    /// other, it fires in only one of them: they share the count of a rule that fires once.
    fn expired(&self, late_ns: u64) {
        let after_ns = self
            .set
            .rules
            .get(self.index)
            .map(|active| active.rule.after_ns());
        let ns = after_ns.unwrap_or(0).saturating_add(late_ns);
        with_idle(|task| {
            let facts = Facts::new(0, b"").with_ns(Quantity::Total, ns);
            self.set.evaluate_one(self.index, task, &facts);
        });
    }
}
