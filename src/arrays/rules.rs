// SPDX-License-Identifier: GPL-2.0

//! Installs the trigger rules of trace arrays, with the hooks and probes that they need.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State,
    STATE, //
};
use crate::{
    filter::error::Fault,
    ktrace::{
        fgraph::CallWatch,
        task::signals::SignalWatch, //
    },
    trigger_rule::Moment,
    triggers::{
        self,
        calls::CallRule,
        installed::{
            Hold,
            InstalledRules,
            Watches, //
        },
        timed::RuleTimer,
        ActiveRule,
        RuleSet,
        SignalProbe, //
    },
};

/// The reason why rules were not installed.
pub(crate) enum Refused {
    /// The rule at this index has an invalid function.
    Rule(usize, Fault),
    /// The present rules have another version.
    Changed,
    Error(Error),
}

impl<T: Into<Error>> From<T> for Refused {
    fn from(error: T) -> Self {
        Self::Error(error.into())
    }
}

/// Removes the rules of one trace array that has any. The result must be dropped without locks.
pub(crate) fn take_rules() -> Option<Hold> {
    let mut state = STATE.lock();
    let state = state.as_mut()?;
    let at = state
        .arrays
        .iter()
        .position(|array| array.rules.is_some())?;
    state.remove_rules(at)
}

impl Array {
    /// Returns a number that changes with the rules.
    pub(crate) fn rules_version(&self) -> u64 {
        self.rules_version
    }

    /// Returns how often the rules have fired.
    pub(crate) fn fired(&self) -> u64 {
        let fired = self.rules().iter().map(|active| active.fired().0);
        fired.fold(0, u64::wrapping_add)
    }

    /// Returns the rules, in the order of their lines.
    pub(crate) fn rules(&self) -> &[ActiveRule] {
        self.rules.as_ref().map_or(&[], |rules| rules.set.rules())
    }
}

impl State {
    /// Replaces the rules of the trace array with this serial number, or removes them if there is
    /// no `hold`. With a `version`, only if the present rules have it. Returns what must be dropped
    /// after the lock of [`super::STATE`] was released. May sleep.
    ///
    /// # Errors
    ///
    /// A rule with a function that does not exist; `ENODEV` if there is no such trace array;
    /// `ENOSPC` if there are too many hooks on calls or filtered trace arrays; `ENOMEM`. Then the
    /// old rules stay in use.
    pub(crate) fn set_rules(
        &mut self,
        serial: usize,
        version: Option<u64>,
        rules: KVec<ActiveRule>,
        hold: Option<Hold>,
    ) -> (core::result::Result<(), Refused>, Option<Hold>) {
        let Some(at) = self.index_by_serial(serial) else {
            return (Err(ENODEV.into()), hold);
        };
        let now = self.arrays.get(at).map(Array::rules_version);
        if version.is_some() && version != now {
            return (Err(Refused::Changed), hold);
        }
        let Some(hold) = hold else {
            return (Ok(()), self.remove_rules(at));
        };
        match self.make_rules(at, rules, &hold) {
            Ok((slot, set, watches)) => {
                let new = InstalledRules { watches, set, hold };
                (Ok(()), self.replace_rules(at, slot, Some(new)))
            }
            Err(refused) => {
                self.after_rules(at);
                (Err(refused), Some(hold))
            }
        }
    }

    /// Removes the rules of the array at `at`. Returns what must be dropped without locks.
    fn remove_rules(&mut self, at: usize) -> Option<Hold> {
        let slot = self.arrays.get(at)?.slot?;
        self.replace_rules(at, slot, None)
    }

    fn replace_rules(&mut self, at: usize, slot: u32, new: Option<InstalledRules>) -> Option<Hold> {
        let set = new.as_ref().map(|rules| Arc::clone(&rules.set));
        let array = self.arrays.get_mut(at)?;
        array.has_own_records |= new.is_some();
        let old = core::mem::replace(&mut array.rules, new);
        array.rules_version = array.rules_version.wrapping_add(1);
        // A task must be accounted before its first transition is evaluated.
        self.update_trace_masks();
        let retired = triggers::publish(slot, set);
        let new = self.arrays.get(at).and_then(|array| array.rules.as_ref());
        let timers = new.map_or(&[][..], |rules| &rules.watches.timers);
        timers.iter().for_each(RuleTimer::start);
        let hold = old.map(|InstalledRules { watches, set, hold }| {
            set.retire();
            // None of its rules is evaluated any more after these two. The last reference to the
            // task accounting must not outlive `close_accounting()`.
            drop(watches);
            drop(retired);
            hold
        });
        self.after_rules(at);
        hold
    }

    /// Releases what the rules of the array at `at` do not need any more.
    fn after_rules(&mut self, at: usize) {
        let signals = |active: &ActiveRule| active.rule().moment() == Moment::Signal;
        let mut arrays = self.arrays.iter();
        if !arrays.any(|array| array.rules().iter().any(signals)) {
            self.signals = None;
        }
        self.close_accounting();
        self.drop_idle_slot(at);
        self.update_trace_masks();
    }

    /// Creates the rules of the array at `at`, and attaches the hooks and probes that they need.
    fn make_rules(
        &mut self,
        at: usize,
        rules: KVec<ActiveRule>,
        hold: &Hold,
    ) -> core::result::Result<(u32, Arc<RuleSet>, Watches), Refused> {
        let slot = self.take_slot(at)?;
        let accounting = self.open_accounting()?;
        let recorder = Arc::clone(&self.arrays.get(at).ok_or(ENODEV)?.recorder);
        let set = RuleSet::new(hold.target.clone(), rules, recorder, accounting)?;
        let set = Arc::new(set, GFP_KERNEL)?;
        let rules = || set.rules().iter().map(ActiveRule::rule).enumerate();
        if self.signals.is_none() && rules().any(|(_, rule)| rule.moment() == Moment::Signal) {
            self.signals = Some(SignalWatch::new::<SignalProbe>(self.resolved)?);
        }
        if rules().any(|(_, rule)| rule.moment() == Moment::Section) {
            self.open_sections()?;
        }
        if rules().any(|(_, rule)| matches!(rule.moment(), Moment::Marker | Moment::Counter)) {
            self.open_marker_export()?;
        }
        let mut watches = Watches::default();
        for (index, rule) in rules().filter(|(_, rule)| rule.moment().is_of_calls()) {
            let watcher = CallRule::new(Arc::clone(&set), index, rule.moment());
            let watcher = Arc::new(watcher, GFP_KERNEL)?;
            match CallWatch::new(self.resolved, rule.function(), slot, watcher) {
                Ok(watch) => watches.calls.push(watch, GFP_KERNEL)?,
                Err(error) if error == EINVAL => {
                    return Err(Refused::Rule(index, Fault::NoFunction));
                }
                Err(error) => return Err(error.into()),
            }
        }
        for (index, _) in rules().filter(|(_, rule)| rule.moment() == Moment::After) {
            let timer = RuleTimer::new(Arc::clone(&set), index)?;
            watches.timers.push(timer, GFP_KERNEL)?;
        }
        Ok((slot, set, watches))
    }
}
