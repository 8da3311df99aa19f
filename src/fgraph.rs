// SPDX-License-Identifier: GPL-2.0

//! The call graph: the callbacks for the call and the return of a traced function. A hot path.
//!
//! # Records
//!
//! A call writes its entry record when it begins and its exit record when it returns, as
//! function_graph does. An exit is never written without its entry. With a threshold, only calls
//! that reach it are written, when they return: first the missing entries, outermost first, those
//! of the callers and its own, then the exit. In the compact form, one word in a packed record
//! represents the entry and the exit of a call within which nothing was recorded. [`When`] selects
//! one of these modes.
//!
//! If a call lost the CPU, a separate record before the exit has its run, wait and block times
//! ([`crate::events::funcgraph_times`]), for which the kernel's exit record has no fields.
//!
//! # Filters
//!
//! If the filter excludes the task when a call returns, no record is written for the call, except
//! that the exit is written if the entry was ([`Graph::is_still_traced`]).
//!
//! # Fast path
//!
//! Ordinary calls and returns do not reach [`Graph::entry`] and [`Graph::ret`]; they take a fast
//! path in C ([`Graph::fast_path`]), which ends in [`Graph::fast_entry`], [`Graph::fast_ret`] and
//! similar callbacks. Both paths use the same frames, and leave the same value in the task data
//! word. With options that need to see each call ([`option::SEES_CALLS`]), or more room in frames
//! ([`option::IRQ_TIME`]), all calls take the slow path.
//!
//! # Interrupts
//!
//! A call in an interrupt has the calls of the interrupted task as its callers; the missing entries
//! of these are written before its own. The context that sets [`WRITTEN`] first writes the entry.

mod entries;
mod irqs;
mod off_cpu;
mod returns;
mod seen;
mod selection;
mod task_word;

use kernel::sync::{
    atomic::Atomic,
    Arc, //
};

use self::task_word::{
    chosen_after,
    initial, //
    is_initialized,
};

use crate::{
    function_trace::{
        Count,
        Recorder, //
    },
    ktrace::{
        compact::{
            encoding::Item,
            percpu_pack::PackResult,
            writer::Packer, //
        },
        fgraph::{
            self,
            bind_graph_hook,
            CounterTime,
            CurrentCall,
            FastPathConfig,
            FrameRef,
            GraphHook,
            Open,
            Return,
            TaskWord,
            When, //
        },
        record::{
            context::Context,
            NotWritten, //
        },
        task::{
            sched,
            task_mask::mask_of,
            trace_mask,
            Task, //
        },
    },
    option,
    profile::{
        self,
        paths::Paths,
        Active,
        Profile, //
    },
    task_filter::TaskFilter,
    task_times::{
        accounting::Accounting,
        sections::Section,
        types::Waker, //
    },
    thresholds::Limits,
    time_split::Split, //
};

/// Frame flag: the entry is written, or is being written by some context.
const WRITTEN: u32 = 1 << 0;
/// Frame flag: the call is of a function in `set_graph_notrace`, and is not recorded.
const EXCLUDED: u32 = 1 << 1;
/// Frame flag: the ring buffer did not accept the entry, so the exit is not written either. Set
/// together with [`WRITTEN`].
const LOST: u32 = 1 << 2;

/// The write mode of hooks that only add up durations.
static NEVER_WRITTEN: Atomic<u32> = Atomic::new(When::IfLong as u32);

/// The call graph of one trace array.
pub(crate) struct Graph {
    recorder: Arc<Recorder>,
    /// Keeps task accounting enabled as long as calls are traced.
    accounting: Arc<sched::SchedRegistration<Accounting>>,
    /// The profile to which calls are added instead of being recorded.
    profile: Option<(Arc<Profile>, Active)>,
    /// The paths to which calls are added as well.
    paths: Option<Arc<Paths>>,
}

bind_graph_hook!(Graph);

