// SPDX-License-Identifier: GPL-2.0

//! Names of values or bits.

use core::ffi::CStr;

/// The names of values or bits, for `__print_symbolic()` and `__print_flags()`.
pub type Names = &'static [(u64, &'static CStr)];
