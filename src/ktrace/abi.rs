// SPDX-License-Identifier: GPL-2.0

//! The private types of the kernel that this module is built for.
//!
//! Nothing here is written by hand: `abi.list` names the types, the build takes them from the BTF
//! of the target kernel. See `Kbuild`.

pub(crate) use self::generated::*;

use core::ffi::CStr;

use pin_init::Zeroable;

use super::btf::Item;

/// What a type or a function's prototype looked like in the kernel that the module was built for.
pub struct Fingerprint {
    /// What it is.
    pub item: Item,
    /// Its name in BTF.
    pub name: &'static CStr,
    /// Its id there. A kernel may number its types otherwise: where to look first.
    pub id: u32,
    /// As [`super::btf::Indexed::fingerprint`] computes it.
    pub hash: u64,
}

/// All that `abi.list` names.
pub fn fingerprints() -> &'static [Fingerprint] {
    fingerprints::FINGERPRINTS
}

/// The types that are filled in here before the kernel sees them. (With a `Default` for each type that there is,
/// a third of the module would be code that nobody calls.)
macro_rules! zeroable {
    ($($name:ident),*) => {$(
        // SAFETY: Made of numbers, pointers, functions that are optional, and structs of these: all may be zero.
        unsafe impl Zeroable for $name {}
    )*};
}

zeroable!(
    fgraph_ops,
    ftrace_ops,
    trace_event_buffer,
    tracer,
    tracer_flags,
    tracer_opt
);

mod fingerprints {
    use super::Item;
    include!(concat!(env!("KTRACE_GENERATED"), "/fingerprints.rs"));
}

// Generated code keeps to C's names and offers more than is used here, too much to be documented.
#[doc(hidden)]
#[allow(
    clippy::all,
    clippy::cast_lossless,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    improper_ctypes,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_op_in_unsafe_fn
)]
mod generated {
    use kernel::ffi;
    include!(concat!(env!("KTRACE_GENERATED"), "/abi.rs"));
}
