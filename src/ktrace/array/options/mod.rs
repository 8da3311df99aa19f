// SPDX-License-Identifier: GPL-2.0

//! The flags of a tracer's options, with a separate set for each trace array on all kernels.
//!
//! C header: `kernel/trace/trace.h`.
//!
//! In newer kernels, each trace array has a list of tracers, which contains the flags (`list.rs`).
//! Older kernels have one set of flags for each tracer, but the option files can point to other
//! flags: in these kernels, the flags are stored next to the option files (`table.rs`), and
//! `trace_options` does not show them.

#[cfg(has_tracers)]
#[path = "list.rs"]
mod place;

#[cfg(not(has_tracers))]
#[path = "table.rs"]
mod place;

pub(in crate::ktrace) use self::place::{
    current,
    find,
    provide,
    publish,
    remove, //
};