impl Graph {
    pub(crate) fn new(
        recorder: Arc<Recorder>,
        accounting: Arc<sched::SchedRegistration<Accounting>>,
        profile: Option<Arc<Profile>>,
        paths: Option<Arc<Paths>>,
    ) -> Self {
        Self {
            recorder,
            accounting,
            profile: profile.map(|profile| (profile, Active::new())),
            paths,
        }
    }

    /// Returns the profile, if calls are added to one.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref().map(|(profile, _)| &**profile)
    }

    /// Returns the packer of leaf calls, if they are packed.
    pub(crate) fn packer(&self) -> Option<&Packer> {
        self.recorder.call_packer()
    }

    fn limits(&self) -> &Limits {
        self.recorder.limits()
    }

    /// Returns the minimum duration of recorded calls in ns; 0 if there is no threshold.
    #[inline]
    fn least_ns(&self) -> u64 {
        self.limits().least_ns()
    }

    /// Returns when entries are written.
    #[inline]
    fn when(&self) -> When {
        match self.profile {
            Some(_) => When::IfLong,
            None => When::read(self.recorder.when()),
        }
    }

    /// Counts a record, or the failure to write it. Returns whether it was written.
    #[inline(always)]
    fn count(&self, open: &Open<'_>, what: Count, written: Result<(), NotWritten>) -> bool {
        match written {
            Ok(()) => self.recorder.add(what),
            Err(NotWritten) => self.recorder.not_written(open.tr()),
        }
        written.is_ok()
    }

    /// Writes an item to a packed record. Returns whether the ring buffer accepted it, or `None` if
    /// it cannot be packed.
    #[inline]
    fn pack(&self, open: &Open<'_>, context: Context, item: &Item, count: Count) -> Option<bool> {
        match self.recorder.pack(open.tr(), context, item) {
            PackResult::Packed => Some(self.count(open, count, Ok(()))),
            PackResult::NotWritten => Some(self.count(open, count, Err(NotWritten))),
            PackResult::Fallback => None,
        }
    }

    /// Counts the calls of the task that found the shadow stack full since the last check.
    #[cold]
    fn count_overrun(&self, notes: &TaskWord<'_>, now: u32) {
        self.recorder
            .add_n(Count::StackFull, u64::from(notes.raise(now)));
    }
}

impl GraphHook for Graph {
    #[inline]
    fn entry(&self, call: &CurrentCall<'_>) -> bool {
        let flags = self.recorder.flags();
        if flags & option::SEES_CALLS != 0 {
            self.see_call(call);
        }
        let notes = call.task_word();
        let mut state = notes.get_or_begin(
            initial(call.tag()),
            |state| is_initialized(state, call),
            || call.overrun(),
        );
        if state & task_word::NOTRACE != 0 {
            return false;
        }
        if fgraph::in_graph_notrace(call.func) {
            // The return of this call clears the flag. It is recognized by its frame, because the
            // kernel calls the hook with the first index also for returns of calls that only other
            // hooks trace.
            if call
                .reserve_frame(call.task().switches(), EXCLUDED)
                .is_none()
            {
                self.overrun();
                return false;
            }
            notes.set(state | task_word::NOTRACE);
            return true;
        }
        if !self.selects(call, flags, &mut state) {
            return false;
        }
        let when = self.when();
        let marks = if when.is_at_call() { WRITTEN } else { 0 };
        let frame = match flags & option::IRQ_TIME {
            0 => call.reserve_frame(call.task().switches(), marks),
            _ => self.reserve_with_irqs(call, marks),
        };
        let Some(frame) = frame else {
            self.overrun();
            return false;
        };
        if when != When::IfLong && state & task_word::UNWRITTEN != 0 {
            self.write_open(&call.reborrow(), call.context(), 1);
            state &= !task_word::ANY_UNWRITTEN;
        }
        notes.set(state | task_word::set_on_entry(when));
        if when.is_at_call() && !self.write_now(call) {
            frame.invalidate();
            return false;
        }
        true
    }

