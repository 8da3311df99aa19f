// SPDX-License-Identifier: GPL-2.0

//! A safe face on the kernel's tracing machinery.
//!
//! Everything in here could serve another module as it is: nothing knows what ferrotrace does. All
//! unsafe code of the project stands below this folder; what is built on it is safe Rust.
//!
//! The kernel offers little of this to modules. Types that it keeps private come from the target's
//! BTF ([`abi`]), functions that it does not export are found in kallsyms ([`symbols`]), and both
//! are checked when the module is loaded, before anything is touched ([`symbols::resolve`]).

pub mod abi;
mod ago;
pub mod alternate;
mod array_options;
pub mod atomic;
pub mod btf;
pub mod clock;
pub mod compact;
pub mod counters;
mod cstr;
pub mod error_log;
pub mod escape;
pub mod event;
pub mod fgraph;
pub mod ftrace_ops;
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
pub mod published;
pub mod records;
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
