// SPDX-License-Identifier: GPL-2.0

//! Actions on a buffer, immediate or after a delay.

use kernel::sync::Arc;

use super::firings::Firings;
use crate::{
    ktrace::{
        array::{
            actions::{
                dump,
                ArmedSnapshot, //
            },
            trace_array::Pinned, //
        },
        time::{
            clock::local_ns,
            delay::Expires, //
        },
    },
    trigger_rule::Action,
};

/// The buffer that rules act on.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) tr: Arc<Pinned>,
    /// If a rule takes snapshots.
    pub(crate) snapshot: Option<Arc<ArmedSnapshot>>,
}

impl Target {
    /// Does an action on the buffer. Any context except, for [`Action::Snapshot`], NMIs, and, for
    /// [`Action::Dump`], code that holds locks.
    pub(super) fn perform(&self, action: Action) {
        match action {
            Action::Start => self.tr.set_recording(true),
            Action::Stop => self.tr.set_recording(false),
            Action::Snapshot => {
                if let Some(snapshot) = &self.snapshot {
                    snapshot.take();
                }
            }
            Action::Dump => dump(),
            // Not an action on the buffer; see `RuleSet::fire()`.
            Action::StackTrace => {}
        }
    }
}

/// An action that is done after a delay.
pub(crate) struct DelayedAction {
    pub(super) target: Target,
    pub(super) action: Action,
    pub(super) firings: Arc<Firings>,
}

impl Expires for DelayedAction {
    fn expired(&self, late_ns: u64) {
        let begun = local_ns();
        self.target.perform(self.action);
        let took = match self.action {
            // It takes effect when it begins.
            Action::Dump => 0,
            _ => local_ns().saturating_sub(begun),
        };
        self.firings.note_late(late_ns.saturating_add(took));
    }
}