    #[inline]
    fn ret(&self, ret: &Return<'_>) {
        let flags = self.recorder.flags();
        // Before the time, so that an interrupt in between is not a larger part of it.
        let irq_ns = match flags & option::IRQ_TIME {
            0 => 0,
            _ => self.irqs_since_entry(ret),
        };
        let now = CounterTime::now();
        if flags & option::SEES_CALLS != 0 {
            self.see_return(ret);
        }
        let notes = ret.task_word();
        let mut state = notes.get();
        if !is_initialized(state, ret) {
            // The call was traced by a former hook with the same index.
            return;
        }
        if state & task_word::NOTRACE != 0 {
            let Some(frame) = ret.frame() else {
                return;
            };
            state &= !task_word::NOTRACE;
            if frame.is_set(EXCLUDED) {
                notes.set(state);
                return;
            }
            // The kernel did not report the return of the excluded call, because its recursion
            // guard was taken. This is the return of one of its callers.
        }
        if !notes.counts(ret.overrun) {
            self.count_overrun(&notes, ret.overrun);
        }
        let before = state;
        if state & task_word::CHOSEN != 0 {
            state = chosen_after(state, ret.depth());
        }
        let Some(frame) = ret.frame() else {
            notes.set(state);
            return;
        };
        let total = match frame.unsaved_ns(now) {
            Some(ns) => ns,
            None => frame.elapsed_ns(),
        };
        if frame.is_set(WRITTEN) {
            // The entries of its callers are written as well.
            notes.set(state & !task_word::ANY_UNWRITTEN);
            if !frame.is_set(LOST) {
                let (split, switches) = self.divide(ret.task(), frame, total);
                let split = split.with_irq(irq_ns);
                self.write_divided(&ret.reborrow(), ret.context(), &split, switches);
            }
            return;
        }
        notes.set(state | task_word::UNWRITTEN);
        if !self.is_still_traced(ret, before) {
            return;
        }
        if let Some(profile) = self.profile() {
            let split = match ret.task().switches() == frame.half() {
                true => Split::undivided(total),
                false => self.divide(ret.task(), frame, total).0,
            };
            let split = match flags & option::IRQ_TIME {
                0 => split,
                _ => split.with_irq(self.part_of_irqs(irq_ns)),
            };
            profile.add_call(ret.func, split);
            if let Some(paths) = &self.paths {
                let caller = |up| ret.caller(up).map(|caller| caller.func);
                paths.add(ret.func, ret.depth(), &split, caller);
            }
            return;
        }
        let (split, switches) = self.divide(ret.task(), frame, total);
        let split = split.with_irq(irq_ns);
        if self.least_ns() != 0 && !self.limits().all_thresholds().reached_by(&split) {
            return;
        }
        self.write_whole(&ret.reborrow(), &split, switches);
        notes.set(state & !task_word::ANY_UNWRITTEN);
    }

