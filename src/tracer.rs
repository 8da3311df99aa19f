// SPDX-License-Identifier: GPL-2.0

//! The tracer `ferrotrace` in `available_tracers`.

use core::ffi::CStr;

use kernel::prelude::*;

use crate::{
    arrays::STATE,
    events,
    ktrace::{
        array::trace_array::TraceArray,
        output::{
            iter::Line,
            printed::Printed,
            tracer::{
                Columns,
                TraceHeader,
                Tracer, //
            },
        },
    },
    option,
    show::{
        self,
        CpuLines, //
    },
};

/// The tracer; its callbacks forward to [`STATE`] and to [`show`].
pub(crate) struct FerrotraceTracer;

impl Tracer for FerrotraceTracer {
    const NAME: &'static CStr = c"ferrotrace";

    const OPTIONS: &'static [&'static CStr] = option::NAMES;

    const DEFAULT_OPTIONS: u32 = option::DEFAULT;

    type Reading = CpuLines;

    fn pack_kind() -> u32 {
        events::funcgraph_pack::kind()
    }

    fn print(line: &mut Line<'_>, readings: Option<&mut [CpuLines]>, cpu: usize) -> Printed {
        show::print(line, readings, cpu)
    }

    fn head(options: u32) -> TraceHeader {
        let has = |bit| options & bit != 0;
        match has(option::GRAPH) {
            false => TraceHeader::Default,
            true => TraceHeader::Graph(Columns {
                cpu: has(option::CPU),
                proc: has(option::PROC),
                duration: has(option::DURATION),
                abstime: has(option::ABSTIME),
                reltime: has(option::RELTIME),
            }),
        }
    }

    fn init(tr: &TraceArray, flags: u32) -> Result {
        STATE.lock().as_mut().ok_or(ENODEV)?.start(tr, flags)
    }

    fn reset(tr: &TraceArray) {
        if let Some(state) = STATE.lock().as_mut() {
            state.stop(tr);
        }
    }

    fn thresh_changed(tr: &TraceArray) {
        if let Some(state) = STATE.lock().as_mut() {
            state.sync_tracing_thresh(tr);
        }
    }

    fn set_options(tr: &TraceArray, flags: u32) -> Result {
        match STATE.lock().as_mut() {
            Some(state) => state.set_options(tr, flags),
            None => Ok(()),
        }
    }
}
