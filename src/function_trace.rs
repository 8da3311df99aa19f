// SPDX-License-Identifier: GPL-2.0

//! The recording state of a trace array, and the hook that records function entries alone.
//!
//! The hook is a hot path; [`crate::fgraph`] has the other one, for calls and returns. When it is
//! called, the task has already passed the trace mask. It writes one record in the kernel's own
//! format, and additional records if the options request them.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

use crate::{
    events,
    ktrace::{
        array::trace_array::TraceArray,
        compact::{
            encoding::Item,
            percpu_pack::PackResult,
            writer::Packer, //
        },
        fgraph::When,
        hook::{
            ftrace_ops::{
                bind_function_hook,
                FunctionCall,
                FunctionHook, //
            },
            function_records, //
        },
        record::{
            self,
            context::{
                Context,
                MAX_ARGS, //
            },
            NotWritten, //
        },
        sync::{
            atomic::AtomicBool,
            percpu_counter::Counters,
            published::{
                Published,
                Retired, //
            },
            read_once::ReadOnce, //
        },
    },
    latency::Latency,
    max_stack::MaxStack,
    option,
    seen_call::{
        Place,
        SeenCall, //
    },
    thresholds::{
        Limits,
        Thresholds, //
    },
};

/// The counters of a [`Recorder`].
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Function entries that were recorded.
    Functions,
    /// Stack traces that were recorded.
    Stacks,
    /// Entry records of the call graph.
    Entries,
    /// Exit records of the call graph.
    Returns,
    /// Records with the run, wait and block times of a call.
    Times,
    /// Records that the ring buffer did not accept.
    NoRoom,
    /// Calls that were skipped because they were made while another call was being recorded.
    Recursion,
    /// Stack traces that were truncated because they were too deep.
    StackCut,
    /// Calls that were not traced because the shadow stack was full.
    StackFull,
}

const COUNTS: usize = Count::StackFull as usize + 1;

/// The recording state of one trace array.
pub(crate) struct Recorder {
    flags: Atomic<u32>,
    /// Returned by [`Recorder::when`].
    when: Atomic<u32>,
    /// Returned by [`Recorder::plain_below`].
    plain_below: Atomic<u32>,
    /// Whether an event of the trace array is enabled, or must be assumed to be.
    has_events: AtomicBool,
    limits: Limits,
    counters: Counters<COUNTS>,
    packer: Packer,
    /// Where the longest stretches are noted, while the trace array records them.
    latency: Published<Latency>,
    /// Where the deepest stacks are stored, while the trace array stores them.
    max_stack: Published<MaxStack>,
}

bind_function_hook!(Recorder);

