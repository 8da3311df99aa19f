// SPDX-License-Identifier: GPL-2.0

//! Defines a tracer: an entry in `available_tracers` that can be written to `current_tracer`.

use core::ffi::CStr;

use kernel::prelude::*;

use super::{
    iter::Line,
    printed::Printed, //
};
use crate::ktrace::array::trace_array::TraceArray;

/// A tracer, as in `available_tracers`.
pub trait Tracer: Send + Sync + 'static {
    /// Its name in `available_tracers`.
    const NAME: &'static CStr;

    /// Its options in `options/`; option number `n` is bit `n` of the flags.
    const OPTIONS: &'static [&'static CStr];

    /// The options that are on at first, as flags.
    const DEFAULT_OPTIONS: u32;

    /// The state of a reader of a trace for a CPU; each reader has one for each possible CPU.
    type Reading: Default + Send + 'static;

    /// Returns the type number of its compact records ([`crate::ktrace::compact`]), or 0 if it
    /// writes none.
    fn pack_kind() -> u32 {
        // No record has this type number.
        0
    }

    /// Prints the current record, which was written on `cpu`.
    ///
    /// `readings` is the reader's state for each possible CPU. It is `None` if memory was short
    /// when the reader was opened, and while the kernel dumps the trace as it crashes; then this is
    /// called in any context.
    fn print(line: &mut Line<'_>, readings: Option<&mut [Self::Reading]>, cpu: usize) -> Printed;

    /// Returns the type of the trace's header, given the tracer's options.
    fn head(options: u32) -> TraceHeader;

    /// Makes the tracer the current one of `tr`, where its options are `flags`. Called only after
    /// it was attached there. Under `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// The write to `current_tracer` returns the error; nothing may be left behind.
    fn init(tr: &TraceArray, flags: u32) -> Result;

    /// Ends the tracer's use as the current one of `tr`. Under `trace_types_lock`.
    fn reset(tr: &TraceArray);

    /// Reacts to a new value of `tracing_thresh`, while the tracer is current in `tr`, the top
    /// trace array. Under `trace_types_lock`.
    fn thresh_changed(_tr: &TraceArray) {}

    /// Changes the options of `tr` to `flags`, whether the tracer is current there or not. Under
    /// `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// The write to the option returns the error; the option does not change.
    fn set_options(tr: &TraceArray, flags: u32) -> Result;
}

/// The header of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceHeader {
    /// That of the function tracer.
    Default,
    /// That of the function graph tracer, with these columns.
    Graph(Columns),
}

/// Columns of the call graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are named as the kernel's options are")]
pub struct Columns {
    pub cpu: bool,
    pub proc: bool,
    pub duration: bool,
    pub abstime: bool,
    pub reltime: bool,
}

impl Columns {
    /// Returns the flags of the kernel's function graph tracer for these columns
    /// (`TRACE_GRAPH_PRINT_*`).
    pub(super) fn flags(self) -> u32 {
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        bit(self.cpu, 0x2)
            | bit(self.proc, 0x8)
            | bit(self.duration, 0x10)
            | bit(self.abstime, 0x20)
            | bit(self.reltime, 0x40)
    }
}
