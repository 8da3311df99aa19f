// SPDX-License-Identifier: GPL-2.0

//! User markers: what tasks write to `trace_marker` of the top trace array.
//!
//! With the option `ferro-markers`, a trace array gets a copy of the markers of the tasks that its
//! filter selects. Sections ([`MarkerKind`]) are measured while an event of the module has a
//! listener, a trigger rule needs them, or a profile adds them up; their end fires the event
//! `task_section`. Markers, counters and sections are moments of trigger rules.

use kernel::{
    prelude::*,
    sync::{
        rcu,
        Arc, //
    },
};

use crate::{
    events,
    fgraph::Graph,
    function_trace::Recorder,
    ktrace::{
        array::trace_array::TraceArray,
        fgraph,
        record::{
            context::Context,
            marker_export::{
                Marker,
                MarkerCopy,
                MarkerWatcher, //
            },
        },
        sync::published::Published,
        task::{
            follow,
            sched,
            task_mask::mask_of,
            trace_mask,
            Task, //
        },
    },
    marker_text::{
        MarkerKind,
        MarkerText, //
    },
    task_filter::TaskFilter,
    task_times::accounting::Accounting,
    triggers,
};

/// The task accounting, while sections are measured.
static ACCOUNTING: Published<sched::SchedRegistration<Accounting>> = Published::none();

/// The recorders of the trace arrays that get copies, by slot. They count copies that are lost.
static RECORDERS: [Published<Recorder>; trace_mask::SLOTS as usize] =
    [const { Published::none() }; trace_mask::SLOTS as usize];

/// Copies the markers of the tasks of a trace array to the trace array.
pub(crate) struct Copies {
    /// Removed before the recorder.
    copy: Option<MarkerCopy>,
    slot: usize,
}

impl Copies {
    /// Starts to copy markers to `tr`, which has this slot. May sleep. The contract is that of
    /// [`MarkerCopy::new`].
    ///
    /// # Errors
    ///
    /// Those of [`MarkerCopy::new`].
    pub(crate) fn new(tr: &TraceArray, slot: u32, recorder: &Arc<Recorder>) -> Result<Self> {
        let place = RECORDERS.get(slot as usize).ok_or(EINVAL)?;
        let copy = Some(MarkerCopy::new(tr, slot)?);
        drop(place.replace(Some(Arc::clone(recorder))));
        let slot = slot as usize;
        Ok(Self { copy, slot })
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        self.copy = None;
        if let Some(place) = RECORDERS.get(self.slot) {
            drop(place.replace(None));
        }
    }
}

/// Measures sections, as long as it exists. There can be one such value at a time, which the lock
/// of [`crate::arrays::STATE`] protects.
pub(crate) struct Measuring(());

impl Measuring {
    /// Starts to measure sections, with the times of this accounting. May sleep.
    pub(crate) fn new(accounting: Arc<sched::SchedRegistration<Accounting>>) -> Self {
        drop(ACCOUNTING.replace(Some(accounting)));
        Self(())
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        drop(ACCOUNTING.replace(None));
    }
}

/// Receives the markers.
pub(crate) struct Markers;

impl MarkerWatcher for Markers {
    fn written(task: Task<'_>, marker: &Marker<'_>) {
        let mask = mask_of::<TaskFilter>(task);
        let guard = rcu::read_lock();
        if Marker::has_copies(mask) {
            Context::once(|context| {
                fgraph::before_record::<Graph>(context);
                marker.copy(context, mask, |slot, tr| {
                    if let Some(recorder) = RECORDERS.get(slot).and_then(|place| place.get(&guard))
                    {
                        recorder.not_written(tr);
                    }
                });
            });
        }
        let accounting = ACCOUNTING.get(&guard);
        let accounting = accounting.filter(|_| follow::follows(mask));
        if accounting.is_none() && !triggers::need_markers() {
            return;
        }
        let text = MarkerText::parse(marker.text());
        match text.kind {
            MarkerKind::End | MarkerKind::AsyncEnd(_) => {}
            MarkerKind::Counter(value) => triggers::task_counted(task, text.name, value),
            MarkerKind::Begin | MarkerKind::AsyncBegin(_) | MarkerKind::Text => {
                triggers::task_marked(task, text.name);
            }
        }
        let Some(accounting) = accounting else {
            return;
        };
        let sections = &accounting.sections;
        let off_cpu = accounting.off_cpu(task).unwrap_or_default();
        let irq_ns = accounting.irq_ns(task);
        let ended = match text.kind {
            MarkerKind::Begin => return sections.begin(task, off_cpu, irq_ns, text.name),
            MarkerKind::AsyncBegin(cookie) => {
                return sections.begin_async(task, text.name, cookie);
            }
            MarkerKind::End => sections.end(task, off_cpu, irq_ns),
            MarkerKind::AsyncEnd(cookie) => sections.end_async(task, text.name, cookie),
            MarkerKind::Counter(_) | MarkerKind::Text => return,
        };
        if let Some(section) = ended {
            events::task_section::trace(task, &section);
            crate::fgraph::section_ended(task, &section);
            triggers::section_ended(task, &section);
        }
    }
}
