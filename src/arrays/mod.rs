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

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::{
    fgraph::Graph,
    filter::{
        decision::{
            Filter,
            Forget, //
        },
        error::Fault,
    },
    function_trace::{
        option,
        Recorder, //
    },
    ktrace::{
        self,
        array::{
            error_log::ErrorLog,
            trace_array::{
                Id,
                TraceArray,
                TypesLock, //
            },
            tracefs::Dir,
        },
        compact::selftest,
        fgraph::When,
        hook::{
            ftrace_ops,
            markers, //
        },
        private::{
            modules::{
                bind_text_leaves,
                LeavingText,
                TextLeaves, //
            },
            symbols::Resolved, //
        },
        sync::module_global::ModuleGlobal,
        task::{
            follow,
            registration::Registration,
            saved_cmdlines::Names,
            sched,
            trace_mask, //
        },
    },
    profile::{
        gone::Gone,
        Profile, //
    },
    task_filter::TaskFilter,
    task_times::accounting::Accounts, //
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
    /// Whether the trace array needs its tasks accounted: from before the first call is recorded
    /// until after the last one.
    keeps_times: bool,
    /// Whether the buffer may contain records that only this module can print, and whose event type
    /// numbers may be reused after it is unloaded.
    has_own_records: bool,
    /// The profile, from the start of profiling until it is cleared.
    profile: Option<Arc<Profile>>,
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
        hook: ftrace_ops::Hook<Recorder>,
        _names: Names,
    },
    /// Calls and returns are recorded. The task accounting saves the names of tasks.
    Graph(ktrace::fgraph::Hook<Graph>),
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

    pub(crate) fn is_recording(&self) -> bool {
        self.hook.is_some()
    }

    /// Stops recording.
    fn unhook(&mut self) {
        self.hook = None;
        self.keeps_times = false;
    }
}

/// The state of the module.
pub(crate) struct State {
    resolved: Resolved,
    arrays: KVec<Array>,
    next_serial: usize,
    /// The task accounting, while a call graph is recorded, or an event that depends on it has a
    /// listener.
    accounts: Option<Arc<sched::Registration<Accounts>>>,
    /// The filter decisions, while a trace array has a filter or tasks are accounted.
    ///
    /// The task accounting is called from the `sched_switch` probe of this registration, and its
    /// own probes must run after those of this registration. So this is created before `accounts`
    /// and dropped after it.
    watch: Option<Registration<TaskFilter>>,
    /// Whether an event that depends on task accounting has a listener.
    listened: bool,
    /// The number of accounting gaps of former accountings.
    past_gaps: u64,
    /// The number of lost filter updates before `watch` was created.
    past_lost: u64,
    /// Names of functions that are in profiles and whose modules were unloaded.
    gone: Gone,
    /// The control files and options of all trace arrays.
    files: KBox<dyn Attachments>,
    errors: Arc<ErrorLog>,
    /// An empty filter, allocated in advance so that removing a filter cannot fail.
    no_filter: Arc<Filter>,
    /// The probes on markers, while a trace array writes entries only if needed.
    markers: Option<markers::MarkerWatch>,
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
            watch: None,
            accounts: None,
            listened: false,
            past_gaps: 0,
            past_lost: 0,
            gone: Gone::default(),
            files,
            errors,
            no_filter,
            markers: None,
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

    /// Returns the number of tasks that the filter of `array` selects; `None` if it has no filter.
    pub(crate) fn matched(&self, array: &Array) -> Option<u64> {
        if array.filter.is_empty() {
            return None;
        }
        Some(self.watch.as_ref()?.matched(array.slot?))
    }

    /// Returns the names of functions that are in profiles and whose modules were unloaded.
    pub(crate) fn gone(&self) -> &Gone {
        &self.gone
    }

    /// Returns the number of filter updates that were lost since the module was loaded.
    pub(crate) fn filter_updates_lost(&self) -> u64 {
        let now = self.watch.as_ref().map_or(0, |watch| watch.lost());
        self.past_lost.wrapping_add(now)
    }

    /// Returns the memory of the per-task tables in bytes.
    pub(crate) fn tables_size(&self) -> usize {
        let decisions = self.watch.as_ref().map_or(0, |watch| watch.size());
        let accounts = self.accounts.as_ref().map_or(0, |accounts| accounts.size());
        decisions.saturating_add(accounts)
    }

    /// Returns the number of accounted tasks.
    pub(crate) fn accounts(&self) -> u64 {
        self.accounts.as_ref().map_or(0, |accounts| accounts.len())
    }

