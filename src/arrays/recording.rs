// SPDX-License-Identifier: GPL-2.0

//! Starts and stops recording in a trace array, and changes its options.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use super::{
    Recording,
    State, //
};
use crate::{
    fgraph::Graph,
    filter::error::Fault,
    function_trace::Recorder,
    ktrace::{
        self,
        array::trace_array::TraceArray,
        compact::selftest,
        hook::ftrace_ops,
        task::saved_cmdlines::CmdlineRecording, //
    },
    option,
};

impl State {
    /// Starts recording in `tr`, where ferrotrace becomes the current tracer. `trace_types_lock`
    /// must be held.
    pub(crate) fn start(&mut self, tr: &TraceArray, flags: u32) -> Result {
        self.check_options(tr, flags)?;
        let at = self.index_or_add(tr)?;
        let slot = self.take_slot(at)?;
        let recorder = &self.arrays.get(at).ok_or(ENODEV)?.recorder;
        if let Err(error) = recorder.set_flags(flags) {
            self.drop_idle_slot(at);
            return Err(error);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.has_own_records |= has_own_records(flags);
        }
        match self.hook(at, tr, slot, flags) {
            Ok(hook) => {
                if let Some(array) = self.arrays.get_mut(at) {
                    array.hook = Some(hook);
                }
            }
            Err(error) => {
                if let Some(array) = self.arrays.get_mut(at) {
                    array.unhook();
                }
                self.close_latency();
                self.close_accounting();
                self.drop_idle_slot(at);
                self.update_trace_masks();
                return Err(error);
            }
        }
        self.close_accounting();
        self.update_trace_masks();
        self.sync_markers();
        if let Err(error) = self.set_marker_copies(at, tr, flags) {
            self.stop(tr);
            return Err(error);
        }
        Ok(())
    }

    /// Attaches the hook that the options of the array at `at` require.
    fn hook(&mut self, at: usize, tr: &TraceArray, slot: u32, flags: u32) -> Result<Recording> {
        let recorder = Arc::clone(&self.arrays.get(at).ok_or(ENODEV)?.recorder);
        recorder.begin();
        self.open_latency(at, flags)?;
        self.open_max_stack(at, flags)?;
        if flags & option::GRAPH == 0 {
            let names = CmdlineRecording::new(self.resolved)?;
            let hook = ftrace_ops::FunctionRegistration::new(self.resolved, tr, slot, recorder)?;
            hook.pack_with(Recorder::packer);
            return Ok(Recording::Functions {
                hook,
                _names: names,
            });
        }
        self.sync_tracing_thresh(tr);
        if let Some(array) = self.arrays.get_mut(at) {
            array.needs_accounting = true;
        }
        let accounting = self.open_accounting()?;
        let profile = match flags & option::PROFILE {
            0 => None,
            _ => Some(self.open_profile(at)?),
        };
        let both = option::PROFILE | option::PATHS;
        let paths = match flags & both == both {
            false => None,
            true => Some(self.open_paths(at)?),
        };
        let graph = Graph::new(recorder, accounting, profile, paths);
        let graph = Arc::new(graph, GFP_KERNEL)?;
        if let Some(array) = self.arrays.get_mut(at) {
            array.is_profiling = flags & option::PROFILE != 0;
        }
        if flags & option::PROFILE != 0 {
            self.open_sections()?;
        }
        // A task must be accounted before its first call is recorded.
        self.update_trace_masks();
        let hook = ktrace::fgraph::GraphRegistration::new(self.resolved, tr, slot, graph)?;
        hook.pack_with(Graph::packer);
        Ok(Recording::Graph(hook))
    }

    /// Stops recording in `tr`.
    pub(crate) fn stop(&mut self, tr: &TraceArray) {
        let Some(at) = self.index_of(tr) else {
            return;
        };
        if let Some(array) = self.arrays.get_mut(at) {
            array.unhook();
        }
        self.close_latency();
        self.close_accounting();
        self.drop_idle_slot(at);
        self.update_trace_masks();
        self.sync_markers();
    }

    /// Checks whether `tr` supports these options.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if calls would be packed but the kernel does not support packed records, or the
    /// buffer is persistent; the reason is added to `error_log`. After a reboot, only this module
    /// could read the packed records of a persistent buffer, and only if their event type had the
    /// same number again.
    fn check_options(&self, tr: &TraceArray, flags: u32) -> Result {
        if flags & option::COMPACT == 0 {
            return Ok(());
        }
        let fault = if selftest::supported().is_err() {
            Fault::NoPacks
        } else if tr.is_persistent() {
            Fault::NotPacked
        } else {
            return Ok(());
        };
        self.errors
            .log(tr, c"ferro-compact", b"1", fault.index(), 0);
        Err(fault.errno())
    }

    /// Sets the options of `tr`. `trace_types_lock` must be held.
    ///
    /// # Errors
    ///
    /// That of [`State::check_options`]. If a different hook is required, those of
    /// [`State::start`]; recording then continues with the old options or, if that fails too, is
    /// stopped (`recording: 0` in `stats`).
    pub(crate) fn set_options(&mut self, tr: &TraceArray, flags: u32) -> Result {
        self.check_options(tr, flags)?;
        let Some(at) = self.index_of(tr) else {
            return Ok(());
        };
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let before = array.recorder.flags();
        array.recorder.set_flags(flags)?;
        if let Err(error) = self.sync_irq_times() {
            if let Some(array) = self.arrays.get(at) {
                array.recorder.set_flags(before)?;
            }
            return Err(error);
        }
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        array.has_own_records |= array.hook.is_some() && has_own_records(flags);
        match &array.hook {
            Some(Recording::Functions { hook, .. }) => hook.pack_with(Recorder::packer),
            Some(Recording::Graph(hook)) => hook.pack_with(Graph::packer),
            None => {}
        }
        let is_recording = array.hook.is_some();
        self.sync_markers();
        if is_recording {
            self.set_marker_copies(at, tr, flags)?;
        }
        const OF_HOOK: u32 =
            option::GRAPH | option::PROFILE | option::PATHS | option::SEES_CALLS | option::IRQ_TIME;
        if !is_recording || (before ^ flags) & OF_HOOK == 0 {
            return Ok(());
        }
        self.stop(tr);
        let result = self.start(tr, flags);
        if result.is_err() {
            self.start(tr, before)?;
        }
        result
    }
}

/// Returns whether recording with these options creates records that no other tracer can print:
/// packed records, and the times of calls.
fn has_own_records(flags: u32) -> bool {
    flags & (option::GRAPH | option::COMPACT) != 0
}
