// SPDX-License-Identifier: GPL-2.0

//! Trace events, defined in Rust.
//!
//! C headers: `include/linux/tracepoint.h`, `include/linux/trace_events.h`; what
//! [`trace_event!`](crate::trace_event) does is what `TRACE_EVENT()` does there.
//!
//! # How it is made
//!
//! An event is a handful of statics that the module loader finds by their sections, and functions
//! that the kernel finds in them: a tracepoint (`__tracepoints_ptrs`), a call
//! (`_ftrace_events`) of a class, and a raw tracepoint for BPF (`__bpf_raw_tp_map`). From the moment
//! the module is being loaded, before its own initialisation, users may see the event and turn it
//! on.
//!
//! # Lifetimes
//!
//! The kernel turns a module's events off, takes them out of tracefs and empties the ring buffers
//! they may be in before it frees the module (`trace_module_remove_events()`); that is after the
//! module's own exit, so an event may be turned on and off when nothing else of the module is left.
//! Buffers it empties where such an event was on, but for CPUs that are away; for these, and for events that are
//! written by hand and cannot be turned on, the module does it ([`TraceArray::forget_records`](super::trace_array::TraceArray::forget_records)).
//!
//! # Types
//!
//! The layouts come from the target's BTF as all private types do. The loader looks at the statics
//! before the module's own check of those ([`symbols::resolve`](super::symbols::resolve)) has run,
//! as it does with the events of any module; they are public types, about which the kernel's
//! version magic says as much as it says for C.

pub mod class;
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
