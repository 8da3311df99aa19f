// SPDX-License-Identifier: GPL-2.0

//! The state of each trace array: its filter, its slot in the trace mask, its hook.
//!
//! # Locking
//!
//! All state is accessed through [`STATE`], which is one mutex. Lock order: `trace_types_lock`,
//! then this mutex. Tracer callbacks are called with `trace_types_lock` held; control files take
//! only the mutex.
//!
//! # Lifetimes
//!
//! The state of a trace array is created when the trace array is first seen, at module load or when
//! an instance is created, and is dropped by [`State::reconcile`] after the trace array was
//! removed. In between, there may be a state whose trace array no longer exists. It is not used:
//! callbacks that have a trace array also compare its directory ([`Array::is_of`]), and control
//! files pin the trace array first.

mod accounting;
mod chains;
mod filters;
mod kernel_settings;
mod latency;
mod markers;
mod max_stack;
pub(crate) mod profiles;
mod reconcile;
mod recording;
pub(crate) mod rules;
mod trace_masks;
mod works;

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::{
    fgraph::Graph,
    filter::decision::Filter,
    function_trace::Recorder,
    ktrace::{
        self,
        array::{
            error_log::ErrorLog,
            trace_array::{
                Id,
                TraceArray,
                TypesLock, //
            },
            tracefs::Dir, //
        },
        fgraph::MarkerWatch,
        hook::ftrace_ops,
        private::symbols::Resolved,
        record::marker_export::MarkerExport,
        sync::module_global::ModuleGlobal,
        task::{
            cgroups::CgroupWatch,
            cpu_events::SwitchWatch,
            irq_time::IrqTimeWatch,
            irqs::IrqWatch,
            name_watch::NameWatch,
            registration::TaskRegistration,
            saved_cmdlines::CmdlineRecording,
            sched,
            signals::SignalWatch, //
        },
    },
    latency::Latency,
    markers::{
        Copies,
        Measuring, //
    },
    max_stack::MaxStack,
    profile::{
        gone::Gone,
        paths::Paths,
        Profile, //
    },
    task_filter::TaskFilter,
    task_times::{
        accounting::Accounting,
        runs::RunWatch, //
    },
    triggers::installed::InstalledRules,
    works::FollowWork, //
};

/// The state of the module while it is loaded.
pub(crate) static STATE: ModuleGlobal<State> = ModuleGlobal::new();

/// The state of one trace array.
pub(crate) struct Array {
    /// A number that is never reused; control files contain it.
    serial: usize,
    tr: Id,
    dir: Dir,
    /// The bit in the trace mask, while the trace array has a filter or records.
    slot: Option<u32>,
    filter: Arc<Filter>,
    recorder: Arc<Recorder>,
    /// The hook, while ferrotrace is the current tracer.
    hook: Option<Recording>,
    /// Copies of markers, while the trace array records and wants them.
    copies: Option<Copies>,
    /// The trigger rules, while there are any.
    rules: Option<InstalledRules>,
    /// How often the rules were replaced.
    rules_version: u64,
    /// Whether the trace array needs its tasks accounted: from before the first call is recorded
    /// until after the last one.
    needs_accounting: bool,
    /// Whether the trace array adds to its profile.
    is_profiling: bool,
    /// Whether the buffer may contain records that only this module can print, and whose event type
    /// numbers may be reused after it is unloaded.
    has_own_records: bool,
    /// Whether the trace array traces the work that its tasks queue.
    follows_work: bool,
    /// The least duration in ns of a blocked interval whose chain is followed; 0 means none.
    chain_thresh_ns: u64,
    /// The profile, from the start of profiling until it is cleared.
    profile: Option<Arc<Profile>>,
    /// The same by path.
    paths: Option<Arc<Paths>>,
    /// The longest stretches, from when they were first noted until they are cleared.
    latency: Option<Arc<Latency>>,
    /// Whether they are being noted.
    has_latency: bool,
    /// The deepest stacks, from when they were first stored until they are cleared.
    max_stack: Option<Arc<MaxStack>>,
    /// Whether they are being stored.
    has_max_stack: bool,
}

/// Creates what the layers above add to a trace array: its control files and the options of the
/// tracer.
pub(crate) trait Attachments: Send {
    /// Creates the control files of `tr`, whose state has this serial number. They are removed when
    /// the result is dropped. `trace_types_lock` must be held. May sleep.
    fn add_files(&self, tr: &TraceArray, serial: usize) -> Result<Dir>;

    /// Creates the options of the tracer in `tr`, if it has none. May sleep.
    fn add_options(&mut self, tr: &TraceArray, lock: &TypesLock) -> Result;

    /// Frees the options of trace arrays that were removed.
    fn remove_gone(&mut self, lock: &TypesLock);
}

/// How the trace array records.
enum Recording {
    /// Only the entries of functions are recorded.
    Functions {
        hook: ftrace_ops::FunctionRegistration<Recorder>,
        _names: CmdlineRecording,
    },
    /// Calls and returns are recorded. The task accounting saves the names of tasks.
    Graph(ktrace::fgraph::GraphRegistration<Graph>),
}

