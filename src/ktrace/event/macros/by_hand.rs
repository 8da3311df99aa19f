// SPDX-License-Identifier: GPL-2.0

//! The part of [`trace_event!`](crate::trace_event) for an event that is written directly.

/// Defines an event that is written directly. Its class is in the same module.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_by_hand {
    (
        $class:ident $name:ident ($($arg:ident: $argtype:ty),+)
        {$($field:ident: $type:ty),+} $($how:ident)?
    ) => {
        #[link_section = "_ftrace_events"]
        #[used]
        static EVENT_REF: $crate::ktrace::event::class::EventRef =
            $crate::ktrace::event::class::EventRef(&EVENT);

        // SAFETY: The name and `PRINT_FMT` are static C strings, and `print()` is that of the
        // class.
        static EVENT: $crate::ktrace::event::class::Event = unsafe {
            $crate::ktrace::event::class::Event::by_hand(
                &$class::CLASS,
                concat!(stringify!($name), "\0").as_ptr(),
                $class::PRINT_FMT.as_ptr(),
                $class::print,
            )$(.$how())?
        };

        /// The content of the fixed part of a record.
        // Not all of these events are read again; the same is true of the next two functions.
        #[allow(dead_code)]
        #[derive(Clone, Copy)]
        pub struct Read {
            $(
                #[allow(missing_docs)]
                pub $field: <$type as $crate::ktrace::event::field::Field>::Stored,
            )+
        }

        /// Returns the content of a record if it is one of this event.
        #[allow(dead_code)]
        pub fn read(record: &$crate::ktrace::output::iter::Record<'_>) -> Option<Read> {
            let size = ::core::mem::size_of::<$class::Record>();
            let record: *const $class::Record = record.of(EVENT.kind(), size)?.cast();
            // SAFETY: The record is one of this event and has its size. Its content was stored by
            // `write()`.
            unsafe {
                Some(Read {
                    $($field: (&raw const (*record).$field)
                        .cast::<<$type as $crate::ktrace::event::field::Field>::Stored>()
                        .read_unaligned(),)+
                })
            }
        }

        /// Returns the event type number, with which the event's records start.
        #[allow(dead_code)]
        #[inline]
        pub fn kind() -> u32 {
            EVENT.kind()
        }

        $crate::__trace_event_write! { $class ($($arg: $argtype),+) }
    };
}

/// Defines the function that writes a record of the static `EVENT` directly.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_write {
    ($class:ident ($($arg:ident: $argtype:ty),+)) => {
        /// Writes a record to the buffer of one trace array, also if the event is not enabled
        /// there. Preemption must be off. Any context.
        // Most events with a tracepoint are never written like this.
        #[allow(dead_code)]
        #[inline]
        pub fn write(
            tr: &$crate::ktrace::array::trace_array::TraceArray,
            context: $crate::ktrace::record::context::Context,
            $($arg: $argtype),+
        ) -> ::core::result::Result<(), $crate::ktrace::record::NotWritten> {
            $crate::ktrace::event::direct::write(tr, EVENT.kind(), context, |sink| {
                $class::write(sink, $($arg),+)
            })
        }
    };
}
