// SPDX-License-Identifier: GPL-2.0

//! Output of arrays, whose length is fixed or different in each record.

use core::mem::size_of;

use kernel::prelude::*;

use super::{
    printer::Printer,
    Dynamic,
    Items,
    Show, //
};
use crate::ktrace::{
    event::{
        field::{
            DynArray,
            Integer, //
        },
        format::{
            Expression,
            Family, //
        },
    },
    private::abi, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_print_array_seq(
        p: *mut abi::trace_seq,
        buf: *const c_void,
        count: c_int,
        el_size: usize,
    ) -> *const c_char;
}

impl<T: Integer, const N: usize> Items for [T; N] {
    const START: Expression = Expression::new().code("REC->").field();
    const BYTES: Expression = Expression::new().number(size_of::<T>() * N);
    const SIZE: usize = size_of::<T>();

    unsafe fn items(_: &Printer, stored: *const Self) -> (*const u8, usize) {
        (stored.cast(), size_of::<Self>())
    }
}

/// The C expression for the length of a dynamic field in bytes.
pub(super) const LEN: Expression = Expression::new()
    .code("__get_dynamic_array_len(")
    .field()
    .code(")");

impl<T: Integer + 'static> Items for DynArray<T> {
    const START: Expression = Expression::new()
        .code("__get_dynamic_array(")
        .field()
        .code(")");
    const BYTES: Expression = LEN;
    const SIZE: usize = size_of::<T>();

    unsafe fn items(printer: &Printer, stored: *const u32) -> (*const u8, usize) {
        // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the record.
        let (start, len) = unsafe { printer.dynamic(stored) };
        (start, len)
    }
}

macro_rules! show_items {
    ($([$($generic:tt)*] $type:ty;)*) => {$(
        // SAFETY: `trace_print_array_seq()` returns a C string.
        unsafe impl<$($generic)*> Show for $type {
            const FAMILY: Family = Family::Str;
            const EXPRESSION: Expression = Expression::new()
                .code("__print_array(")
                .then(Self::START)
                .code(", ")
                .then(Self::BYTES)
                .code(match size_of::<T>() {
                    1 => " / 1, 1)",
                    2 => " / 2, 2)",
                    4 => " / 4, 4)",
                    _ => " / 8, 8)",
                });
            type Value = *const c_char;

            unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> *const c_char {
                // SAFETY: The caller guarantees that `stored` is a field of this type in the
                // record, so `items()` returns as many bytes. The text is written to the iterator's
                // own buffer.
                unsafe {
                    let (items, bytes) = Self::items(printer, stored);
                    let count = bytes.checked_div(Self::SIZE).unwrap_or(0) as c_int;
                    trace_print_array_seq(printer.seq(), items.cast(), count, Self::SIZE)
                }
            }
        }
    )*};
}

show_items! {
    [T: Integer, const N: usize] [T; N];
    [T: Integer + 'static] DynArray<T>;
}

impl<T: Integer + 'static> Dynamic for DynArray<T> {}
