// SPDX-License-Identifier: GPL-2.0

//! The ways to print a field that an argument can select with `way(field, ...)`; `plain` is used if
//! it selects none. Each has two functions: `describe()` returns the argument for the format, and
//! `value()` returns the value to print.

use core::ffi::CStr;

use kernel::prelude::*;

use super::{
    arrays::LEN,
    printer::Printer,
    AsInteger,
    Dynamic,
    Items,
    Show, //
};
use crate::ktrace::{
    event::{
        field::StoredField,
        format::{
            Argument,
            Expression,
            Family, //
        },
    },
    private::{
        abi,
        cstr_ext::CStrExt, //
    },
    value_names::ValueNames, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_print_flags_seq(
        p: *mut abi::trace_seq,
        delim: *const c_char,
        flags: c_ulong,
        names: *const abi::trace_print_flags,
        size: usize,
    ) -> *const c_char;
    fn trace_print_hex_seq(
        p: *mut abi::trace_seq,
        buf: *const u8,
        len: c_int,
        concatenate: bool,
    ) -> *const c_char;
}

/// Returns the C expression for the name of a field's value.
pub const fn symbolic_expression(names: ValueNames) -> Expression {
    Expression::new()
        .code("__print_symbolic(REC->")
        .field()
        .names(names)
        .code(")")
}

/// A function from a record to one of its fields, which determines the type of the field.
pub type FieldPath<R, F> = fn(&R) -> &StoredField<F>;

/// Prints the field in the default format of its type.
pub mod plain {
    use super::{
        Argument,
        FieldPath,
        Printer,
        Show,
        StoredField, //
    };

    /// Returns the argument that prints the field in its default format.
    #[doc(hidden)]
    pub const fn describe<R, F: Show>(field: &'static str, _: FieldPath<R, F>) -> Argument {
        Argument::new(F::FAMILY, field, F::EXPRESSION)
    }

    /// Returns the value of the field, as the conversion of its default format takes it.
    ///
    /// # Safety
    ///
    /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
    #[doc(hidden)]
    pub unsafe fn value<F: Show>(printer: &Printer, slot: *const StoredField<F>) -> F::Value {
        // SAFETY: The caller guarantees what `Show::value()` requires; a `StoredField<F>` has the
        // layout of `F::Stored`.
        unsafe { F::value(printer, slot.cast()) }
    }
}

/// Prints the name of the field's value.
pub mod symbolic {
    use super::{
        abi,
        c_char,
        symbolic_expression,
        Argument,
        AsInteger,
        Family,
        FieldPath,
        Printer,
        StoredField, //
        ValueNames,
    };

    /// Returns the argument that prints the name of the field's value.
    #[doc(hidden)]
    pub const fn describe<R, F: AsInteger>(
        field: &'static str,
        _: FieldPath<R, F>,
        names: ValueNames,
    ) -> Argument {
        let expression = symbolic_expression(names);
        Argument::new(Family::Str, field, expression)
    }

    /// Returns the name of the field's value.
    ///
    /// # Safety
    ///
    /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
    #[doc(hidden)]
    pub unsafe fn value<F: AsInteger>(
        printer: &Printer,
        slot: *const StoredField<F>,
        names: &'static [abi::trace_print_flags],
    ) -> *const c_char {
        // SAFETY: The caller guarantees that `slot` is a field of this type in the record.
        printer.symbol(unsafe { F::integer(slot.cast()) }, names)
    }
}

/// Prints the names of the field's bits, with a delimiter.
pub mod flags {
    use super::{
        abi,
        c_char,
        trace_print_flags_seq,
        Argument,
        AsInteger,
        CStr,
        CStrExt,
        Expression,
        Family,
        FieldPath,
        Printer,
        StoredField, //
        ValueNames,
    };

    /// Returns the argument that prints the names of the field's bits.
    #[doc(hidden)]
    pub const fn describe<R, F: AsInteger>(
        field: &'static str,
        _: FieldPath<R, F>,
        delimiter: &'static CStr,
        names: ValueNames,
    ) -> Argument {
        let expression = Expression::new()
            .code("__print_flags(REC->")
            .field()
            .code(", ")
            .literal(delimiter)
            .names(names)
            .code(")");
        Argument::new(Family::Str, field, expression)
    }

    /// Returns the names of the field's bits.
    ///
    /// # Safety
    ///
    /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
    #[doc(hidden)]
    pub unsafe fn value<F: AsInteger>(
        printer: &Printer,
        slot: *const StoredField<F>,
        delimiter: &'static CStr,
        names: &'static [abi::trace_print_flags],
    ) -> *const c_char {
        let delimiter = delimiter.as_chars();
        // SAFETY: The caller guarantees that `slot` is a field of this type in the record. The
        // text is written to the iterator's own buffer.
        unsafe {
            let value = F::integer(slot.cast());
            let (names, len) = (names.as_ptr(), names.len());
            trace_print_flags_seq(printer.seq(), delimiter, value, names, len)
        }
    }
}

/// Defines a way to print bytes in hexadecimal.
macro_rules! hexadecimal {
    ($(#[$meta:meta])* $way:ident, $function:literal, $concatenate:literal) => {
        $(#[$meta])*
        pub mod $way {
            use super::{
                c_char,
                c_int,
                trace_print_hex_seq,
                Argument,
                Expression,
                Family,
                Items,
                FieldPath,
                Printer,
                StoredField, //
            };

            /// Returns the argument that prints the field's bytes in hexadecimal.
            #[doc(hidden)]
            pub const fn describe<R, F: Items>(
                field: &'static str,
                _: FieldPath<R, F>,
            ) -> Argument {
                let expression = Expression::new()
                    .code($function)
                    .then(F::START)
                    .code(", ")
                    .then(F::BYTES)
                    .code(")");
                Argument::new(Family::Str, field, expression)
            }

            /// Returns the field's bytes in hexadecimal.
            ///
            /// # Safety
            ///
            /// `slot` must be this field in the record that `printer` is at. It need not be
            /// aligned.
            #[doc(hidden)]
            pub unsafe fn value<F: Items>(
                printer: &Printer,
                slot: *const StoredField<F>,
            ) -> *const c_char {
                // SAFETY: The caller guarantees that `slot` is a field of this type in the
                // record. The text is written to the iterator's own buffer.
                unsafe {
                    let (bytes, len) = F::items(printer, slot.cast());
                    trace_print_hex_seq(printer.seq(), bytes, len as c_int, $concatenate)
                }
            }
        }
    };
}

hexadecimal! {
    /// Prints the field's bytes in hexadecimal, with spaces between them.
    hex, "__print_hex(", false
}

hexadecimal! {
    /// Prints the field's bytes in hexadecimal, without spaces.
    hex_str, "__print_hex_str(", true
}

/// Prints the length of the field in bytes.
pub mod len {
    use super::{
        c_int,
        Argument,
        Dynamic,
        Family,
        FieldPath,
        Printer,
        StoredField,
        LEN, //
    };

    /// Returns the argument that prints the length of the field.
    #[doc(hidden)]
    pub const fn describe<R, F: Dynamic>(field: &'static str, _: FieldPath<R, F>) -> Argument {
        Argument::new(Family::Signed(""), field, LEN)
    }

    /// Returns the length of the field in bytes.
    ///
    /// # Safety
    ///
    /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
    #[doc(hidden)]
    pub unsafe fn value<F: Dynamic>(printer: &Printer, slot: *const StoredField<F>) -> c_int {
        // SAFETY: The caller guarantees that `slot` is a `__data_loc` field of the record.
        unsafe { printer.dynamic(slot.cast()) }.1 as c_int
    }
}