impl Recorder {
    /// Creates a recorder with no options set. May sleep.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            flags: Atomic::new(0),
            when: Atomic::new(When::AtCall as u32),
            plain_below: Atomic::new(0),
            has_events: AtomicBool::new(false),
            limits: Limits::default(),
            counters: Counters::new()?,
            packer: Packer::new(),
            latency: Published::none(),
            max_stack: Published::none(),
        })
    }

    /// Sets the options. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, or `EOPNOTSUPP` if the kernel does not support packed records; the options are
    /// unchanged then.
    pub(crate) fn set_flags(&self, flags: u32) -> Result {
        if flags & option::COMPACT != 0 {
            self.packer.prepare()?;
        }
        self.flags.store(flags, Relaxed);
        self.update_hot_settings();
        Ok(())
    }

    /// Sets where the longest stretches are noted. Callers must hold the lock of
    /// [`crate::arrays::STATE`].
    pub(crate) fn set_latency(&self, latency: Option<Arc<Latency>>) -> Retired<Latency> {
        self.latency.replace(latency)
    }

    /// Sets where the deepest stacks are stored. Callers must hold the lock of
    /// [`crate::arrays::STATE`].
    pub(crate) fn set_max_stack(&self, max_stack: Option<Arc<MaxStack>>) -> Retired<MaxStack> {
        self.max_stack.replace(max_stack)
    }

    /// Passes a traced call or return to what needs to see each of them. Any context.
    pub(crate) fn see(&self, seen: &SeenCall<'_>) {
        if let Some(max_stack) = self.max_stack.get_in_callback(seen.preemption_off) {
            max_stack.see(seen);
        }
        if let Some(latency) = self.latency.get_in_callback(seen.preemption_off) {
            latency.see(seen);
        }
    }

    /// Prepares for recording: selects the clock of packed records.
    pub(crate) fn begin(&self) {
        self.packer.choose_clock();
    }

    /// Sets the maximum depth of recorded calls; 0 means no limit.
    ///
    /// Callers of this and of the following setters must hold the lock of [`crate::arrays::STATE`].
    pub(crate) fn set_max_depth(&self, depth: u32) {
        self.limits.set_max_depth(depth);
        self.update_hot_settings();
    }

    /// Sets the minimum durations of recorded calls.
    pub(crate) fn set_thresholds(&self, thresholds: Thresholds) {
        self.limits.set_thresholds(thresholds);
        self.update_hot_settings();
    }

    /// Sets the kernel's `tracing_thresh`, in ns; 0 means none.
    pub(crate) fn set_tracing_thresh(&self, ns: u64) {
        self.limits.set_tracing_thresh(ns);
        self.update_hot_settings();
    }

    /// Sets whether an event of the trace array is enabled.
    pub(crate) fn set_has_events(&self, any: bool) {
        self.has_events.store(any, Relaxed);
        self.update_hot_settings();
    }

    /// Derives the values that the hot paths read from the options, limits and events.
    fn update_hot_settings(&self) {
        const STANDARD: u32 = option::MORE_AT_CALL;
        let flags = self.flags();
        let packs = flags & (option::COMPACT | STANDARD) == option::COMPACT;
        let when = match self.limits.least_ns() {
            0 if packs && !self.has_events.load(Relaxed) => When::IfNeeded,
            0 if packs => When::AtCallPacked,
            0 => When::AtCall,
            _ => When::IfLong,
        };
        self.when.store(when as u32, Relaxed);
        let below = match self.limits.max_depth() {
            _ if flags & option::IRQS == 0 => 0,
            0 => i32::MAX as u32,
            depth => depth,
        };
        self.plain_below.store(below, Relaxed);
    }

    /// Returns when the entries of calls are written, as a [`When`].
    pub(crate) fn when(&self) -> &Atomic<u32> {
        &self.when
    }

    /// Returns the depth below which options and limits exclude no call. Calls at this depth or
    /// deeper must be checked one by one.
    pub(crate) fn plain_below(&self) -> &Atomic<u32> {
        &self.plain_below
    }

    /// Writes an item to a packed record, if it can be packed. Preemption must be off; any context.
    #[inline]
    pub(crate) fn pack(&self, tr: &TraceArray, context: Context, item: &Item) -> PackResult {
        let kind = events::funcgraph_pack::kind();
        self.packer.write(tr, kind, context, item)
    }

    /// Returns the packer of function entries, if they are packed without further data.
    pub(crate) fn packer(&self) -> Option<&Packer> {
        const MORE: u32 = option::ARGS | option::STACKTRACE | option::SEES_CALLS;
        let flags = self.flags();
        (flags & (option::COMPACT | MORE) == option::COMPACT).then_some(&self.packer)
    }

    /// Returns the packer of calls, if they are packed without further data.
    pub(crate) fn call_packer(&self) -> Option<&Packer> {
        const MORE: u32 = option::RETVAL;
        let flags = self.flags();
        (flags & (option::COMPACT | MORE) == option::COMPACT).then_some(&self.packer)
    }

    /// Returns the current options.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.flags.read_once()
    }

    /// Returns the limits that calls must meet.
    #[inline]
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the value of a counter.
    pub(crate) fn count(&self, what: Count) -> u64 {
        let elsewhere = match what {
            Count::Functions => self.packer.functions(),
            Count::Entries => self.packer.begins(),
            Count::Returns => self.packer.returns(),
            Count::NoRoom => self.packer.lost(),
            _ => 0,
        };
        self.counters.sum(what as usize).wrapping_add(elsewhere)
    }

    /// Increments a counter. Any context.
    #[inline]
    pub(crate) fn add(&self, what: Count) {
        self.counters.inc(what as usize);
    }

    /// Adds `n` to a counter. Any context.
    pub(crate) fn add_n(&self, what: Count, n: u64) {
        self.counters.add(what as usize, n);
    }

    /// Counts a record for `tr` that was not written, unless recording is turned off there.
    #[cold]
    pub(crate) fn not_written(&self, tr: &TraceArray) {
        if record::is_recording(tr) {
            self.add(Count::NoRoom);
        }
    }

    /// Writes a function entry to a packed record. Returns false if it cannot be packed.
    #[inline(never)]
    fn pack_function(&self, call: &FunctionCall<'_>) -> bool {
        let item = Item::Function {
            ip: call.ip,
            parent_ip: call.parent_ip(),
        };
        match self.pack(call.tr(), call.context, &item) {
            // The packer has counted it.
            PackResult::Packed => {}
            PackResult::NotWritten => self.not_written(call.tr()),
            PackResult::Fallback => return false,
        }
        true
    }

    /// Records a call without further data.
    #[inline(always)]
    fn record(&self, call: &FunctionCall<'_>, flags: u32) {
        if flags & option::COMPACT != 0 && self.pack_function(&call.reborrow()) {
            return;
        }
        match function_records::function(call, 0) {
            Ok(()) => self.add(Count::Functions),
            Err(NotWritten) => self.not_written(call.tr()),
        }
    }

    /// Records a call with everything that the options request.
    #[cold]
    fn record_more(&self, call: &FunctionCall<'_>, flags: u32) {
        if flags & option::SEES_CALLS != 0 {
            self.see(&SeenCall {
                tr: call.tr(),
                task: call.task(),
                context: call.context,
                place: Place {
                    func: call.ip,
                    caller: call.parent_ip(),
                },
                is_call: true,
                stack: call.stack(),
                preemption_off: call.preemption_off(),
            });
        }
        if flags & (option::ARGS | option::STACKTRACE) == 0 {
            return self.record(call, flags);
        }
        let words = if flags & option::ARGS != 0 {
            MAX_ARGS
        } else {
            0
        };
        match function_records::function(call, words) {
            Ok(()) => self.add(Count::Functions),
            Err(NotWritten) => return self.not_written(call.tr()),
        }
        if flags & option::STACKTRACE == 0 {
            return;
        }
        match function_records::stack(call) {
            Ok(cut) => {
                self.add(Count::Stacks);
                if cut {
                    self.add(Count::StackCut);
                }
            }
            Err(NotWritten) => self.not_written(call.tr()),
        }
    }
}

impl FunctionHook for Recorder {
    #[inline]
    fn entry(&self, call: &FunctionCall<'_>) {
        let flags = self.flags();
        if flags & (option::ARGS | option::STACKTRACE | option::SEES_CALLS) != 0 {
            return self.record_more(&call.reborrow(), flags);
        }
        self.record(call, flags);
    }

    #[cold]
    fn recursed(&self) {
        self.add(Count::Recursion);
    }
}
