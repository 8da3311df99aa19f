// SPDX-License-Identifier: GPL-2.0

//! Where a trace array keeps the flags of a tracer's options: each array has flags of its own, whatever
//! kernel it is.
//!
//! C header: `kernel/trace/trace.h`.
//!
//! Newer kernels have a list of tracers in each trace array, and the flags there (`list.rs`). Older ones have one
//! set of flags for a tracer, but option files that may point elsewhere: there the flags lie with the
//! files (`table.rs`), and `trace_options` does not show them.

#[cfg(has_tracers)]
#[path = "list.rs"]
mod place;

#[cfg(not(has_tracers))]
#[path = "table.rs"]
mod place;

pub(super) use self::place::{
    current,
    find,
    provide,
    publish,
    remove, //
};
