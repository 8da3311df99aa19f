// SPDX-License-Identifier: GPL-2.0

//! The state of each trace array: its filter, its slot in the gate, its hook.
//!
//! # Locking
//!
//! Everything here is reached through [`STATE`], one mutex. Order: `trace_types_lock`, then that
//! mutex. Callbacks of the tracer come with the former; control files take the latter alone.
//!
//! # Lifetimes
//!
//! A trace array's state is made when the trace array is first seen, at load or when an instance
//! is made, and dropped after it is gone, by [`Changes`]. In between it may stand for a trace
//! array that no longer exists: it is then found by nobody, since whoever has a trace array at hand
//! compares folders too ([`Array::is_of`]), and whoever comes from a control file pins it first.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::{
    control::{
        self,
        Control, //
    },
    fgraph::Graph,
    filter::{
        error::Fault,
        verdict::{
            Filter,
            Forget, //
        },
    },
    ktrace::{
        self,
        compact::selftest,
        error_log::ErrorLog,
        fgraph::When,
        ftrace_ops,
        gate,
        global::Global,
        instances::{
            bind_instances_changed,
            Changed,
            InstancesChanged, //
        },
        markers,
        modules::{
            bind_text_leaves,
            LeavingText,
            TextLeaves, //
        },
        names::Names,
        sched,
        symbols::Resolved,
        task,
        trace_array::{
            wait_for_events,
            Id,
            TraceArray,
            TypesLock, //
        },
        tracefs::{
            Dir,
            FileOps, //
        },
        tracer, //
    },
    profile::{
        gone::Gone,
        Profile, //
    },
    recorder::{
        option,
        Recorder, //
    },
    sched::accounts::Accounts,
    tracer::Ferrotrace,
    watch::Watch, //
};

/// The state of the module while it is loaded.
pub(crate) static STATE: Global<State> = Global::new();

/// What there is of one trace array.
pub(crate) struct Array {
    /// Tells it from all others that there ever were; control files carry it.
    serial: usize,
    tr: Id,
    dir: Dir,
    /// Its bit in the gate, while it has a filter or records.
    slot: Option<u32>,
    filter: Arc<Filter>,
    recorder: Arc<Recorder>,
    /// While ferrotrace is the current tracer.
    hook: Option<Recording>,
    /// Whether the times of its tasks are wanted: from before calls are recorded until after that.
    keeps_times: bool,
    /// Whether there may be records that only this module can print, and whose numbers somebody else gets after
    /// it.
    has_own_records: bool,
    /// Once calls have been profiled, until that is cleared.
    profile: Option<Arc<Profile>>,
}

/// How it records.
enum Recording {
    /// Entries of functions alone.
    Functions {
        hook: ftrace_ops::Hook<Recorder>,
        _names: Names,
    },
    /// Calls and returns; names of tasks are kept with their accounts.
    Graph(ktrace::fgraph::Hook<Graph>),
}

impl Array {
    /// Whether this is the state of `tr`, and not of one that had its address before.
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
    /// While anybody listens to an event that is made of them, or records a call graph.
    accounts: Option<Arc<sched::Registration<Accounts>>>,
    /// While any trace array has a filter, and while there are accounts, which hear of switches through
    /// it and rely on its being told of everything first: made before them, and dropped after.
    watch: Option<task::Registration<Watch>>,
    /// Whether anybody listens to such an event.
    listened: bool,
    /// Gaps in the accounts that there were before.
    past_gaps: u64,
    /// The same of verdicts that were lost.
    past_lost: u64,
    /// Names of functions in profiles whose modules were unloaded.
    gone: Gone,
    files: FileOps<Control>,
    tracer: tracer::Registration<Ferrotrace>,
    errors: Arc<ErrorLog>,
    /// Kept, so that to lift a filter takes no memory and cannot fail.
    no_filter: Arc<Filter>,
    /// While any trace array writes entries only when they are needed.
    markers: Option<markers::Watch>,
    /// It is not possible to watch markers: what they would ask for is done for every call.
    has_no_markers: bool,
}

