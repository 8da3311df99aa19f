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
//! word.
//!
//! # Interrupts
//!
//! A call in an interrupt has the calls of the interrupted task as its callers; the missing entries
//! of these are written before its own. The context that sets [`WRITTEN`] first writes the entry.

use kernel::sync::{
    atomic::Atomic,
    Arc, //
};

use crate::{
    events,
    function_trace::{
        option,
        Count,
        Recorder, //
    },
    ktrace::{
        compact::{
            encoding::{
                self as compact,
                Item, //
            },
            percpu_pack::PackResult,
            writer::Packer, //
        },
        fgraph::{
            self,
            bind_graph_hook,
            Call,
            Caller,
            ClockPair,
            CounterTime,
            FastPathConfig,
            FrameRef,
            GraphHook,
            Open,
            Return,
            TaskWord,
            When, //
        },
        record::{
            self,
            context::{
                Context,
                MAX_ARGS, //
            },
            GraphEntry,
            GraphReturn,
            NotWritten,
            MAX_GRAPH_WORDS, //
        },
        task::{
            sched,
            task_mask::mask_of,
            trace_mask,
            Task, //
        },
        time::clock, //
    },
    profile::{
        self,
        Active,
        Profile, //
    },
    task_filter::TaskFilter,
    task_times::{
        accounting::Accounts,
        types::{
            Blocked,
            CallTimes, //
        },
    },
    thresholds::{
        Limits,
        Split, //
    },
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

/// The flags in the task data word of the hook. The count in the word is the number of the task's
/// calls that found the shadow stack full.
///
/// The word is not cleared when the hook is unregistered. The kernel reuses the index of a hook
/// after 16 others, and the next hook with this index finds the old word. function_graph would
/// interpret one of the lowest five bits as its own flag (`TRACE_GRAPH_NOTRACE`,
/// kernel/trace/trace.h) and ignore the task, so these bits are not used.
mod word {
    use crate::ktrace::fgraph::SHORT_TAG_BITS;

    /// The task is inside a function of `set_graph_function`, whose depth is in [`DEPTH`].
    pub(super) const CHOSEN: u32 = 1 << 5;
    /// That function was called in a hardware interrupt, which is therefore traced.
    pub(super) const CHOSEN_IRQ: u32 = 1 << 6;
    /// The task is inside a function of `set_graph_notrace`.
    pub(super) const NOTRACE: u32 = 1 << 7;
    /// There may be open calls whose entries are not written.
    pub(super) const UNWRITTEN: u32 = 1 << 8;
    /// The hook has initialized the word, so that calls of the task that find the shadow stack full
    /// are counted.
    pub(super) const SEEN: u32 = 1 << 9;
    /// There may be frames without saved off-CPU times: calls that have not lost the CPU.
    pub(super) const UNNOTED: u32 = 1 << 10;
    /// The depth, in 9 bits: a shadow stack of 4 KiB has room for fewer calls.
    pub(super) const DEPTH_SHIFT: u32 = 11;
    pub(super) const DEPTH: u32 = 0x1ff << DEPTH_SHIFT;
    /// The lowest bits of the hook's tag. They distinguish the word from that of another hook,
    /// which is ignored.
    pub(super) const TAG_SHIFT: u32 = 20;
    pub(super) const TAG: u32 = ((1 << SHORT_TAG_BITS) - 1) << TAG_SHIFT;
    const _: () = assert!(TAG_SHIFT + SHORT_TAG_BITS <= u32::BITS);
}

/// The call graph of one trace array.
pub(crate) struct Graph {
    recorder: Arc<Recorder>,
    /// Keeps task accounting enabled as long as calls are traced.
    accounts: Arc<sched::Registration<Accounts>>,
    /// The profile to which calls are added instead of being recorded.
    profile: Option<(Arc<Profile>, Active)>,
}

bind_graph_hook!(Graph);

impl Graph {
    pub(crate) fn new(
        recorder: Arc<Recorder>,
        accounts: Arc<sched::Registration<Accounts>>,
        profile: Option<Arc<Profile>>,
    ) -> Self {
        Self {
            recorder,
            accounts,
            profile: profile.map(|profile| (profile, Active::new())),
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

    /// Returns whether `set_graph_function`, `max_graph_depth` and the options let a call through.
    /// Updates the flags in `state`.
    #[inline]
    fn selects(&self, call: &Call<'_>, flags: u32, state: &mut u32) -> bool {
        if *state & word::CHOSEN == 0 {
            match fgraph::in_graph_function(call.func) {
                None => {}
                Some(false) => return false,
                Some(true) => {
                    let depth = call.depth().max(0) as u32;
                    *state &= !(word::DEPTH | word::CHOSEN_IRQ);
                    *state |= word::CHOSEN | (depth << word::DEPTH_SHIFT & word::DEPTH);
                    if fgraph::in_hardirq() {
                        *state |= word::CHOSEN_IRQ;
                    }
                }
            }
        }
        let too_deep = |max: u32| max != 0 && call.depth() >= 0 && call.depth() as u32 >= max;
        if call.depth() < 0 || too_deep(fgraph::max_graph_depth()) {
            return false;
        }
        if too_deep(self.limits().max_depth()) {
            return false;
        }
        flags & option::IRQS != 0 || *state & word::CHOSEN_IRQ != 0 || !fgraph::in_hardirq()
    }

    /// Returns when entries are written.
    #[inline]
    fn when(&self) -> When {
        match self.profile {
            Some(_) => When::IfLong,
            None => When::read(self.recorder.when()),
        }
    }

    /// Returns whether the current task and its call, which was traced when it began, would still
    /// be traced if the call began now.
    fn is_still_traced(&self, open: &Open<'_>, state: u32) -> bool {
        let chosen = state & word::CHOSEN != 0 || !fgraph::has_graph_functions();
        chosen && open.is_task_traced()
    }

    /// Writes the entry of a call. Returns false if the ring buffer did not accept it.
    #[inline]
    fn write_entry(
        &self,
        open: &Open<'_>,
        context: Context,
        entry: GraphEntry,
        words: &[usize],
        late_ns: Option<u64>,
    ) -> bool {
        if words.is_empty() && self.recorder.flags() & option::COMPACT != 0 {
            let item = Item::Begin(compact::Call {
                func: entry.func,
                depth: entry.depth,
                ns: late_ns.unwrap_or(0),
            });
            if let Some(written) = self.pack(open, context, &item, Count::Entries) {
                return written;
            }
        }
        let written = record::graph_entry(open.tr(), context, entry, words, late_ns);
        self.count(open, Count::Entries, written)
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

    /// Writes the return of a call to a packed record, as the item that `item` creates. Returns
    /// false if it cannot be packed.
    #[inline(never)]
    fn pack_return(
        &self,
        ret: &Return<'_>,
        context: Context,
        total_ns: u64,
        item: impl FnOnce(compact::Call) -> Item,
    ) -> bool {
        const OTHER: u32 = option::RETVAL;
        if ret.overrun != 0 || self.recorder.flags() & (option::COMPACT | OTHER) != option::COMPACT
        {
            return false;
        }
        let item = item(compact::Call {
            func: ret.func,
            depth: ret.depth(),
            ns: total_ns,
        });
        self.pack(ret, context, &item, Count::Returns).is_some()
    }

    /// Writes the missing entries of the open calls that are at least `innermost` levels above the
    /// innermost call, which is level 0. The outermost entry is written first.
    #[inline(never)]
    fn write_open(&self, open: &Open<'_>, context: Context, innermost: i32) {
        let mut up = innermost.wrapping_sub(1);
        for level in innermost..=open.depth() {
            match open.caller(level) {
                Some(caller) if caller.frame.is_set(WRITTEN) => break,
                Some(caller) if !caller.frame.is_set(EXCLUDED) => up = level,
                // Or a call that only another hook traces.
                _ => {}
            }
        }
        for level in (innermost..=up).rev() {
            if let Some(caller) = open.caller(level) {
                self.write_late(open, context, &caller);
            }
        }
    }

    /// Writes the entry of an open call, if it is missing.
    fn write_late(&self, open: &Open<'_>, context: Context, caller: &Caller<'_>) {
        if caller.frame.is_set(EXCLUDED) || !caller.frame.set(WRITTEN) {
            return;
        }
        let late_ns = caller.frame.elapsed_ns();
        let entry = GraphEntry {
            func: caller.func,
            depth: caller.depth,
        };
        if !self.write_entry(open, context, entry, &[], Some(late_ns)) {
            caller.frame.set(LOST);
        }
    }

    /// Writes the entry of a call when it begins. Returns false if the ring buffer did not accept
    /// it.
    #[inline(always)]
    fn write_now(&self, call: &Call<'_>) -> bool {
        let flags = self.recorder.flags();
        if flags & (option::MORE_AT_CALL | option::COMPACT) != 0 {
            return self.write_more(&call.reborrow(), flags);
        }
        let entry = GraphEntry {
            func: call.func,
            depth: call.depth(),
        };
        let written = record::graph_entry(call.tr(), call.context(), entry, &[], None);
        self.count(call, Count::Entries, written)
    }

    /// Writes the entry of a call when it begins, if it is packed or has data that is known only
    /// then. Returns false if the ring buffer did not accept it.
    #[inline(never)]
    fn write_more(&self, call: &Call<'_>, flags: u32) -> bool {
        let mut words = [0; MAX_GRAPH_WORDS];
        let mut n = 0;
        if flags & option::ARGS != 0 {
            for (i, word) in words.iter_mut().take(MAX_ARGS).enumerate() {
                *word = call.argument(i);
            }
            n = MAX_ARGS;
        }
        if flags & option::RETADDR != 0 {
            if let Some(word) = words.get_mut(n) {
                *word = call.return_address();
            }
            n = n.wrapping_add(1);
        }
        let entry = GraphEntry {
            func: call.func,
            depth: call.depth(),
        };
        let words = words.get(..n).unwrap_or(&[]);
        self.write_entry(call, call.context(), entry, words, None)
    }

    /// Returns the run, wait and block times of a call, and how often it lost the CPU. The times
    /// are all zero if they are unknown, because the task was not accounted in between.
    fn divide(&self, task: Task<'_>, frame: FrameRef<'_>, total: u64) -> (Split, u32) {
        let switches = task.switches().wrapping_sub(frame.half());
        if switches == 0 {
            return (Split::undivided(total), 0);
        }
        let Some(now) = self.accounts.off_cpu(task) else {
            // An idle task, which is not accounted.
            return (Split::undivided(total), 0);
        };
        let seen = self.accounts.has_seen_since(task, frame.half());
        let parts = frame.off_cpu().filter(|_| seen);
        let parts = parts.and_then(|[wait_before, block_before]| {
            let wait = now.wait_ns.checked_sub(wait_before)?;
            let block = now.block_ns.checked_sub(block_before)?;
            Some((wait, block))
        });
        let Some((wait, block)) = parts else {
            self.accounts.count_missing();
            return (Split::unknown(total), switches);
        };
        // The clocks of these times agree where it matters, but may differ in the last digits.
        // The parts are limited so that `run` cannot become negative.
        let wait = wait.min(total);
        let block = block.min(total.wrapping_sub(wait));
        let split = Split {
            total,
            run: total.wrapping_sub(wait).wrapping_sub(block),
            wait,
            block,
        };
        (split, switches)
    }

    /// Counts the calls of the task that found the shadow stack full since the last check.
    #[cold]
    fn count_overrun(&self, notes: &TaskWord<'_>, now: u32) {
        self.recorder
            .add_n(Count::StackFull, u64::from(notes.raise(now)));
    }

    /// Adds a call that lost the CPU to the profile.
    #[cold]
    fn add_divided(&self, ret: &Return<'_>, frame: FrameRef<'_>, total: u64) {
        let (split, _) = self.divide(ret.task(), frame, total);
        if let Some(profile) = self.profile() {
            profile.add_call(ret.func, split);
        }
    }

    /// Writes all records of a call whose entry is not written, when it returns: the missing
    /// entries of its callers, its own entry, its times and its exit.
    fn write_whole(&self, ret: &Return<'_>, split: &Split, switches: u32) {
        let context = ret.context();
        self.write_open(ret, context, 1);
        if switches == 0 {
            return self.write_leaf(ret, context, split.total);
        }
        if self.write_entry_of(ret, context, split.total) {
            self.write_divided(ret, context, split, switches);
        }
    }

    /// Writes the entry of a call that returns. Returns false if the ring buffer did not accept it.
    fn write_entry_of(&self, ret: &Return<'_>, context: Context, total_ns: u64) -> bool {
        let entry = GraphEntry {
            func: ret.func,
            depth: ret.depth(),
        };
        self.write_entry(ret, context, entry, &[], Some(total_ns))
    }

    /// Writes the entry and the exit of a call that returns, within which nothing was recorded.
    #[inline]
    fn write_leaf(&self, ret: &Return<'_>, context: Context, total_ns: u64) {
        if self.pack_return(&ret.reborrow(), context, total_ns, Item::Leaf) {
            return;
        }
        if self.write_entry_of(ret, context, total_ns) {
            self.write_return(ret, context, total_ns);
        }
    }

    /// Writes the exit of a call, and its times if it lost the CPU.
    #[cold]
    fn write_divided(&self, ret: &Return<'_>, context: Context, split: &Split, switches: u32) {
        if switches != 0 && self.recorder.flags() & option::TIMES != 0 {
            self.write_times(ret, context, split, switches);
        }
        self.write_return(ret, context, split.total);
    }

    /// Writes the exit of a call.
    #[inline(always)]
    fn write_return(&self, ret: &Return<'_>, context: Context, total_ns: u64) {
        let flags = self.recorder.flags();
        if flags & option::COMPACT != 0
            && self.pack_return(&ret.reborrow(), context, total_ns, Item::Return)
        {
            return;
        }
        let rettime_ns = clock::local_ns();
        let record = GraphReturn {
            call: GraphEntry {
                func: ret.func,
                depth: ret.depth(),
            },
            overrun: ret.overrun,
            value: match record::HAS_VALUE || flags & option::RETVAL != 0 {
                true => Some(ret.value()),
                false => None,
            },
            calltime_ns: rettime_ns.saturating_sub(total_ns),
            rettime_ns,
        };
        let written = record::graph_return(ret.tr(), context, &record);
        self.count(ret, Count::Returns, written);
    }

    #[cold]
    fn write_times(&self, ret: &Return<'_>, context: Context, split: &Split, switches: u32) {
        let times = CallTimes {
            func: ret.func,
            depth: ret.depth(),
            run_ns: split.run,
            wait_ns: split.wait,
            block_ns: split.block,
            switches,
            blocked: match split.block {
                0 => Blocked::default(),
                _ => self.accounts.last_block(ret.task()),
            },
        };
        let written = events::funcgraph_times::write(ret.tr(), context, &times);
        self.count(ret, Count::Times, written);
    }
}

impl GraphHook for Graph {
    #[inline]
    fn entry(&self, call: &Call<'_>) -> bool {
        let flags = self.recorder.flags();
        let notes = call.task_word();
        let mut state = notes.get_or_begin(
            settled(call.tag()),
            |state| is_known(state, call),
            || call.overrun(),
        );
        if state & word::NOTRACE != 0 {
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
            notes.set(state | word::NOTRACE);
            return true;
        }
        if !self.selects(call, flags, &mut state) {
            return false;
        }
        let when = self.when();
        let (marks, opens) = match when {
            When::AtCall => (WRITTEN, word::UNNOTED),
            _ => (0, word::UNWRITTEN | word::UNNOTED),
        };
        let Some(frame) = call.reserve_frame(call.task().switches(), marks) else {
            self.overrun();
            return false;
        };
        if when != When::IfLong && state & word::UNWRITTEN != 0 {
            self.write_open(&call.reborrow(), call.context(), 1);
            state &= !word::UNWRITTEN;
        }
        notes.set(state | opens);
        if when == When::AtCall && !self.write_now(call) {
            frame.invalidate();
            return false;
        }
        true
    }

    #[inline]
    fn ret(&self, ret: &Return<'_>) {
        let now = CounterTime::now();
        let notes = ret.task_word();
        let mut state = notes.get();
        if !is_known(state, ret) {
            // The call was traced by a former hook with the same index.
            return;
        }
        if state & word::NOTRACE != 0 {
            let Some(frame) = ret.frame() else {
                return;
            };
            state &= !word::NOTRACE;
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
        if state & word::CHOSEN != 0 {
            state = chosen_after(state, ret.depth());
        }
        let Some(frame) = ret.frame() else {
            notes.set(state);
            return;
        };
        let total = match frame.unnoted_ns(now) {
            Some(ns) => ns,
            None => frame.elapsed_ns(),
        };
        if frame.is_set(WRITTEN) {
            // The entries of its callers are written as well.
            notes.set(state & !word::UNWRITTEN);
            if !frame.is_set(LOST) {
                let (split, switches) = self.divide(ret.task(), frame, total);
                self.write_divided(&ret.reborrow(), ret.context(), &split, switches);
            }
            return;
        }
        notes.set(state | word::UNWRITTEN);
        if !self.is_still_traced(ret, before) {
            return;
        }
        if let Some(profile) = self.profile() {
            return match ret.task().switches() == frame.half() {
                true => profile.add_call(ret.func, Split::undivided(total)),
                false => self.add_divided(&ret.reborrow(), frame, total),
            };
        }
        let (split, switches) = self.divide(ret.task(), frame, total);
        if self.least_ns() != 0 && !self.limits().all_thresholds().reached_by(&split) {
            return;
        }
        self.write_whole(&ret.reborrow(), &split, switches);
        notes.set(state & !word::UNWRITTEN);
    }

    fn fast_path(&self, tag: u32) -> Option<FastPathConfig<'_>> {
        Some(FastPathConfig {
            slow_mask: word::SEEN | word::TAG | word::NOTRACE | word::CHOSEN,
            slow_value: settled(tag),
            set_on_entry: word::UNWRITTEN | word::UNNOTED,
            unwritten: word::UNWRITTEN,
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
    fn fast_entry(&self, call: &Call<'_>, frame: FrameRef<'_>) -> bool {
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
        if !is_known(state, open) || state & (word::UNNOTED | word::UNWRITTEN) == 0 {
            return;
        }
        if state & word::UNNOTED != 0 {
            self.save_off_cpu(open);
        }
        notes.set(state & !word::UNNOTED);
        // The records that are written while the task is switched out must follow these entries.
        if state & word::UNWRITTEN != 0 && self.when() != When::IfLong {
            self.write_open_of(open, open.context(), state);
        }
    }

    #[cold]
    fn interposed(&self, open: &Open<'_>, context: Context) {
        let state = open.task_word().get();
        if is_known(state, open) && state & word::UNWRITTEN != 0 && self.when() == When::IfNeeded {
            self.write_open_of(open, context, state);
        }
    }

    fn task_exit(&self, open: &Open<'_>) {
        let state = open.task_word().get();
        if is_known(state, open) && self.when() != When::IfLong {
            self.write_open_of(open, open.context(), state);
        }
    }
}

impl Graph {
    /// Saves the task's off-CPU time in the frames of all open calls, before the task loses the
    /// CPU.
    #[inline]
    fn save_off_cpu(&self, open: &Open<'_>) {
        let Some(off_cpu) = self.accounts.off_cpu(open.task()) else {
            return;
        };
        let now = ClockPair::now();
        for up in 0..=open.depth() {
            match open.frame(up) {
                Some(frame) if frame.has_off_cpu() => break,
                Some(frame) => frame.save_off_cpu([off_cpu.wait_ns, off_cpu.block_ns], now),
                // A call that only another hook traces.
                None => {}
            }
        }
    }

    /// Writes the missing entries of all open calls of the current task, if the task is still
    /// traced.
    #[cold]
    fn write_open_of(&self, open: &Open<'_>, context: Context, state: u32) {
        if self.is_still_traced(open, state) {
            self.write_open(open, context, 0);
            let notes = open.task_word();
            notes.set(notes.get() & !word::UNWRITTEN);
        }
    }
}

/// Returns the flags of a task inside a function of `set_graph_function`, after a return at this
/// depth.
#[cold]
fn chosen_after(state: u32, depth: i32) -> u32 {
    let depth = depth.max(0) as u32;
    match depth << word::DEPTH_SHIFT & word::DEPTH == state & word::DEPTH {
        true => state & !(word::CHOSEN | word::CHOSEN_IRQ),
        false => state,
    }
}

/// Returns the flags in the task data word of a hook with this tag, if no other flag is set.
#[inline]
fn settled(tag: u32) -> u32 {
    word::SEEN | tag << word::TAG_SHIFT & word::TAG
}

/// Returns whether this hook has initialized the task data word.
#[inline]
fn is_known(state: u32, open: &Open<'_>) -> bool {
    state & (word::SEEN | word::TAG) == settled(open.tag())
}

/// Writes the missing entries of the open calls of the current task, which is about to end.
pub(crate) fn current_ends() {
    fgraph::current_ends::<Graph>();
}

/// Prepares the open calls of the current task for a context switch. `for_good` means that the task
/// will not run again.
#[inline]
pub(crate) fn current_leaves(for_good: bool) {
    fgraph::current_leaves::<Graph>(for_good);
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

/// Adds a run time of a task, in ns, to the profiles. For probes.
#[inline]
pub(crate) fn task_ran(task: Task<'_>, ns: u64) {
    for_each_profile(task, |profile| profile.task_ran(task, ns));
}

/// Adds a time that a task has waited for a CPU, in ns, to the profiles. For probes.
#[inline]
pub(crate) fn task_waited(task: Task<'_>, ns: u64) {
    for_each_profile(task, |profile| profile.task_waited(task, ns));
}
