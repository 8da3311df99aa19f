// SPDX-License-Identifier: GPL-2.0

//! Names of values or bits.

use core::ffi::CStr;

/// The names of values or bits, for `__print_symbolic()` and `__print_flags()`.
pub type ValueNames = &'static [(u64, &'static CStr)];

/// Returns the name of a value; `?` if it has none.
pub fn name_of(value: u64, names: ValueNames) -> &'static str {
    let name = names.iter().find(|(number, _)| *number == value);
    name.and_then(|(_, name)| name.to_str().ok()).unwrap_or("?")
}