    fn fast_path(&self, tag: u32) -> Option<FastPathConfig<'_>> {
        // The fast path does not know the callers, does not report each call, and has short frames.
        const MORE: u32 = option::SEES_CALLS | option::IRQ_TIME;
        if self.paths.is_some() || self.recorder.flags() & MORE != 0 {
            return None;
        }
        Some(FastPathConfig {
            slow_mask: task_word::SEEN | task_word::TAG | task_word::NOTRACE | task_word::CHOSEN,
            slow_value: initial(tag),
            set_if_long: task_word::set_on_entry(When::IfLong),
            set_if_needed: task_word::set_on_entry(When::IfNeeded),
            set_at_call: task_word::set_on_entry(When::AtCall),
            unwritten: task_word::ANY_UNWRITTEN,
            unwritten_callers: task_word::UNWRITTEN_CALLERS,
            written: WRITTEN,
            when: match self.profile {
                Some(_) => &NEVER_WRITTEN,
                None => self.recorder.when(),
            },
            max_depth: self.recorder.plain_below(),
            threshold_ns: self.limits().least_ns_word(),
            profile: self.profile.is_some(),
        })
    }

    #[inline]
    fn fast_ret_profile(&self, cpu: usize, func: usize, total_ns: u64) {
        if let Some(profile) = self.profile() {
            profile.add_undivided(cpu, func, total_ns);
        }
    }

    #[inline]
    fn fast_entry(&self, call: &CurrentCall<'_>, frame: FrameRef<'_>) -> bool {
        let written = self.write_now(call);
        if !written {
            frame.invalidate();
        }
        written
    }

    #[inline]
    fn fast_ret(&self, ret: &Return<'_>, total_ns: u64, written: bool) {
        match written {
            true => self.write_return(ret, ret.context(), total_ns),
            false => self.write_leaf(&ret.reborrow(), ret.context(), total_ns),
        }
    }

    #[cold]
    fn fast_ret_late(&self, ret: &Return<'_>, total_ns: u64) {
        let split = Split::undivided(total_ns);
        if self.least_ns() == 0 || self.limits().all_thresholds().reached_by(&split) {
            self.write_whole(ret, &split, 0);
        }
    }

    #[cold]
    fn overrun(&self) {
        self.recorder.add(Count::StackFull);
    }

    fn sched_out(&self, open: &Open<'_>) {
        let notes = open.task_word();
        let state = notes.get();
        if !is_initialized(state, open)
            || state & (task_word::NOT_SAVED | task_word::UNWRITTEN) == 0
        {
            return;
        }
        if state & task_word::NOT_SAVED != 0 {
            self.save_off_cpu(open);
        }
        notes.set(state & !task_word::NOT_SAVED);
        // The records that are written while the task is switched out must follow these entries.
        if state & task_word::UNWRITTEN != 0 && self.when() != When::IfLong {
            self.write_open_of(open, open.context(), state);
        }
    }

    #[cold]
    fn interposed(&self, open: &Open<'_>, context: Context) {
        let state = open.task_word().get();
        if is_initialized(state, open)
            && state & task_word::UNWRITTEN != 0
            && self.when() == When::IfNeeded
        {
            self.write_open_of(open, context, state);
        }
    }

    fn task_exit(&self, open: &Open<'_>) {
        let state = open.task_word().get();
        if is_initialized(state, open) && self.when() != When::IfLong {
            self.write_open_of(open, open.context(), state);
        }
    }
}

/// Writes the missing entries of the open calls of the current task, which is about to end.
pub(crate) fn current_ends() {
    fgraph::current_ends::<Graph>();
}

/// Prepares the open calls of the current task for a context switch. `is_exit` means that the task
/// will not run again.
#[inline]
pub(crate) fn current_leaves(is_exit: bool) {
    fgraph::current_leaves::<Graph>(is_exit);
}

/// Calls `add` for the profile of each trace array whose filter selects the task. For probes.
fn for_each_profile(task: Task<'_>, add: impl Fn(&Profile)) {
    if !profile::is_active() {
        return;
    }
    let mask = mask_of::<TaskFilter>(task);
    fgraph::for_each_hook::<Graph>(|tr, graph| {
        if let Some(profile) = graph.profile().filter(|_| trace_mask::wants(tr, mask)) {
            add(profile);
        }
    });
}

/// Adds a run time of a task, and the part of it that was the time of interrupts, both in ns, to
/// the profiles. For probes.
#[inline]
pub(crate) fn task_ran(task: Task<'_>, ns: u64, irq_ns: u64) {
    for_each_profile(task, |profile| profile.task_ran(task, ns, irq_ns));
}

/// Adds a time that a task has waited for a CPU, in ns, to the profiles. For probes.
#[inline]
pub(crate) fn task_waited(task: Task<'_>, ns: u64) {
    for_each_profile(task, |profile| profile.task_waited(task, ns));
}

/// Adds a time that a task was blocked, in ns, to the profiles: at the address `caller`, or 0 if it
/// is unknown, until `waker` has woken it. For probes.
#[inline]
pub(crate) fn task_blocked(task: Task<'_>, ns: u64, caller: u64, waker: &Waker) {
    for_each_profile(task, |profile| {
        profile.task_blocked(task, ns, caller, waker);
    });
}

/// Adds a section of a task that has ended to the profiles. For probes.
#[inline]
pub(crate) fn section_ended(task: Task<'_>, section: &Section) {
    for_each_profile(task, |profile| profile.section_ended(section));
}
