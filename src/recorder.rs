// SPDX-License-Identifier: GPL-2.0

//! What a trace array records and counts; and what happens when a traced function is called and
//! nothing but that is recorded: a hot path. [`crate::fgraph`] is the other one.
//!
//! The task has passed the gate already. One record is written, in the kernel's own form, and what
//! the options ask for.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use crate::{
    events,
    ktrace::{
        atomic::AtomicBool,
        compact::{
            pack::Outcome,
            packer::Packer,
            word::Item, //
        },
        counters::Counters,
        fgraph::When,
        ftrace_ops::{
            bind_function_hook,
            Call,
            FunctionHook,
            MAX_ARGS, //
        },
        once::Once,
        records::{
            self,
            Context,
            NotWritten, //
        },
        trace_array::TraceArray, //
    },
    limits::{
        Limits,
        Thresholds, //
    },
};

/// Options of the tracer, as bits of its flags.
pub(crate) mod option {
    use core::ffi::CStr;

    macro_rules! options {
        ($($(#[$meta:meta])* $name:ident = $text:literal, $default:literal;)*) => {
            options! { @bits 0; $($(#[$meta])* $name;)* }

            /// Their names below `options/`, in the order of the bits.
            pub(crate) const NAMES: &[&CStr] = &[$($text),*];

            /// Those that are on by default.
            pub(crate) const DEFAULT: u32 = $(($name * $default))|*;
        };
        (@bits $bit:expr;) => {};
        (@bits $bit:expr; $(#[$meta:meta])* $name:ident; $($rest:tt)*) => {
            $(#[$meta])*
            pub(crate) const $name: u32 = 1 << $bit;
            options! { @bits $bit + 1; $($rest)* }
        };
    }

    options! {
        /// The arguments of each call.
        ARGS = c"ferro-args", 0;
        /// A stack trace with each call, where only entries are recorded.
        STACKTRACE = c"ferro-stacktrace", 0;
        /// Calls and returns, not entries alone.
        GRAPH = c"ferro-graph", 1;
        /// Where the time of calls went that lost the CPU.
        TIMES = c"ferro-times", 1;
        /// How long calls and tasks took is added up in `ferrotrace/profile`, and calls not recorded.
        PROFILE = c"ferro-profile", 0;
        /// What functions return.
        RETVAL = c"ferro-retval", 0;
        /// The same in hexadecimal.
        RETVAL_HEX = c"ferro-retval-hex", 0;
        /// Where functions return to.
        RETADDR = c"ferro-retaddr", 0;
        /// Calls from hardware interrupts.
        IRQS = c"ferro-irqs", 1;
        /// Columns and comments of the output.
        CPU = c"ferro-cpu", 1;
        OVERHEAD = c"ferro-overhead", 1;
        PROC = c"ferro-proc", 1;
        DURATION = c"ferro-duration", 1;
        ABSTIME = c"ferro-abstime", 0;
        RELTIME = c"ferro-reltime", 0;
        TAIL = c"ferro-tail", 0;
        OVERRUN = c"ferro-overrun", 0;
        /// Many calls in one record.
        COMPACT = c"ferro-compact", 0;
    }

    /// What is known only when a call begins, and written with its entry.
    pub(crate) const MORE_AT_CALL: u32 = ARGS | RETADDR;
}

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Function entries that were recorded.
    Functions,
    /// Stack traces that were recorded.
    Stacks,
    /// Beginnings of calls that were recorded.
    Entries,
    /// Returns that were recorded.
    Returns,
    /// Records of where a call's time went.
    Times,
    /// Records that found no room in the ring buffer.
    NoRoom,
    /// Calls that came out of the recording of another one.
    Recursion,
    /// Stack traces that were cut off, being too deep.
    StackCut,
    /// Calls that found the shadow stack full.
    StackFull,
}

const COUNTS: usize = Count::StackFull as usize + 1;

/// The recording state of one trace array.
pub(crate) struct Recorder {
    flags: Atomic<u32>,
    /// See [`Recorder::when`].
    when: Atomic<u32>,
    /// See [`Recorder::plain_below`].
    plain_below: Atomic<u32>,
    /// Whether any event of the trace array is enabled, or may be.
    has_events: AtomicBool,
    limits: Limits,
    counters: Counters<COUNTS>,
    packer: Packer,
}

bind_function_hook!(Recorder);

impl Recorder {
    /// May sleep.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            flags: Atomic::new(0),
            when: Atomic::new(When::AtCall as u32),
            plain_below: Atomic::new(0),
            has_events: AtomicBool::new(false),
            limits: Limits::default(),
            counters: Counters::new()?,
            packer: Packer::new(),
        })
    }

    /// Sets the options. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if there is no memory for what they want; they are as before then.
    pub(crate) fn set_flags(&self, flags: u32) -> Result {
        if flags & option::COMPACT != 0 {
            self.packer.prepare()?;
        }
        self.flags.store(flags, Relaxed);
        self.settle();
        Ok(())
    }

    /// Recording is about to begin.
    pub(crate) fn begin(&self) {
        self.packer.choose_clock();
    }

    /// Sets how deep a call may be; 0 is no limit. Callers of this and of the other functions that set something here
    /// hold the lock of [`crate::arrays::STATE`].
    pub(crate) fn set_max_depth(&self, depth: u32) {
        self.limits.set_max_depth(depth);
        self.settle();
    }

    /// Sets how long calls must take.
    pub(crate) fn set_thresholds(&self, thresholds: Thresholds) {
        self.limits.set_thresholds(thresholds);
        self.settle();
    }

    /// Sets the kernel's own `tracing_thresh`, in ns; 0 is none.
    pub(crate) fn set_tracing_thresh(&self, ns: u64) {
        self.limits.set_tracing_thresh(ns);
        self.settle();
    }

    /// Sets whether any event of the trace array is enabled.
    pub(crate) fn set_has_events(&self, any: bool) {
        self.has_events.store(any, Relaxed);
        self.settle();
    }

    /// Derives what hot paths look at from options, limits and events.
    fn settle(&self) {
        const STANDARD: u32 = option::MORE_AT_CALL;
        let flags = self.flags();
        let packs = flags & (option::COMPACT | STANDARD) == option::COMPACT;
        let when = match self.limits.least_ns() {
            0 if packs && !self.has_events.load(Relaxed) => When::IfNeeded,
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

    /// When the entries of calls are written, as a [`When`].
    pub(crate) fn when(&self) -> &Atomic<u32> {
        &self.when
    }

    /// Calls that are less deep than this are traced as far as options and limits are concerned; others have to be
    /// looked at one by one.
    pub(crate) fn plain_below(&self) -> &Atomic<u32> {
        &self.plain_below
    }

    /// Writes what happens in compact form, if it can be written so. Preemption must be off; any
    /// context.
    #[inline]
    pub(crate) fn pack(&self, tr: &TraceArray, context: Context, item: &Item) -> Outcome {
        let kind = events::funcgraph_pack::kind();
        self.packer.write(tr, kind, context, item)
    }

    /// What functions are packed by, if nothing else is to be recorded of them.
    pub(crate) fn packer(&self) -> Option<&Packer> {
        const MORE: u32 = option::ARGS | option::STACKTRACE;
        let flags = self.flags();
        (flags & (option::COMPACT | MORE) == option::COMPACT).then_some(&self.packer)
    }

    /// What calls are packed by, if nothing else is to be recorded of them.
    pub(crate) fn call_packer(&self) -> Option<&Packer> {
        const MORE: u32 = option::RETVAL;
        let flags = self.flags();
        (flags & (option::COMPACT | MORE) == option::COMPACT).then_some(&self.packer)
    }

    /// The options.
    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.flags.read_once()
    }

    /// What calls have to be like.
    #[inline]
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A counter's value.
    pub(crate) fn count(&self, what: Count) -> u64 {
        let elsewhere = match what {
            Count::Functions => self.packer.functions(),
            Count::Returns => self.packer.calls(),
            Count::NoRoom => self.packer.lost(),
            _ => 0,
        };
        self.counters.sum(what as usize).wrapping_add(elsewhere)
    }

    /// Counts one. Any context.
    #[inline]
    pub(crate) fn add(&self, what: Count) {
        self.counters.inc(what as usize);
    }

    /// Counts several.
    pub(crate) fn add_n(&self, what: Count, n: u64) {
        self.counters.add(what as usize, n);
    }

    /// A record for `tr` was not written: counts it, if it was meant to be.
    #[cold]
    pub(crate) fn not_written(&self, tr: &TraceArray) {
        if records::is_recording(tr) {
            self.add(Count::NoRoom);
        }
    }

    /// Writes a call in compact form; false if it cannot be written so.
    #[inline(never)]
    fn pack_function(&self, call: &Call<'_>) -> bool {
        let item = Item::Function {
            ip: call.ip,
            parent_ip: call.parent_ip(),
        };
        match self.pack(call.tr(), call.context, &item) {
            // Counted where it was packed.
            Outcome::Packed => {}
            Outcome::NotWritten => self.not_written(call.tr()),
            Outcome::Other => return false,
        }
        true
    }

    /// A call is recorded with more than the kernel records by itself.
    #[cold]
    fn record_more(&self, call: &Call<'_>, flags: u32) {
        let words = if flags & option::ARGS != 0 {
            MAX_ARGS
        } else {
            0
        };
        match records::function(call, words) {
            Ok(()) => self.add(Count::Functions),
            Err(NotWritten) => return self.not_written(call.tr()),
        }
        if flags & option::STACKTRACE == 0 {
            return;
        }
        match records::stack(call) {
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
    fn called(&self, call: &Call<'_>) {
        let flags = self.flags();
        if flags & (option::ARGS | option::STACKTRACE) != 0 {
            return self.record_more(&call.again(), flags);
        }
        if flags & option::COMPACT != 0 && self.pack_function(&call.again()) {
            return;
        }
        match records::function(call, 0) {
            Ok(()) => self.add(Count::Functions),
            Err(NotWritten) => self.not_written(call.tr()),
        }
    }

    #[cold]
    fn recursed(&self) {
        self.add(Count::Recursion);
    }
}
