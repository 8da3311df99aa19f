// SPDX-License-Identifier: GPL-2.0

//! The private types of the target kernel.
//!
//! `abi.list` names the types, and the build generates them from the BTF of the target kernel (see
//! `Kbuild`).

pub(crate) use self::generated::*;

use core::ffi::CStr;

use pin_init::Zeroable;

use super::btf::BtfItem;

/// The identity and fingerprint of a type or function in the target kernel.
pub struct Fingerprint {
    /// The kind of item.
    pub item: BtfItem,
    /// The name in BTF.
    pub name: &'static CStr,
    /// The BTF type ID in the target kernel. Another kernel may use other IDs, so this is only
    /// where the search starts.
    pub id: u32,
    /// The hash that [`super::btf::Indexed::fingerprint`] computes.
    pub hash: u64,
}

/// Returns the fingerprints of all items that `abi.list` names.
pub fn fingerprints() -> &'static [Fingerprint] {
    fingerprints::FINGERPRINTS
}

/// Implements [`Zeroable`] for types that this module fills in and passes to the kernel. (A
/// generated `Default` for every type would make up a third of the module as unused code.)
macro_rules! zeroable {
    ($($name:ident),*) => {$(
        // SAFETY: The type consists of numbers, pointers, optional functions, and structs of these,
        // all of which may be zero.
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
    use super::BtfItem;
    include!(concat!(env!("KTRACE_GENERATED"), "/fingerprints.rs"));
}

// Generated code keeps the names of C and has many items that are not used and not documented.
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
