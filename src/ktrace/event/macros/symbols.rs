// SPDX-License-Identifier: GPL-2.0

//! The macro [`trace_symbols!`](crate::trace_symbols), which defines an enum for fields.

/// Defines an enum that can be the type of a trace event's field. It is stored as its integer and
/// printed with the given names.
///
/// ```ignore
/// trace_symbols! {
///     /// A direction.
///     pub enum Direction: u8 {
///         /// To the left.
///         Left = 0 => c"left",
///         /// To the right.
///         Right = 1 => c"right",
///     }
/// }
/// ```
#[macro_export]
macro_rules! trace_symbols {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $integer:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $value:literal => $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr($integer)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant = $value),+
        }

        const _: () = {
            use $crate::ktrace::event::{
                field,
                format,
                show,
                tracepoint, //
            };

            // SAFETY: The enum is passed like its integer type.
            unsafe impl tracepoint::Arg for $name {
                #[inline]
                fn to_u64(self) -> u64 {
                    tracepoint::Arg::to_u64(self as $integer)
                }
            }

            const NAMES: $crate::ktrace::value_names::ValueNames = &[$(($value, $text)),+];
            static TABLE: show::table::FlagTable<{ NAMES.len() }> =
                show::table::FlagTable::new(NAMES);

            // SAFETY: The enum is stored as its integer type.
            unsafe impl field::Field for $name {
                const SHAPE: field::FieldType = <$integer as field::Field>::SHAPE;
                type Stored = $integer;
                type Source<'a> = Self;

                #[inline]
                fn store(source: Self, _: &mut [u8], _: u32) -> $integer {
                    source as $integer
                }
            }

            // SAFETY: `symbol()` returns a C string.
            unsafe impl show::Show for $name {
                const FAMILY: format::Family = format::Family::Str;
                const EXPRESSION: format::Expression = show::ways::symbolic_expression(NAMES);
                type Value = *const ::kernel::ffi::c_char;

                unsafe fn value(
                    printer: &show::printer::Printer,
                    stored: *const $integer,
                ) -> *const ::kernel::ffi::c_char {
                    // SAFETY: The caller guarantees that `stored` is a field of this type in the
                    // record.
                    let value = unsafe { stored.read_unaligned() };
                    printer.symbol(value as usize, TABLE.as_slice())
                }
            }
        };
    };
}
pub use trace_symbols;
