// SPDX-License-Identifier: GPL-2.0

//! The current filters of all trace arrays, which are read under RCU.

use kernel::sync::{
    atomic::Atomic,
    rcu,
    Arc, //
};

use crate::{
    filter::decision::Filter,
    ktrace::{
        sync::{
            published::{
                Published,
                Retired, //
            },
            read_once::ReadOnce, //
        },
        task::trace_mask::SLOTS, //
    },
};

/// The current filters, indexed by slot. Written under `rules`.
pub(super) struct Filters {
    pub(super) places: [Published<Filter>; SLOTS as usize],
    /// The slots that have a filter.
    pub(super) used: Atomic<u32>,
    /// The slots whose filter depends on task names.
    pub(super) by_name: Atomic<u32>,
    /// The slots whose filter depends on cgroups.
    pub(super) by_cgroup: Atomic<u32>,
}

impl Filters {
    /// Returns whether a rename can change a filter decision.
    pub(super) fn need_comm(&self) -> bool {
        self.by_name.read_once() != 0
    }

    /// Returns whether a move to another cgroup can change a filter decision.
    pub(super) fn need_cgroups(&self) -> bool {
        self.by_cgroup.read_once() != 0
    }

    /// Calls `with` for each filter and its slot. Any context.
    pub(super) fn for_each(&self, mut with: impl FnMut(u32, &Filter)) {
        let guard = rcu::read_lock();
        let mut left = self.used.read_once();
        while left != 0 {
            let slot = left.trailing_zeros();
            let place = self.places.get(slot as usize);
            if let Some(filter) = place.and_then(|place| place.get(&guard)) {
                with(slot, filter);
            }
            left &= left.wrapping_sub(1);
        }
    }

    /// Replaces the filter of a slot. `rules` must be held.
    pub(super) fn replace(
        &self,
        slot: u32,
        filter: Option<Arc<Filter>>,
    ) -> Option<Retired<Filter>> {
        let place = self.places.get(slot as usize)?;
        let set = |mask: &Atomic<u32>, to: bool| {
            let others = mask.read_once() & !(1 << slot);
            mask.write_once(others | u32::from(to) << slot);
        };
        set(&self.used, filter.is_some());
        set(
            &self.by_name,
            filter.as_ref().is_some_and(|filter| filter.needs_comm()),
        );
        set(
            &self.by_cgroup,
            filter.as_ref().is_some_and(|filter| filter.needs_cgroups()),
        );
        Some(place.replace(filter))
    }
}
