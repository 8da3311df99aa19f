// SPDX-License-Identifier: GPL-2.0

//! Access to parts of the kernel that modules cannot use: private types, functions that are not
//! exported, and the names of functions.

pub mod abi;
pub mod btf;
pub(in crate::ktrace) mod callbacks;
pub(in crate::ktrace) mod cstr_ext;
pub(in crate::ktrace) mod list;
pub mod modules;
pub(in crate::ktrace) mod ring_buffer;
pub mod symbols;
pub(in crate::ktrace) mod trace_options;
pub(in crate::ktrace) mod trace_seq;
pub(in crate::ktrace) mod zalloc;
