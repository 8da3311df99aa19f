// SPDX-License-Identifier: GPL-2.0

//! Gives each trace array its control files and the options of the tracer, and follows the changes
//! of trace arrays that the kernel reports.

use kernel::prelude::*;

use crate::{
    arrays::{
        Attachments,
        State,
        STATE, //
    },
    control::{
        self,
        Control, //
    },
    ktrace::{
        array::{
            instances::{
                Changed,
                InstancesChanged, //
            },
            trace_array::{
                wait_for_events,
                TraceArray,
                TypesLock, //
            },
            tracefs::{
                Dir,
                FileOps, //
            },
        },
        output::registration::TracerRegistration,
        private::symbols::Resolved, //
    },
    tracer::FerrotraceTracer, //
};

/// The control files and the registered tracer.
pub(crate) struct Installed {
    files: FileOps<Control>,
    tracer: TracerRegistration<FerrotraceTracer>,
}

impl Installed {
    /// Registers the tracer. May sleep.
    ///
    /// # Errors
    ///
    /// Those of [`FileOps::new`] and [`TracerRegistration::new`].
    pub(crate) fn new(resolved: Resolved, lock: &TypesLock) -> Result<KBox<Self>> {
        // Nothing may fail once the tracer is registered: dropping it takes `trace_types_lock`.
        let place = KBox::new_uninit(GFP_KERNEL)?;
        let files = FileOps::new(resolved)?;
        let tracer = TracerRegistration::new(resolved, lock)?;
        Ok(place.write(Self { files, tracer }))
    }
}

impl Attachments for Installed {
    fn add_files(&self, tr: &TraceArray, serial: usize) -> Result<Dir> {
        Dir::new(tr, c"ferrotrace", control::files(serial), &self.files)
    }

    fn add_options(&mut self, tr: &TraceArray, lock: &TypesLock) -> Result {
        self.tracer.attach_instance(tr, lock)
    }

    fn remove_gone(&mut self, lock: &TypesLock) {
        self.tracer.remove_gone(lock);
    }
}

/// Handles instances that are created or removed, and changes of events and of graph functions.
pub(crate) struct InstanceListener;

impl InstancesChanged for InstanceListener {
    fn changed() {
        let Some(resolved) = STATE.lock().as_ref().map(State::resolved) else {
            return;
        };
        wait_for_events(resolved);
        let lock = TypesLock::new(resolved);
        let mut place = STATE.lock();
        let changed = Changed::take();
        let Some(state) = place.as_mut() else {
            return;
        };
        if changed.has_instances() {
            // Each error is reported for its trace array.
            let _ = state.reconcile(&lock, |tr, error| {
                let name = tr.name().and_then(|name| name.to_str().ok());
                pr_err!(
                    "failed to create control files for instance '{}': {:?}\n",
                    name.unwrap_or("?"),
                    error
                );
            });
        }
        if changed.has_functions() {
            if let Err(error) = state.sync_graph_functions() {
                pr_err!(
                    "failed to update the copy of set_graph_function: {:?}\n",
                    error
                );
            }
        }
        if changed.has_instances() || changed.has_events() {
            state.sync_events(&lock);
        }
    }
}
