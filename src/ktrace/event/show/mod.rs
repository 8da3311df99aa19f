// SPDX-License-Identifier: GPL-2.0

//! Output of fields. For each way to print a field, the files of this folder have the C expression
//! that readers of the `format` file evaluate, and the equivalent value for the kernel's output.

mod arrays;
mod integers;
pub mod printer;
pub mod table;
mod texts;
pub mod ways;

use super::{
    field::Field,
    format::{
        Expression,
        Family, //
    },
};
use printer::Printer;

/// A field that can be printed without a special way ([`ways`]).
///
/// # Safety
///
/// `value()` must return a value of the type that the conversion of `FAMILY` takes.
pub unsafe trait Show: Field {
    /// The conversion for the value.
    const FAMILY: Family;
    /// The C expression for the value.
    const EXPRESSION: Expression = Expression::new().code("REC->").field();

    /// The type that is passed to C's output function, after the promotions that C applies to
    /// `...`.
    type Value;

    /// Returns the value to print.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in the record that `printer` is at. It need not be aligned.
    unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> Self::Value;
}

/// A field with several items, for output functions that print items.
pub trait Items: Field {
    /// The C expression for the address of the items.
    const START: Expression;
    /// The C expression for the size of all items in bytes.
    const BYTES: Expression;
    /// The size of one item in bytes.
    const SIZE: usize;

    /// Returns the address of the items and their size in bytes.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in the record that `printer` is at. It need not be aligned.
    unsafe fn items(printer: &Printer, stored: *const Self::Stored) -> (*const u8, usize);
}

/// A field that is an integer, for output functions that need one.
pub trait AsInteger: Field {
    /// Returns the field as an `unsigned long`.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in a record. It need not be aligned.
    unsafe fn integer(stored: *const Self::Stored) -> usize;
}

/// A field in the dynamic part of the record, whose length may be different in each record.
pub trait Dynamic: Field<Stored = u32> {}
