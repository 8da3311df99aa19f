// SPDX-License-Identifier: GPL-2.0

//! Trace events that are defined in Rust.
//!
//! C headers: `include/linux/tracepoint.h`, `include/linux/trace_events.h`.
//! [`trace_event!`](crate::trace_event) is the equivalent of `TRACE_EVENT()`.
//!
//! # Implementation
//!
//! An event consists of several statics, which the module loader finds by their sections, and
//! functions that these statics refer to: a tracepoint (`__tracepoints_ptrs`), a
//! `struct trace_event_call` (`_ftrace_events`) of a class, and a raw tracepoint for BPF
//! (`__bpf_raw_tp_map`). Users can see and enable the event as soon as the module is being loaded,
//! before the module's own initialisation.
//!
//! # Lifetimes
//!
//! Before the kernel frees a module, it disables the module's events, removes them from tracefs and
//! clears the ring buffers that may contain their records (`trace_module_remove_events()`). This
//! happens after the module's own exit, so an event may be enabled and disabled when nothing else
//! of the module exists any more. The kernel clears only buffers in which such an event was
//! enabled, and not for offline CPUs. The module itself clears the buffers of these CPUs, and the
//! buffers that contain records of events that are written directly and cannot be enabled
//! ([`TraceArray::clear_records`](super::array::trace_array::TraceArray::clear_records)).
//!
//! # Types
//!
//! The layouts come from the target's BTF, as for all private types. The module loader reads the
//! statics before the module's own check of the layouts
//! ([`resolve()`](super::resolve::resolve)) has run, as it does with the events of any
//! module. The types are public ones, which the kernel's version magic protects to the same extent
//! as in C.

pub mod class;
pub mod direct;
pub mod field;
pub mod format;
pub mod layout;
pub mod record;
pub mod show;
pub mod sink;
pub mod text;
pub mod tracepoint;
pub mod users;

mod macros;
pub use macros::{
    trace_event,
    trace_event_class,
    trace_symbols, //
};
