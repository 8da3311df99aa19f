// SPDX-License-Identifier: GPL-2.0

//! Output of texts: strings, comms and sets of bits.

use kernel::prelude::*;

use super::{
    printer::Printer,
    Dynamic,
    Show, //
};
use crate::ktrace::{
    event::{
        field::{
            Bitmask,
            CpuSet,
            FixedStr,
            Str, //
        },
        format::{
            Expression,
            Family, //
        },
    },
    task::Comm, //
};

macro_rules! show_texts {
    ($([$($generic:tt)*] $type:ty;)*) => {$(
        // SAFETY: The value is a pointer to an array of bytes that ends with a zero.
        unsafe impl<$($generic)*> Show for $type {
            const FAMILY: Family = Family::Str;
            type Value = *const c_char;

            #[inline]
            unsafe fn value(_: &Printer, stored: *const Self::Stored) -> *const c_char {
                stored.cast()
            }
        }
    )*};
}

show_texts! {
    [const N: usize] FixedStr<N>;
}

// SAFETY: The value is a C string: an array of bytes that ends with a zero, or a text in the
// printer's buffer.
unsafe impl Show for Comm {
    const FAMILY: Family = Family::Str;
    type Value = *const c_char;

    #[inline]
    unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> *const c_char {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        let comm = Comm::new(&unsafe { stored.read_unaligned() });
        let escaped = comm.escaped();
        if escaped.as_bytes() == comm.as_bytes() {
            return stored.cast();
        }
        printer.text(escaped.as_bytes())
    }
}

// SAFETY: A string has at least one byte in every record, and `store()` ends it with a zero.
unsafe impl Show for Str {
    const FAMILY: Family = Family::Str;
    const EXPRESSION: Expression = Expression::new().code("__get_str(").field().code(")");
    type Value = *const c_char;

    #[inline]
    unsafe fn value(printer: &Printer, stored: *const u32) -> *const c_char {
        // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the record.
        unsafe { printer.dynamic(stored) }.0.cast()
    }
}

macro_rules! show_bits {
    ($($type:ty, $get:literal;)*) => {$(
        // SAFETY: `bitmask()` returns a C string.
        unsafe impl Show for $type {
            const FAMILY: Family = Family::Str;
            const EXPRESSION: Expression = Expression::new().code($get).field().code(")");
            type Value = *const c_char;

            unsafe fn value(printer: &Printer, stored: *const u32) -> *const c_char {
                // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the
                // record. `store()` has stored whole words there.
                unsafe {
                    let (bits, len) = printer.dynamic(stored);
                    printer.bitmask(bits, len)
                }
            }
        }
    )*};
}

show_bits! {
    Bitmask, "__get_bitmask(";
    CpuSet, "__get_cpumask(";
}

impl Dynamic for Str {}
impl Dynamic for Bitmask {}
impl Dynamic for CpuSet {}
