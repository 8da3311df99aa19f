// SPDX-License-Identifier: GPL-2.0

//! Output of numbers: integers, booleans, ids of tasks and addresses.

use kernel::prelude::*;

use super::{
    printer::Printer,
    AsInteger,
    Show, //
};
use crate::ktrace::event::{
    field::{
        Address,
        Field,
        Integer,
        Pid, //
    },
    format::{
        Expression,
        Family, //
    },
};

macro_rules! show_integers {
    ($($type:ty => $value:ty, $family:expr;)*) => {$(
        // SAFETY: The conversion is that of the value's type.
        unsafe impl Show for $type {
            const FAMILY: Family = $family;
            type Value = $value;

            #[inline]
            unsafe fn value(_: &Printer, stored: *const $type) -> $value {
                // SAFETY: The caller guarantees that `stored` is a field of this type in the
                // record.
                <$value>::from(unsafe { stored.read_unaligned() })
            }
        }
    )*};
}

show_integers! {
    u8 => c_uint, Family::Unsigned("");
    u16 => c_uint, Family::Unsigned("");
    u32 => c_uint, Family::Unsigned("");
    u64 => u64, Family::Unsigned("ll");
    usize => usize, Family::Unsigned("l");
    i8 => c_int, Family::Signed("");
    i16 => c_int, Family::Signed("");
    i32 => c_int, Family::Signed("");
    i64 => i64, Family::Signed("ll");
    isize => isize, Family::Signed("l");
}

// SAFETY: A `bool` is passed as an `int`.
unsafe impl Show for bool {
    const FAMILY: Family = Family::Signed("");
    type Value = c_int;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const bool) -> c_int {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { bool::word(stored) as c_int }
    }
}

// SAFETY: A `pid_t` is passed as an `int`.
unsafe impl Show for Pid {
    const FAMILY: Family = Family::Signed("");
    type Value = c_int;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const Pid) -> c_int {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { stored.read_unaligned() }.0
    }
}

// SAFETY: `%pS` takes a pointer.
unsafe impl Show for Address {
    const FAMILY: Family = Family::Symbol;
    const EXPRESSION: Expression = Expression::new().code("(void *)REC->").field();
    type Value = *const c_void;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const Address) -> *const c_void {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { stored.read_unaligned() }.0 as *const c_void
    }
}

impl<T: Integer + Field<Stored = T>> AsInteger for T {
    #[inline]
    unsafe fn integer(stored: *const T) -> usize {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { T::word(stored) }
    }
}
