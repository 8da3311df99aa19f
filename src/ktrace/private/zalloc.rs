// SPDX-License-Identifier: GPL-2.0

//! Memory that the kernel frees: structs of which the kernel becomes the owner.

use kernel::prelude::*;

extern "C" {
    /// Returns zeroed memory that `kfree()` frees, or null. May sleep; no other requirements.
    pub(in crate::ktrace) fn ktrace_zalloc(size: usize) -> *mut c_void;
}