impl State {
    /// `no_filter` is an empty one.
    pub(crate) fn new(
        resolved: Resolved,
        files: FileOps<Control>,
        tracer: tracer::Registration<Ferrotrace>,
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
            tracer,
            errors,
            no_filter,
            markers: None,
            has_no_markers: false,
        }
    }

    pub(crate) fn resolved(&self) -> Resolved {
        self.resolved
    }

    /// Where users are told what was wrong.
    pub(crate) fn errors(&self) -> &Arc<ErrorLog> {
        &self.errors
    }

    /// The state with that serial number.
    pub(crate) fn by_serial(&self, serial: usize) -> Option<&Array> {
        self.arrays.iter().find(|array| array.serial == serial)
    }

    fn index_by_serial(&self, serial: usize) -> Option<usize> {
        self.arrays.iter().position(|array| array.serial == serial)
    }

    fn index_of(&self, tr: &TraceArray) -> Option<usize> {
        self.arrays.iter().position(|array| array.is_of(tr))
    }

    /// How many tasks the filter of `array` matches now; `None` while it has none.
    pub(crate) fn matched(&self, array: &Array) -> Option<u64> {
        if array.filter.is_empty() {
            return None;
        }
        Some(self.watch.as_ref()?.matched(array.slot?))
    }

    /// The names of functions in profiles whose modules were unloaded.
    pub(crate) fn gone(&self) -> &Gone {
        &self.gone
    }

    /// Verdicts that could not be kept, ever.
    pub(crate) fn verdicts_lost(&self) -> u64 {
        let now = self.watch.as_ref().map_or(0, |watch| watch.lost());
        self.past_lost.wrapping_add(now)
    }

    /// The memory of the tables of tasks, in bytes.
    pub(crate) fn tables_size(&self) -> usize {
        let verdicts = self.watch.as_ref().map_or(0, |watch| watch.size());
        let accounts = self.accounts.as_ref().map_or(0, |accounts| accounts.size());
        verdicts.saturating_add(accounts)
    }

    /// How many tasks' times are kept.
    pub(crate) fn accounts(&self) -> u64 {
        self.accounts.as_ref().map_or(0, |accounts| accounts.len())
    }

    /// Intervals of tasks' times that were not told, ever.
    pub(crate) fn time_gaps(&self) -> u64 {
        let now = self.accounts.as_ref().map_or(0, |accounts| accounts.gaps());
        self.past_gaps.wrapping_add(now)
    }

    /// Keeps accounts of all tasks' times as long as somebody listens to an event that is made of
    /// them. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, with no accounts kept.
    pub(crate) fn set_listened(&mut self, any: bool) -> Result {
        self.listened = any;
        if any {
            self.open_accounts()?;
        } else {
            self.close_accounts();
        }
        self.tell_gate();
        Ok(())
    }

    /// Watches tasks, if nobody does.
    fn open_watch(&mut self) -> Result {
        if self.watch.is_none() {
            self.watch = Some(task::Registration::new(self.resolved, Watch::new()?)?);
        }
        Ok(())
    }

    /// Stops that if there is no more use for it.
    fn close_watch(&mut self) {
        let filtered = self.arrays.iter().any(|array| !array.filter.is_empty());
        if !filtered && self.accounts.is_none() {
            self.past_lost = self.verdicts_lost();
            self.watch = None;
        }
    }

    /// The accounts, opened if there are none.
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

    /// Drops the accounts if nobody wants them any more.
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

    /// Brings what there is here in line with the trace arrays that there are. May sleep.
    ///
    /// # Errors
    ///
    /// The first that was met; what could be done is done.
    pub(crate) fn reconcile(&mut self, lock: &TypesLock) -> Result {
        let gone = |array: &Array| !lock.find(array.tr).is_some_and(|tr| array.is_of(tr));
        while let Some(at) = self.arrays.iter().position(gone) {
            self.remove(at);
        }
        self.tracer.forget_gone(lock);
        let mut result = Ok(());
        for tr in lock.arrays() {
            result = result.and(self.tracer.adopt(tr, lock));
            result = result.and(self.index_or_add(tr).map(|_| ()));
        }
        result
    }

    /// Where the state of `tr` is; made if there is none yet. Under `trace_types_lock`.
    fn index_or_add(&mut self, tr: &TraceArray) -> Result<usize> {
        if let Some(at) = self.index_of(tr) {
            return Ok(at);
        }
        let serial = self.next_serial;
        let array = Array {
            serial,
            tr: tr.id(),
            dir: Dir::new(tr, c"ferrotrace", control::files(serial), &self.files)?,
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

    /// Drops a state. Under `trace_types_lock`, which its folder needs.
    fn remove(&mut self, at: usize) {
        if let Some(array) = self.arrays.get_mut(at) {
            array.unhook();
        }
        self.close_accounts();
        self.lift_filter(at, Arc::clone(&self.no_filter));
        let _ = self.arrays.remove(at);
    }

    /// Drops everything that the kernel's trace arrays have of us.
    pub(crate) fn clear(&mut self, lock: &TypesLock) {
        self.errors.forget(lock);
        while let Some(array) = self.arrays.first() {
            let tr = lock.find(array.tr).filter(|tr| array.is_of(tr));
            let tr = tr.filter(|tr| array.has_own_records || tr.has_had_events(lock));
            self.remove(0);
            if let Some(tr) = tr {
                // The kernel does so for events that can be turned on, and on CPUs that are there, but for no others.
                tr.forget_records(lock);
            }
        }
    }

    /// A free slot for the array at `at`, if it has none.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if as many trace arrays as there are bits in the gate have one.
    fn take_slot(&mut self, at: usize) -> Result<u32> {
        let array = self.arrays.get(at).ok_or(ENODEV)?;
        if let Some(slot) = array.slot {
            return Ok(slot);
        }
        let used = |slot: &u32| self.arrays.iter().any(|array| array.slot == Some(*slot));
        let Some(slot) = (0..gate::SLOTS).find(|slot| !used(slot)) else {
            pr_err!(
                "{} trace arrays are filtered or recording already\n",
                gate::SLOTS
            );
            return Err(ENOSPC);
        };
        if let Some(array) = self.arrays.get_mut(at) {
            array.slot = Some(slot);
        }
        Ok(slot)
    }

    /// Gives back the slot of the array at `at` if it has no use for it.
    fn drop_idle_slot(&mut self, at: usize) {
        if let Some(array) = self.arrays.get_mut(at) {
            if array.hook.is_none() && array.filter.is_empty() {
                array.slot = None;
            }
        }
    }

    /// The slots of some trace arrays.
    fn slots(&self, of: impl Fn(&&Array) -> bool) -> u32 {
        let slots = self.arrays.iter().filter(of);
        slots
            .filter_map(|array| array.slot)
            .fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Verdicts are about to change: until [`State::tell_gate`] nobody knows who is followed.
    fn hold_accounts(&self) {
        if let Some(accounts) = &self.accounts {
            accounts.hold();
        }
    }

    /// Tells the gate which trace arrays want every task, the scheduler's probes whom to follow, and every
    /// CPU to look again. May sleep.
    fn tell_gate(&self) {
        self.hold_accounts();
        gate::set_always(self.slots(|array| array.filter.is_empty()));
        if self.accounts.is_some() {
            sched::follow(self.slots(|array| array.keeps_times), self.listened);
        }
        gate::refresh();
        if let Some(accounts) = &self.accounts {
            accounts.resume();
        }
    }

    /// Replaces the filter of the trace array with that serial number. May sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if it is gone; `ENOSPC`, `ENOMEM`, with the old filter still in force.
    pub(crate) fn set_filter(&mut self, serial: usize, filter: Filter, forget: Forget) -> Result {
        let at = self.index_by_serial(serial).ok_or(ENODEV)?;
        let filter = Arc::new(filter, GFP_KERNEL)?;
        self.put_filter(at, filter, forget)
    }

    fn put_filter(&mut self, at: usize, filter: Arc<Filter>, forget: Forget) -> Result {
        if filter.is_empty() {
            self.lift_filter(at, filter);
            return Ok(());
        }
        let slot = self.take_slot(at)?;
        if let Err(error) = self.open_watch() {
            self.drop_idle_slot(at);
            return Err(error);
        }
        self.hold_accounts();
        if let Some(watch) = &self.watch {
            watch.set_filter(slot, Some(Arc::clone(&filter)), forget);
        }
        if let Some(array) = self.arrays.get_mut(at) {
            array.filter = filter;
            gate::set_owner(slot, Some(array.tr));
        }
        self.tell_gate();
        Ok(())
    }

    /// Puts an empty filter into force: every task is traced, and none needs to be watched for it.
    fn lift_filter(&mut self, at: usize, empty: Arc<Filter>) {
        self.hold_accounts();
        let Some(array) = self.arrays.get_mut(at) else {
            return;
        };
        array.filter = empty;
        let slot = array.slot;
        if let Some(slot) = slot {
            gate::set_owner(slot, None);
        }
        if array.hook.is_none() {
            array.slot = None;
        }
        // First everyone, then no verdicts: a task that was traced stays so throughout.
        self.tell_gate();
        if let (Some(watch), Some(slot)) = (&self.watch, slot) {
            watch.set_filter(slot, None, Forget::ALL);
        }
        self.close_watch();
        self.tell_gate();
    }

    /// Starts recording in `tr`, whose tracer ferrotrace becomes. Under `trace_types_lock`.
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
                self.tell_gate();
                return Err(error);
            }
        }
        self.close_accounts();
        self.tell_gate();
        self.see_markers();
        Ok(())
    }

    /// The profile of the array at `at`, an empty one if there is none.
    fn open_profile(&mut self, at: usize) -> Result<Arc<Profile>> {
        let array = self.arrays.get_mut(at).ok_or(ENODEV)?;
        if let Some(profile) = &array.profile {
            return Ok(Arc::clone(profile));
        }
        let profile = Arc::new(Profile::new()?, GFP_KERNEL)?;
        array.profile = Some(Arc::clone(&profile));
        Ok(profile)
    }

    /// Forgets what was profiled in the trace array with that serial number, and gives the memory
    /// back unless it goes on there.
    ///
    /// # Errors
    ///
    /// `ENODEV` if it is gone.
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

    /// Hooks what the options of the array at `at` ask for.
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
        self.see_tracing_thresh(tr);
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
        // No call is to be recorded whose task has not been followed since before.
        self.tell_gate();
        let hook = ktrace::fgraph::Hook::new(self.resolved, tr, slot, graph)?;
        hook.pack_with(Graph::packer);
        Ok(Recording::Graph(hook))
    }

    /// Looks at the kernel's `tracing_thresh`, which is for the top trace array.
    pub(crate) fn see_tracing_thresh(&mut self, tr: &TraceArray) {
        let Some(array) = self.index_of(tr).and_then(|at| self.arrays.get(at)) else {
            return;
        };
        let thresh_ns = match tr.is_top() {
            true => ktrace::fgraph::tracing_thresh_ns(),
            false => 0,
        };
        array.recorder.set_tracing_thresh(thresh_ns);
    }

    /// Copies what `set_graph_function` and `set_graph_notrace` have.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, with the old copies in place.
    pub(crate) fn see_graph_functions(&self) -> Result {
        ktrace::fgraph::copy_graph_functions(self.resolved)?;
        for array in &self.arrays {
            if let Some(Recording::Graph(hook)) = &array.hook {
                hook.see_graph_functions();
            }
        }
        Ok(())
    }

    /// Looks which trace arrays have events that are enabled.
    pub(crate) fn see_events(&mut self, lock: &TypesLock) {
        for array in &self.arrays {
            let tr = lock.find(array.tr).filter(|tr| array.is_of(tr));
            let any = tr.is_some_and(|tr| tr.has_events_on(lock));
            array.recorder.set_has_events(any || self.has_no_markers);
        }
        self.see_markers();
    }

    /// Watches markers as long as it matters when entries are written. May sleep.
    pub(crate) fn see_markers(&mut self) {
        let needs = |array: &Array| {
            let is_graph = matches!(array.hook, Some(Recording::Graph(_)));
            is_graph && When::read(array.recorder.when()) == When::IfNeeded
        };
        if !self.arrays.iter().any(needs) {
            self.markers = None;
        } else if self.markers.is_none() {
            match markers::Watch::new(self.resolved) {
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
        self.tell_gate();
        self.see_markers();
    }

    /// Checks whether `tr` can have these options.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if calls would be packed in a persistent buffer; a line in `error_log` says so.
    /// After a reboot, packs could be read by this module alone, and only if their event has the
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

    /// Sets the options of `tr`. Under `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// That of [`State::check_options`]. Those of [`State::start`], if it records otherwise from now
    /// on; it goes on as before then, or records
    /// nothing (`recording: 0` in `stats`) if that fails as well.
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
        self.see_markers();
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

/// Modules whose text is freed.
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

/// Whether what is recorded with these options has records that no other tracer has: packs, and where the time
/// of calls went.
fn has_own_records(flags: u32) -> bool {
    flags & (option::GRAPH | option::COMPACT) != 0
}

/// Instances that come and go.
pub(crate) struct Changes;

bind_instances_changed!(Changes);

impl InstancesChanged for Changes {
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
            if let Err(error) = state.reconcile(&lock) {
                pr_err!("an instance has no ferrotrace: {:?}\n", error);
            }
        }
        if changed.has_functions() {
            if let Err(error) = state.see_graph_functions() {
                pr_err!("set_graph_function is as it was before: {:?}\n", error);
            }
        }
        if changed.has_instances() || changed.has_events() {
            state.see_events(&lock);
        }
    }
}