    /// Returns the number of accounting gaps since the module was loaded.
    pub(crate) fn time_gaps(&self) -> u64 {
        let now = self.accounts.as_ref().map_or(0, |accounts| accounts.gaps());
        self.past_gaps.wrapping_add(now)
    }

    /// Sets whether an event that depends on task accounting has a listener. If it has, all tasks
    /// are accounted. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; tasks are not accounted then.
    pub(crate) fn set_listened(&mut self, any: bool) -> Result {
        self.listened = any;
        if any {
            self.open_accounts()?;
        } else {
            self.close_accounts();
        }
        self.update_trace_masks();
        Ok(())
    }

    /// Registers the task hooks, if they are not registered.
    fn open_watch(&mut self) -> Result {
        if self.watch.is_none() {
            self.watch = Some(Registration::new(self.resolved, TaskFilter::new()?)?);
        }
        Ok(())
    }

    /// Unregisters the task hooks, if they are no longer needed.
    fn close_watch(&mut self) {
        let filtered = self.arrays.iter().any(|array| !array.filter.is_empty());
        if !filtered && self.accounts.is_none() {
            self.past_lost = self.filter_updates_lost();
            self.watch = None;
        }
    }

    /// Returns the task accounting, which is started if necessary.
    fn open_accounts(&mut self) -> Result<Arc<sched::Registration<Accounts>>> {
        if let Some(accounts) = &self.accounts {
            return Ok(Arc::clone(accounts));
        }
        self.open_watch()?;
        let accounts = Accounts::new()
            .and_then(|accounts| sched::Registration::new(self.resolved, accounts))
            .and_then(|accounts| Ok(Arc::new(accounts, GFP_KERNEL)?))
            .inspect_err(|_| self.close_watch())?;
        accounts.open_all();
        self.accounts = Some(Arc::clone(&accounts));
        Ok(accounts)
    }

    /// Stops the task accounting, if it is no longer needed.
    fn close_accounts(&mut self) {
        let graphs = self.arrays.iter().any(|array| array.keeps_times);
        if !graphs && !self.listened {
            self.past_gaps = self.time_gaps();
            self.accounts = None;
            self.close_watch();
        } else if let Some(accounts) = &self.accounts {
            accounts.set_callers(graphs);
        }
    }

    /// Adds the state of new trace arrays and removes the state of deleted ones. May sleep.
    ///
    /// # Errors
    ///
    /// The first error; the remaining trace arrays are processed nevertheless.
    pub(crate) fn reconcile(&mut self, lock: &TypesLock) -> Result {
        let gone = |array: &Array| !lock.find(array.tr).is_some_and(|tr| array.is_of(tr));
        while let Some(at) = self.arrays.iter().position(gone) {
            self.remove(at);
        }
        self.files.remove_gone(lock);
        let mut result = Ok(());
        for tr in lock.arrays() {
            result = result.and(self.files.add_options(tr, lock));
            result = result.and(self.index_or_add(tr).map(|_| ()));
        }
        result
    }

    /// Returns the index of the state of `tr`, which is created if there is none.
    /// `trace_types_lock` must be held.
    fn index_or_add(&mut self, tr: &TraceArray) -> Result<usize> {
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
            keeps_times: false,
            has_own_records: false,
            profile: None,
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
        self.close_accounts();
        self.remove_filter(at, Arc::clone(&self.no_filter));
        let _ = self.arrays.remove(at);
    }

