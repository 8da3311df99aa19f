// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions of the kernel's tracing infrastructure.
//!
//! Nothing in this folder depends on ferrotrace, so that other modules could use it unchanged. All
//! unsafe code of the project is in this folder; the code outside of it is safe Rust.
//!
//! The kernel offers little of this to modules. Types that the kernel keeps private are read from
//! the target's BTF ([`abi`]), and functions that it does not export are looked up in kallsyms
//! ([`symbols`]). Both are checked when the module is loaded, before the module changes anything
//! ([`resolve::resolve`]).

pub mod abi;
mod ago;
pub mod alternate;
mod array_options;
pub mod atomic;
pub mod btf;
pub mod clock;
pub mod compact;
pub mod context;
pub mod counter;
pub mod counters;
mod cstr;
pub mod error_log;
pub mod escape;
pub mod event;
pub mod fgraph;
pub mod follow;
pub mod ftrace_ops;
pub mod function_records;
pub mod gate;
pub mod global;
pub mod instances;
pub mod iter;
mod list;
pub mod live;
pub mod markers;
pub mod modules;
pub mod names;
pub mod once;
pub mod pid_map;
pub mod printed;
pub mod published;
pub mod quiesce;
pub mod records;
pub mod resolve;
mod ring_buffer;
pub mod sched;
pub mod seq;
mod shared;
pub mod symbols;
pub mod task;
pub mod trace_array;
mod trace_options;
pub mod tracefs;
pub mod tracer;
pub mod value_names;
