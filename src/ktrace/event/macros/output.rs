// SPDX-License-Identifier: GPL-2.0

//! The part of [`trace_event!`](crate::trace_event) for the arguments of `print`.

/// Returns the description of an argument for the format.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_describe {
    ($record:ident $way:ident ($field:ident $(, $more:expr)*)) => {
        __event::show::ways::$way::describe(
            stringify!($field),
            |record: &$record| &record.$field
            $(, $more)*
        )
    };
    ($record:ident $field:ident) => {
        $crate::__trace_event_describe!($record plain($field))
    };
}

/// Returns the value of an argument for the kernel's own output.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_value {
    ($printer:ident $record:ident symbolic($field:ident, $names:expr)) => {{
        const NAMES: $crate::ktrace::value_names::ValueNames = $names;
        static TABLE: __event::show::table::FlagTable<{ NAMES.len() }> =
            __event::show::table::FlagTable::new(NAMES);
        __event::show::ways::symbolic::value(
            $printer,
            &raw const (*$record).$field,
            TABLE.as_slice(),
        )
    }};
    ($printer:ident $record:ident flags($field:ident, $delimiter:expr, $names:expr)) => {{
        const NAMES: $crate::ktrace::value_names::ValueNames = $names;
        static TABLE: __event::show::table::FlagTable<{ NAMES.len() }> =
            __event::show::table::FlagTable::new(NAMES);
        __event::show::ways::flags::value(
            $printer,
            &raw const (*$record).$field,
            $delimiter,
            TABLE.as_slice(),
        )
    }};
    ($printer:ident $record:ident $way:ident($field:ident)) => {
        __event::show::ways::$way::value($printer, &raw const (*$record).$field)
    };
    ($printer:ident $record:ident $field:ident) => {
        $crate::__trace_event_value!($printer $record plain($field))
    };
}
