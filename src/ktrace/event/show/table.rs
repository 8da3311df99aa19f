// SPDX-License-Identifier: GPL-2.0

//! Names of values or bits, in the representation that the kernel's output functions take.

use crate::ktrace::{
    private::abi,
    value_names::ValueNames, //
};

/// Names of values or bits in the kernel's representation.
#[repr(transparent)]
pub struct FlagTable<const N: usize>([abi::trace_print_flags; N]);

// SAFETY: The table is constant, as are the strings that it points to.
unsafe impl<const N: usize> Sync for FlagTable<N> {}

impl<const N: usize> FlagTable<N> {
    /// Converts `names`. `N` must be their number.
    pub const fn new(names: ValueNames) -> Self {
        assert!(names.len() == N);
        let mut table = [const {
            abi::trace_print_flags {
                mask: 0,
                name: core::ptr::null(),
            }
        }; N];
        let mut i = 0;
        while i < N {
            table[i].mask = names[i].0 as kernel::ffi::c_ulong;
            table[i].name = names[i].1.to_bytes_with_nul().as_ptr();
            i += 1;
        }
        Self(table)
    }

    /// Returns the table as a slice.
    pub fn as_slice(&'static self) -> &'static [abi::trace_print_flags] {
        &self.0
    }
}
