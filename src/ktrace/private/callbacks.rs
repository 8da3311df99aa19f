// SPDX-License-Identifier: GPL-2.0

//! The types of functions in Rust that C calls through pointers.
//!
//! The build generates them from `src/ktrace/callbacks.h` (see `Kbuild`).

pub(in crate::ktrace) use self::generated::*;

// Generated code keeps the names of C.
#[allow(clippy::all, missing_docs, non_camel_case_types, unreachable_pub)]
mod generated {
    use kernel::{
        bindings::{
            module,
            task_struct, //
        },
        ffi, //
    };

    use super::super::abi::trace_iterator;

    include!(concat!(env!("KTRACE_GENERATED"), "/callbacks.rs"));
}
