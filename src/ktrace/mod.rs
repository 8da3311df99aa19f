// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions of the kernel's tracing infrastructure.
//!
//! Nothing in this folder depends on ferrotrace, so that other modules could use it unchanged. All
//! unsafe code of the project is in this folder; the code outside of it is safe Rust.
//!
//! The kernel offers little of this to modules. Types that the kernel keeps private are read from
//! the target's BTF ([`private::abi`]), and functions that it does not export are looked up in
//! kallsyms ([`private::symbols`]). Both are checked when the module is loaded, before the module
//! changes anything ([`resolve::resolve`]).

pub mod array;
pub mod compact;
pub mod escape;
pub mod event;
pub mod fgraph;
pub mod hook;
pub mod output;
pub mod private;
pub mod record;
pub mod resolve;
mod shared;
pub mod sync;
pub mod task;
pub mod time;
pub mod value_names;