impl Array {
    /// Returns whether this is the state of `tr`, and not of a removed trace array that had the
    /// same address.
    pub(crate) fn is_of(&self, tr: &TraceArray) -> bool {
        self.tr == tr.id() && self.dir.is_of(tr)
    }

    pub(crate) fn id(&self) -> Id {
        self.tr
    }

    pub(crate) fn filter(&self) -> &Arc<Filter> {
        &self.filter
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }

    pub(crate) fn paths(&self) -> Option<&Paths> {
        self.paths.as_deref()
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.hook.is_some()
    }

    /// Returns whether the tasks of the trace array must be accounted.
    fn is_accounted(&self) -> bool {
        self.needs_accounting || self.rules.is_some()
    }

    /// Stops recording.
    fn unhook(&mut self) {
        self.copies = None;
        // While ftrace removes the hook, the functions of a stack are not known.
        drop(self.recorder.set_max_stack(None));
        self.has_max_stack = false;
        self.hook = None;
        drop(self.recorder.set_latency(None));
        self.has_latency = false;
        self.needs_accounting = false;
        self.is_profiling = false;
    }
}

/// The state of the module.
pub(crate) struct State {
    resolved: Resolved,
    arrays: KVec<Array>,
    next_serial: usize,
    /// Exists while a trace array follows work. Workers are filtered tasks while they execute it,
    /// so it is dropped before `task_filter`.
    works: Option<FollowWork>,
    /// The export of user markers, while anything needs them.
    marker_export: Option<MarkerExport>,
    /// Exists while sections are measured. It refers to `accounting`, so it is dropped before it.
    measuring: Option<Measuring>,
    /// The task accounting, while a call graph is recorded, or an event that depends on it has a
    /// listener.
    accounting: Option<Arc<sched::SchedRegistration<Accounting>>>,
    /// The probe on moves of tasks to other cgroups, while a filter depends on it. It refers to
    /// `task_filter`, so it is dropped before it.
    cgroup_watch: Option<CgroupWatch>,
    /// The hook on names that were written, in the same way.
    name_watch: Option<NameWatch>,
    /// The filter decisions, while a trace array has a filter or tasks are accounted.
    ///
    /// The task accounting is called from the `sched_switch` probe of this registration, and its
    /// own probes must run after those of this registration. So this is created before `accounting`
    /// and dropped after it.
    task_filter: Option<TaskRegistration<TaskFilter>>,
    /// Whether an event that depends on task accounting has a listener.
    listened: bool,
    /// The number of accounting gaps of former accountings.
    past_gaps: u64,
    /// The number of lost sections of former accountings.
    past_sections_lost: u64,
    /// The number of lost filter updates before `task_filter` was created.
    past_lost: u64,
    /// Names of functions that are in profiles and whose modules were unloaded.
    gone: Gone,
    /// The control files and options of all trace arrays.
    files: KBox<dyn Attachments>,
    errors: Arc<ErrorLog>,
    /// An empty filter, allocated in advance so that removing a filter cannot fail.
    no_filter: Arc<Filter>,
    /// The probes on markers, while a trace array writes entries only if needed.
    markers: Option<MarkerWatch>,
    /// The probe on signals, while a rule needs it.
    signals: Option<SignalWatch>,
    /// The probe on context switches, while a trace array notes the longest stretches.
    switches: Option<SwitchWatch>,
    /// The probes on interrupts, while chains of wakeups are followed.
    irqs: Option<IrqWatch>,
    /// The recent runs of each CPU, at the same time.
    runs: Option<RunWatch>,
    /// The probes that measure the time of interrupts, while tasks are accounted and a trace array
    /// wants it.
    irq_times: Option<IrqTimeWatch>,
    /// Markers cannot be watched, so entries are always written when calls begin.
    has_no_markers: bool,
}

impl State {
    /// Creates the state. `no_filter` must be an empty filter.
    pub(crate) fn new(
        resolved: Resolved,
        files: KBox<dyn Attachments>,
        errors: Arc<ErrorLog>,
        no_filter: Arc<Filter>,
    ) -> Self {
        Self {
            resolved,
            arrays: KVec::new(),
            next_serial: 1,
            works: None,
            cgroup_watch: None,
            name_watch: None,
            task_filter: None,
            accounting: None,
            listened: false,
            past_gaps: 0,
            past_sections_lost: 0,
            past_lost: 0,
            gone: Gone::default(),
            files,
            errors,
            no_filter,
            markers: None,
            signals: None,
            irqs: None,
            runs: None,
            irq_times: None,
            switches: None,
            marker_export: None,
            measuring: None,
            has_no_markers: false,
        }
    }

    pub(crate) fn resolved(&self) -> Resolved {
        self.resolved
    }

    /// Returns the error log that reports invalid input to users.
    pub(crate) fn errors(&self) -> &Arc<ErrorLog> {
        &self.errors
    }

    /// Returns the state with this serial number.
    pub(crate) fn by_serial(&self, serial: usize) -> Option<&Array> {
        self.arrays.iter().find(|array| array.serial == serial)
    }

    fn index_by_serial(&self, serial: usize) -> Option<usize> {
        self.arrays.iter().position(|array| array.serial == serial)
    }

    fn index_of(&self, tr: &TraceArray) -> Option<usize> {
        self.arrays.iter().position(|array| array.is_of(tr))
    }
}
