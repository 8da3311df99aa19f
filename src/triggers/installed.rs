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
    RuleSet, //
};
use crate::ktrace::{
    array::{
        actions::ArmedSnapshot,
        trace_array::Pinned, //
    },
    fgraph::CallWatch, //
};

/// A reference to a trace array and to its snapshot buffer, if one is needed.
///
/// Its drop takes `trace_types_lock`, which must not be held, nor the lock of
/// [`crate::arrays::STATE`].
pub(crate) struct Hold {
    pub(crate) target: Target,
}

impl Hold {
    /// Takes the reference, and the snapshot buffer that `snapshot` returns for it.
    pub(crate) fn new(
        tr: Pinned,
        snapshot: impl FnOnce(Arc<Pinned>) -> Result<Option<ArmedSnapshot>>,
    ) -> Result<Self> {
        let tr = Arc::new(tr, GFP_KERNEL)?;
        let snapshot = snapshot(Arc::clone(&tr))?;
        let snapshot = snapshot.map(|snapshot| Arc::new(snapshot, GFP_KERNEL));
        let snapshot = snapshot.transpose()?;
        let target = Target { snapshot, tr };
        Ok(Self { target })
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
