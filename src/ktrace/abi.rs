// SPDX-License-Identifier: GPL-2.0

//! The private types of the kernel that this module is built for.
//!
//! Nothing here is written by hand: `abi.list` names the types, the build takes them from the BTF
//! of the target kernel. See `Kbuild`.

pub(crate) use self::generated::*;

use core::ffi::CStr;

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
