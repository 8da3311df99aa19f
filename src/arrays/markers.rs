// SPDX-License-Identifier: GPL-2.0

//! Watches user markers while a trace array wants copies of them, a trigger rule needs them, or
//! sections are measured.

use kernel::prelude::*;

use super::{
    Array,
    State, //
};
use crate::{
    ktrace::{
        array::trace_array::TraceArray,
        record::marker_export::MarkerExport, //
    },
    markers::{
        Copies,
        Markers,
        Measuring, //
    },
    option,
    trigger_rule::Moment,
    triggers::ActiveRule,
};

impl State {
    /// Returns the number of sections that were not reported since the module was loaded.
    pub(crate) fn sections_lost(&self) -> u64 {
        let accounting = self.accounting.as_ref();
        let now = accounting.map_or(0, |accounting| accounting.sections.lost());
        self.past_sections_lost.wrapping_add(now)
    }

    /// Makes `tr`, which is the array at `at` and records, get copies of markers, or no longer. The
    /// top trace array has the markers themselves. May sleep.
    ///
    /// # Errors
    ///
    /// That of [`MarkerExport::new`].
    pub(super) fn set_marker_copies(&mut self, at: usize, tr: &TraceArray, flags: u32) -> Result {
        let wanted = flags & option::MARKERS != 0 && !tr.is_top();
        if wanted {
            self.open_marker_export()?;
        }
        if let Some(array) = self.arrays.get_mut(at) {
            let slot = array.slot.filter(|_| wanted);
            if slot.is_none() {
                array.copies = None;
            } else if let (None, Some(slot)) = (&array.copies, slot) {
                array.copies = Some(Copies::new(tr, slot, &array.recorder)?);
            }
        }
        self.close_marker_export();
        Ok(())
    }

    /// Watches markers, if they are not watched yet. May sleep.
    pub(super) fn open_marker_export(&mut self) -> Result {
        if self.marker_export.is_none() {
            self.marker_export = Some(MarkerExport::new::<Markers>(self.resolved)?);
        }
        Ok(())
    }

    /// Starts to measure sections. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, and that of [`MarkerExport::new`].
    pub(super) fn open_sections(&mut self) -> Result {
        let accounting = self.open_accounting()?;
        self.open_marker_export()?;
        if self.measuring.is_none() {
            self.measuring = Some(Measuring::new(accounting));
        }
        Ok(())
    }

    /// Stops to measure sections, if nothing needs them. Must be called before the task accounting
    /// is stopped. May sleep.
    pub(super) fn close_sections(&mut self) {
        let has_profile = self.arrays.iter().any(|array| array.is_profiling);
        if !self.listened && !has_profile && !self.have_rules_at(&[Moment::Section]) {
            self.measuring = None;
        }
        self.close_marker_export();
    }

    /// Stops to watch markers, if nothing needs them. May sleep.
    pub(super) fn close_marker_export(&mut self) {
        let has_copies = self.arrays.iter().any(|array| array.copies.is_some());
        let moments = [Moment::Marker, Moment::Counter];
        if self.measuring.is_none() && !has_copies && !self.have_rules_at(&moments) {
            self.marker_export = None;
        }
    }

    /// Returns whether a trace array has rules that are evaluated at one of these moments.
    fn have_rules_at(&self, moments: &[Moment]) -> bool {
        let at = |active: &ActiveRule| moments.contains(&active.rule().moment());
        let mut arrays = self.arrays.iter();
        arrays.any(|array| Array::rules(array).iter().any(at))
    }
}