    /// Removes everything of this module from the kernel's trace arrays.
    pub(crate) fn clear(&mut self, lock: &TypesLock) {
        self.errors.forget(lock);
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

    /// Returns the slot of the array at `at`, which is allocated if it has none.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if all bits of the trace mask are in use.
    fn take_slot(&mut self, at: usize) -> Result<u32> {
        let array = self.arrays.get(at).ok_or(ENODEV)?;
        if let Some(slot) = array.slot {
            return Ok(slot);
        }
        let used = |slot: &u32| self.arrays.iter().any(|array| array.slot == Some(*slot));
        let Some(slot) = (0..trace_mask::SLOTS).find(|slot| !used(slot)) else {
            pr_err!(
                "{} trace arrays are filtered or recording already\n",
                trace_mask::SLOTS
            );
            return Err(ENOSPC);
        };
        if let Some(array) = self.arrays.get_mut(at) {
            array.slot = Some(slot);
        }
        Ok(slot)
    }

    /// Frees the slot of the array at `at` if it neither has a filter nor records.
    fn drop_idle_slot(&mut self, at: usize) {
        if let Some(array) = self.arrays.get_mut(at) {
            if array.hook.is_none() && array.filter.is_empty() {
                array.slot = None;
            }
        }
    }

    /// Returns the slots of the trace arrays that `of` selects, as a mask.
    fn slots(&self, of: impl Fn(&&Array) -> bool) -> u32 {
        let slots = self.arrays.iter().filter(of);
        slots
            .filter_map(|array| array.slot)
            .fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Announces that filter decisions are about to change. Until [`State::update_trace_masks`],
    /// the set of accounted tasks is undefined.
    fn begin_account_update(&self) {
        if let Some(accounts) = &self.accounts {
            accounts.begin_update();
        }
    }

    /// Updates which trace arrays trace every task and which tasks are accounted, and makes every
    /// CPU recompute its trace mask. May sleep.
    fn update_trace_masks(&self) {
        self.begin_account_update();
        trace_mask::set_always(self.slots(|array| array.filter.is_empty()));
        if self.accounts.is_some() {
            follow::follow(self.slots(|array| array.keeps_times), self.listened);
        }
        trace_mask::refresh();
        if let Some(accounts) = &self.accounts {
            accounts.end_update();
        }
    }

    /// Replaces the filter of the trace array with this serial number. May sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array; `ENOSPC` or `ENOMEM`, with the old filter still in
    /// effect.
    pub(crate) fn set_filter(&mut self, serial: usize, filter: Filter, forget: Forget) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let filter = Arc::new(filter, GFP_KERNEL)?;
        self.install_filter(at, filter, forget)
    }

    fn install_filter(&mut self, at: usize, filter: Arc<Filter>, forget: Forget) -> Result {
        if filter.is_empty() {
            self.remove_filter(at, filter);
            return Ok(());
        }
        let slot = self.take_slot(at)?;
        if let Err(error) = self.open_watch() {
            self.drop_idle_slot(at);
            return Err(error);
        }
        self.begin_account_update();
        if let Some(watch) = &self.watch {
            watch.set_filter(slot, Some(Arc::clone(&filter)), forget);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.filter = filter;
            trace_mask::set_owner(slot, Some(array.tr));
        }
        self.update_trace_masks();
        Ok(())
    }

    /// Removes a filter by installing an empty one: every task is traced, which needs no filter
    /// decisions.
    fn remove_filter(&mut self, at: usize, empty: Arc<Filter>) {
        self.begin_account_update();
        let Some(array) = self.arrays.get_mut(at) else {
            return;
        };
        array.filter = empty;
        let slot = array.slot;
        if let Some(slot) = slot {
            trace_mask::set_owner(slot, None);
        }
        if array.hook.is_none() {
            array.slot = None;
        }
        // First trace every task, then remove the decisions, so that a selected task is traced
        // throughout.
        self.update_trace_masks();
        if let (Some(watch), Some(slot)) = (&self.watch, slot) {
            watch.set_filter(slot, None, Forget::ALL);
        }
        self.close_watch();
        self.update_trace_masks();
    }

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
                self.close_accounts();
                self.drop_idle_slot(at);
                self.update_trace_masks();
                return Err(error);
            }
        }
        self.close_accounts();
        self.update_trace_masks();
        self.sync_markers();
        Ok(())
    }

    /// Returns the profile of the array at `at`, which is created if there is none.
    fn open_profile(&mut self, at: usize) -> Result<Arc<Profile>> {
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        if let Some(profile) = &array.profile {
            return Ok(Arc::clone(profile));
        }
        let profile = Arc::new(Profile::new()?, GFP_KERNEL)?;
        array.profile = Some(Arc::clone(&profile));
        Ok(profile)
    }

    /// Clears the profile of the trace array with this serial number, and frees its memory unless
    /// profiling continues.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there is no such trace array.
    pub(crate) fn clear_profile(&mut self, serial: usize) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        let wanted = option::GRAPH | option::PROFILE;
        if array.hook.is_none() || array.recorder.flags() & wanted != wanted {
            array.profile = None;
        } else if let Some(profile) = &array.profile {
            profile.clear();
        }
        if self.arrays.iter().all(|array| array.profile.is_none()) {
            self.gone.clear();
        }
        Ok(())
    }

    /// Attaches the hook that the options of the array at `at` require.
    fn hook(&mut self, at: usize, tr: &TraceArray, slot: u32, flags: u32) -> Result<Recording> {
        let recorder = Arc::clone(&self.arrays.get(at).ok_or(ENODEV)?.recorder);
        recorder.begin();
        if flags & option::GRAPH == 0 {
            let names = Names::new(self.resolved)?;
            let hook = ftrace_ops::Hook::new(self.resolved, tr, slot, recorder)?;
            hook.pack_with(Recorder::packer);
            return Ok(Recording::Functions {
                hook,
                _names: names,
            });
        }
        self.sync_tracing_thresh(tr);
        let accounts = self.open_accounts()?;
        let profile = match flags & option::PROFILE {
            0 => None,
            _ => Some(self.open_profile(at)?),
        };
        let graph = Graph::new(recorder, accounts, profile);
        let graph = Arc::new(graph, GFP_KERNEL)?;
        if let Some(array) = self.arrays.get_mut(at) {
            array.keeps_times = true;
        }
        // A task must be accounted before its first call is recorded.
        self.update_trace_masks();
        let hook = ktrace::fgraph::Hook::new(self.resolved, tr, slot, graph)?;
        hook.pack_with(Graph::packer);
        Ok(Recording::Graph(hook))
    }

    /// Reads the kernel's `tracing_thresh` for `tr`; it applies only to the top-level trace array.
    pub(crate) fn sync_tracing_thresh(&mut self, tr: &TraceArray) {
        let Some(array) = self.index_of(tr).and_then(|at| self.arrays.get(at)) else {
            return;
        };
        let thresh_ns = match tr.is_top() {
            true => ktrace::fgraph::tracing_thresh_ns(),
            false => 0,
        };
        array.recorder.set_tracing_thresh(thresh_ns);
    }

    /// Copies the contents of `set_graph_function` and `set_graph_notrace`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, with the old copies still in effect.
    pub(crate) fn sync_graph_functions(&self) -> Result {
        ktrace::fgraph::copy_graph_functions(self.resolved)?;
        for array in &self.arrays {
            if let Some(Recording::Graph(hook)) = &array.hook {
                hook.sync_graph_functions();
            }
        }
        Ok(())
    }

    /// Updates which trace arrays have enabled events.
    pub(crate) fn sync_events(&mut self, lock: &TypesLock) {
        for array in &self.arrays {
            let tr = lock.find(array.tr).filter(|tr| array.is_of(tr));
            let any = tr.is_some_and(|tr| tr.has_events_on(lock));
            array.recorder.set_has_events(any || self.has_no_markers);
        }
        self.sync_markers();
    }

    /// Watches markers while a trace array writes entries only if needed. May sleep.
    pub(crate) fn sync_markers(&mut self) {
        let needs = |array: &Array| {
            let is_graph = matches!(array.hook, Some(Recording::Graph(_)));
            is_graph && When::read(array.recorder.when()) == When::IfNeeded
        };
        if !self.arrays.iter().any(needs) {
            self.markers = None;
        } else if self.markers.is_none() {
            match markers::MarkerWatch::new(self.resolved) {
                Ok(watch) => self.markers = Some(watch),
                Err(error) => {
                    pr_warn!(
                        "markers cannot be watched ({:?}): entries are written at once\n",
                        error
                    );
                    self.has_no_markers = true;
                    let all = self.arrays.iter();
                    all.for_each(|array| array.recorder.set_has_events(true));
                }
            }
        }
    }

    /// Stops recording in `tr`.
    pub(crate) fn stop(&mut self, tr: &TraceArray) {
        let Some(at) = self.index_of(tr) else {
            return;
        };
        if let Some(array) = self.arrays.get_mut(at) {
            array.unhook();
        }
        self.close_accounts();
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
        array.has_own_records |= array.hook.is_some() && has_own_records(flags);
        match &array.hook {
            Some(Recording::Functions { hook, .. }) => hook.pack_with(Recorder::packer),
            Some(Recording::Graph(hook)) => hook.pack_with(Graph::packer),
            None => {}
        }
        let is_recording = array.hook.is_some();
        self.sync_markers();
        if !is_recording || (before ^ flags) & (option::GRAPH | option::PROFILE) == 0 {
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

/// Handles module text that is about to be freed.
pub(crate) struct Unloads;

bind_text_leaves!(Unloads);

impl TextLeaves for Unloads {
    fn leaves(text: &LeavingText<'_>) {
        if let Some(state) = STATE.lock().as_mut() {
            for array in &state.arrays {
                if let Some(profile) = array.profile() {
                    profile.text_leaves(text, &mut state.gone);
                }
            }
        }
    }
}

/// Returns whether recording with these options creates records that no other tracer can print:
/// packed records, and the times of calls.
fn has_own_records(flags: u32) -> bool {
    flags & (option::GRAPH | option::COMPACT) != 0
}
