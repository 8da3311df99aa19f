// SPDX-License-Identifier: GPL-2.0

//! The rules of a trace array with everything that they need: its reference, snapshot buffer and
//! hooks.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    action::Target,
    calls::CallRule,
    timed::RuleTimer,
    ActiveRule,
    RuleSet, //
};
use crate::ktrace::{
    array::{
        actions::ArmedSnapshot,
        trace_array::Pinned, //
    },
    fgraph::CallWatch, //
};

/// References to a trace array and to its snapshot buffer, if one is needed.
///
/// Its drop takes `trace_types_lock`, which must not be held, nor the lock of
/// [`crate::arrays::STATE`].
pub(crate) struct Hold {
    pub(crate) target: Target,
    /// Those of the timers that rules have from former ones, so that none of these is the last one.
    _of_timers: KVec<Target>,
}

impl Hold {
    /// Takes the reference, and the snapshot buffer that `snapshot` returns for it, for `rules`.
    pub(crate) fn new(
        tr: Pinned,
        rules: &[ActiveRule],
        snapshot: impl FnOnce(Arc<Pinned>) -> Result<Option<ArmedSnapshot>>,
    ) -> Result<Self> {
        let tr = Arc::new(tr, GFP_KERNEL)?;
        let snapshot = snapshot(Arc::clone(&tr))?;
        let snapshot = snapshot.map(|snapshot| Arc::new(snapshot, GFP_KERNEL));
        let snapshot = snapshot.transpose()?;
        let target = Target { snapshot, tr };
        let mut of_timers = KVec::new();
        for target in rules.iter().filter_map(ActiveRule::timer_target) {
            of_timers.push(target.clone(), GFP_KERNEL)?;
        }
        Ok(Self {
            target,
            _of_timers: of_timers,
        })
    }
}

/// The hooks on calls and the timers of the rules of a trace array.
#[derive(Default)]
pub(crate) struct Watches {
    pub(crate) calls: KVec<CallWatch<CallRule>>,
    pub(crate) timers: KVec<RuleTimer>,
}

/// The rules of a trace array, and the hooks and timers that they need.
pub(crate) struct InstalledRules {
    /// Removed before the rules.
    pub(crate) watches: Watches,
    pub(crate) set: Arc<RuleSet>,
    pub(crate) hold: Hold,
}
