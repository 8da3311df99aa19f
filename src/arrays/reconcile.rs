// SPDX-License-Identifier: GPL-2.0

//! Adds the state of new trace arrays, and removes the state of deleted ones.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Array,
    State, //
};
use crate::{
    function_trace::Recorder,
    ktrace::array::trace_array::{
        TraceArray,
        TypesLock, //
    },
};

impl State {
    /// Adds the state of new trace arrays and removes the state of deleted ones. Calls `failed`
    /// with each trace array that lacks something. May sleep.
    ///
    /// # Errors
    ///
    /// The first error; the remaining trace arrays are processed nevertheless.
    pub(crate) fn reconcile(
        &mut self,
        lock: &TypesLock,
        failed: impl Fn(&TraceArray, Error),
    ) -> Result {
        let gone = |array: &Array| !lock.find(array.tr).is_some_and(|tr| array.is_of(tr));
        while let Some(at) = self.arrays.iter().position(gone) {
            self.remove(at);
        }
        self.files.remove_gone(lock);
        let mut result = Ok(());
        for tr in lock.arrays() {
            let options = self.files.add_options(tr, lock);
            let added = options.and(self.index_or_add(tr).map(|_| ()));
            if let Err(error) = added {
                failed(tr, error);
            }
            result = result.and(added);
        }
        result
    }

    /// Returns the index of the state of `tr`, which is created if there is none.
    /// `trace_types_lock` must be held.
    pub(super) fn index_or_add(&mut self, tr: &TraceArray) -> Result<usize> {
        if let Some(at) = self.index_of(tr) {
            return Ok(at);
        }
        let serial = self.next_serial;
        let array = Array {
            serial,
            tr: tr.id(),
            dir: self.files.add_files(tr, serial)?,
            slot: None,
            filter: Arc::clone(&self.no_filter),
            recorder: Arc::new(Recorder::new()?, GFP_KERNEL)?,
            hook: None,
            copies: None,
            rules: None,
            rules_version: 0,
            needs_accounting: false,
            has_own_records: false,
            follows_work: false,
            chain_thresh_ns: 0,
            profile: None,
            paths: None,
            latency: None,
            has_latency: false,
            max_stack: None,
            has_max_stack: false,
            is_profiling: false,
        };
        self.next_serial = serial.wrapping_add(1);
        self.arrays.push(array, GFP_KERNEL)?;
        Ok(self.arrays.len().wrapping_sub(1))
    }

    /// Drops a state. `trace_types_lock` must be held, because its directory is removed.
    fn remove(&mut self, at: usize) {
        if let Some(array) = self.arrays.get_mut(at) {
            array.unhook();
        }
        self.close_latency();
        self.close_accounting();
        self.remove_filter(at, Arc::clone(&self.no_filter));
        let _ = self.arrays.remove(at);
        self.close_irq_times();
        self.publish_chain_thresholds();
        self.close_works();
    }

    /// Removes everything of this module from the kernel's trace arrays.
    pub(crate) fn clear(&mut self, lock: &TypesLock) {
        self.errors.remove_entries(lock);
        while let Some(array) = self.arrays.first() {
            let tr = lock.find(array.tr).filter(|tr| array.is_of(tr));
            let tr = tr.filter(|tr| array.has_own_records || tr.has_had_events(lock));
            self.remove(0);
            if let Some(tr) = tr {
                // When a module is unloaded, the kernel does this only for events that can be
                // enabled, and only on online CPUs.
                tr.clear_records(lock);
            }
        }
    }
}
