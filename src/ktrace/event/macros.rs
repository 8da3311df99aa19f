// SPDX-License-Identifier: GPL-2.0

//! The macros [`trace_event!`](crate::trace_event),
//! [`trace_event_class!`](crate::trace_event_class) and
//! [`trace_symbols!`](crate::trace_symbols).

/// Defines a trace event.
///
/// # Syntax
///
/// ```ignore
/// trace_event! {
///     system ferrotrace;
///
///     /// A task becomes runnable.
///     pub event task_wakeup(task: Task<'_>, target_cpu: u32);
///
///     record {
///         comm: Comm = task.comm(),
///         pid: Pid = Pid(task.pid()),
///         target_cpu: u32 = target_cpu,
///     }
///
///     print "comm={} pid={} target_cpu={:03}", comm, pid, target_cpu;
/// }
/// ```
///
/// This creates a module `task_wakeup` with the functions `trace(task, target_cpu)`, which fires
/// the event, and `is_enabled()`, which allows callers to skip preparations. While the event has no
/// listeners, `trace()` is a single no-op instruction, and even its arguments are not computed if
/// they have no side effects.
///
/// # Parts
///
/// * **Arguments**, one to twelve, are passed to listeners: those of other modules, BPF's raw
///   tracepoints, and probes in `dynamic_events`. Each is an integer, a pointer or a reference
///   ([`Arg`](crate::ktrace::event::tracepoint::Arg)). For probes in `dynamic_events`, each event
///   also needs a line of C; without it, the module does not link (`probestub.h`):
///   `KTRACE_PROBESTUB(task_wakeup, struct task_struct *task, u32 target_cpu)`.
/// * `counted as user;` makes listeners count as users, see [`users`](crate::ktrace::event::users).
/// * `about task;` names the argument of type [`Task`](crate::ktrace::task::Task) that the event is
///   about, if it may be another task than the current one. perf then delivers the event to the
///   perf events of that task instead of those of the current task. Not for events that fire in
///   NMIs.
/// * `only if |tr| condition;`, between the event and its record, is evaluated for each trace array
///   that has enabled the event: a record is written there only if the condition is true. For perf
///   and BPF, which have no trace array, it is not evaluated.
/// * `written by hand;` defines an event that cannot be enabled and has no listeners. Instead, the
///   module `task_wakeup` has a function `write(tr, context, task, target_cpu)`, which always
///   writes a record to one trace array. This is for events that accompany the records of a tracer.
/// * `printed item_by_item;`, after `written by hand;`, is for packed records
///   ([`compact`](crate::ktrace::compact)): the kernel prints one line for each of their items.
/// * **Fields** have the types in [`field`](crate::ktrace::event::field). Each is assigned an
///   expression of the arguments, which is evaluated once for each record that is written.
/// * **Output** is defined by one format string, from which the kernel's own output and the
///   `print fmt` of the `format` file are generated. Its arguments are fields, or one of the
///   [`ways`](crate::ktrace::event::show::ways) to print a field:
///
///   | argument | prints |
///   | --- | --- |
///   | `field` | the field in the usual way for its type |
///   | `symbolic(field, NAMES)` | the name of the value |
///   | `flags(field, c"\|", NAMES)` | the names of the bits |
///   | `hex(field)`, `hex_str(field)` | the bytes in hexadecimal, with spaces and without |
///   | `len(field)` | the length in bytes |
///
///   `NAMES` are [`Names`](crate::ktrace::value_names::Names).
///
/// # Context
///
/// `trace()` may be called in any context in which RCU is watching, including NMI, if the
/// expressions of the fields may be evaluated there.
#[macro_export]
macro_rules! trace_event {
    (
        system $system:ident;

        $(#[$meta:meta])*
        $vis:vis event $name:ident($($arg:ident: $argtype:ty),+ $(,)?);

        $(counted as $user:ident;)?
        $(about $about:ident;)?
        $(only if |$tr:ident| $condition:expr;)?

        record {
            $($field:ident: $type:ty = $value:expr),+ $(,)?
        }

        print $format:literal $(, $way:ident $( ( $($rest:tt)* ) )? )* ;
    ) => {
        $(#[$meta])*
        // Has the visibility of the module.
        #[allow(unreachable_pub)]
        $vis mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::trace_event! {
                @class $system $name ($($arg: $argtype),+) [$($about)?] [$($tr $condition)?]
                {$($field: $type = $value),+}
                $format [$( [ $way $( ( $($rest)* ) )? ] )*]
            }
            $crate::trace_event! { @event class $name ($($arg: $argtype),+) [$($user)?] }
        }
    };

    (
        system $system:ident;

        $(#[$meta:meta])*
        $vis:vis event $name:ident($($arg:ident: $argtype:ty),+ $(,)?);

        written by hand;
        $(printed $how:ident;)?

        record {
            $($field:ident: $type:ty = $value:expr),+ $(,)?
        }

        print $format:literal $(, $way:ident $( ( $($rest:tt)* ) )? )* ;
    ) => {
        $(#[$meta])*
        // Has the visibility of the module.
        #[allow(unreachable_pub)]
        $vis mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::trace_event! {
                @class $system $name ($($arg: $argtype),+) [] []
                {$($field: $type = $value),+}
                $format [$( [ $way $( ( $($rest)* ) )? ] )*] without_listeners
            }
            $crate::trace_event! {
                @by_hand class $name ($($arg: $argtype),+) {$($field: $type),+} $($how)?
            }
        }
    };

    // The common part of the events of a class.
    (
        @class $system:ident $name:ident ($($arg:ident: $argtype:ty),+)
        [$($about:ident)?] [$($tr:ident $condition:expr)?]
        {$($field:ident: $type:ty = $value:expr),+}
        $format:literal [$( [ $($shown:tt)+ ] )*] $($which:ident)?
    ) => {
        #[doc(hidden)]
        // Events that are written directly do not use all of it.
        #[allow(dead_code)]
        pub(super) mod class {
            #[allow(unused_imports)]
            use super::*;
            // A name that expressions in the declaration of an event do not use: they can see it
            // too.
            use $crate::ktrace::event as __event;

            /// The layout of a record in the buffer.
            #[repr(C)]
            pub struct Record {
                header: $crate::ktrace::private::abi::trace_entry,
                $(pub(super) $field: __event::field::Slot<$type>,)+
            }

            const FIELDS: usize = [$(stringify!($field)),+].len();
            static ALL_FIELDS: __event::class::Fields<{ FIELDS + 1 }> =
                __event::class::Fields(::core::cell::UnsafeCell::new([
                    $(__event::class::field(
                        const { &<$type as __event::field::Field>::SHAPE },
                        concat!(stringify!($field), "\0"),
                    ),)+
                    __event::class::end(),
                ]));

            // SAFETY: The arguments are the static's own address, a static C string, and the
            // listeners below, which have the prototype of the events' listeners.
            pub static CLASS: __event::class::Class = unsafe {
                __event::class::Class::new(
                    &raw const CLASS,
                    concat!(stringify!($system), "\0").as_ptr().cast(),
                    &ALL_FIELDS,
                    listener as *mut ::kernel::ffi::c_void,
                    perf_listener as *mut ::kernel::ffi::c_void,
                    $crate::trace_event!(@is_about $($about)?),
                )$(.$which())?
            };

            const ARGUMENTS: &[__event::format::Argument] = &[
                $($crate::trace_event!(@describe Record $($shown)+)),*
            ];
            const FOR_PRINTING: __event::text::Text =
                __event::format::for_printing($format, ARGUMENTS);
            const FOR_READERS: __event::text::Text =
                __event::format::for_readers($format, ARGUMENTS);
            static PRINT: [u8; FOR_PRINTING.len() + 1] = FOR_PRINTING.terminated();
            pub static PRINT_FMT: [u8; FOR_READERS.len() + 1] = FOR_READERS.terminated();

            /// Prints a record.
            ///
            /// # Safety
            ///
            /// `printer` must be at a record of this class.
            pub unsafe fn print(printer: &__event::show::printer::Printer) {
                let record: *mut Record = printer.record().cast();
                // SAFETY: The caller guarantees that the record is of this class. The format was
                // generated from the same arguments, so each value has the type that its conversion
                // takes.
                unsafe {
                    __event::show::printer::trace_event_printf(
                        printer.as_ptr(),
                        PRINT.as_ptr().cast(),
                        $($crate::trace_event!(@value printer record $($shown)+)),*
                    )
                }
            }

            /// Writes a record to `sink`.
            #[inline(always)]
            #[allow(unused_variables)]
            pub fn write(sink: &mut impl __event::sink::Sink, $($arg: $argtype),+) {
                let ($($field,)+): ($(<$type as __event::field::Field>::Source<'_>,)+) =
                    ($($value,)+);
                let mut layout = __event::layout::Layout::new::<Record>();
                $(
                    let wish = <$type as __event::field::Field>::wish($field);
                    let $field = ($field, layout.add(wish));
                )+
                let start = sink.reserve(layout.size());
                if start.is_null() {
                    return;
                }
                // SAFETY: The size of the layout was reserved, and no other code writes to the
                // reserved memory.
                unsafe {
                    let this: *mut Record = start.cast();
                    $(__event::record::store::<$type>(
                        start,
                        &raw mut (*this).$field,
                        $field.0,
                        $field.1,
                    );)+
                }
            }

            /// The listener that the kernel attaches for a trace array.
            ///
            /// # Safety
            ///
            /// Only for the kernel: `file` must be the `struct trace_event_file` that this was
            /// attached with.
            unsafe extern "C" fn listener(file: *mut ::kernel::ffi::c_void, $($arg: $argtype),+) {
                $(
                    // SAFETY: The kernel passes the data that this was attached with.
                    let $tr = unsafe { __event::sink::trace_array(file) };
                    if !$condition {
                        return;
                    }
                )?
                // SAFETY: The kernel passes the data that this was attached with, and the sink is
                // dropped before this returns.
                if let Some(mut sink) = unsafe { __event::sink::RingBuffer::new(file) } {
                    write(&mut sink, $($arg),+);
                }
            }

            /// The listener that the kernel attaches for perf.
            ///
            /// # Safety
            ///
            /// Only for the kernel: `call` must be the `struct trace_event_call` that this was
            /// attached with.
            #[cfg(CONFIG_PERF_EVENTS)]
            unsafe extern "C" fn perf_listener(
                call: *mut ::kernel::ffi::c_void,
                $($arg: $argtype),+
            ) {
                // SAFETY: The kernel passes the data that this was attached with, and the sink is
                // dropped before this returns. The class was created with the same decision on
                // whether its events are about a task.
                let sink = unsafe {
                    __event::sink::Perf::new(call, $crate::trace_event!(@about $($about)?))
                };
                if let Some(mut sink) = sink {
                    write(&mut sink, $($arg),+);
                }
            }

            #[cfg(not(CONFIG_PERF_EVENTS))]
            extern "C" fn perf_listener(_: *mut ::kernel::ffi::c_void, $(_: $argtype),+) {}

            /// The listener that BPF attaches for a raw tracepoint.
            ///
            /// # Safety
            ///
            /// Only for the kernel: `link` must be the link that BPF attached this with.
            #[cfg(CONFIG_BPF_EVENTS)]
            pub unsafe extern "C" fn bpf_listener(
                link: *mut ::kernel::ffi::c_void,
                $($arg: $argtype),+
            ) {
                // SAFETY: The kernel passes the link that BPF attached this with.
                unsafe {
                    __event::tracepoint::bpf::run(
                        link,
                        [$(__event::tracepoint::Arg::to_u64($arg)),+],
                    )
                }
            }

            pub const NR_ARGUMENTS: usize = [$(stringify!($arg)),+].len();
            const _: () = assert!(NR_ARGUMENTS <= 12, "a trace event has at most 12 arguments");

            /// Reports an error in an argument's type where the type is written.
            const _: () = {
                const fn can_be_passed<T: __event::tracepoint::Arg>() {}
                $(can_be_passed::<$argtype>();)+
            };
        }
    };

    // An event that is written directly. Its class is in the same module.
    (
        @by_hand $class:ident $name:ident ($($arg:ident: $argtype:ty),+)
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

        /// Writes a record to the buffer of a trace array. Preemption must be off. Any context.
        #[allow(dead_code)]
        #[inline]
        pub fn write(
            tr: &$crate::ktrace::array::trace_array::TraceArray,
            context: $crate::ktrace::record::context::Context,
            $($arg: $argtype),+
        ) -> ::core::result::Result<(), $crate::ktrace::record::NotWritten> {
            let mut sink =
                $crate::ktrace::event::direct::RecordSink::new(tr, EVENT.kind(), context);
            $class::write(&mut sink, $($arg),+);
            sink.done()
        }
    };

    // An event with a tracepoint. Its class is in the same module.
    (@event $class:ident $name:ident ($($arg:ident: $argtype:ty),+) [$($user:ident)?]) => {
        const _: () = {
            #[link_section = "_ftrace_events"]
            #[used]
            static EVENT_REF: $crate::ktrace::event::class::EventRef =
                $crate::ktrace::event::class::EventRef(&EVENT);

            // SAFETY: `PRINT_FMT` is a static C string, and `print()` is that of the class.
            static EVENT: $crate::ktrace::event::class::Event = unsafe {
                $crate::ktrace::event::class::Event::new(
                    &$class::CLASS,
                    &TRACEPOINT,
                    $class::PRINT_FMT.as_ptr(),
                    $class::print,
                )
            };

            #[cfg(CONFIG_BPF_EVENTS)]
            #[link_section = "__bpf_raw_tp_map"]
            #[used]
            // SAFETY: This is the listener of the class, which has the same arguments.
            static RAW_MAP: $crate::ktrace::event::tracepoint::RawMap = unsafe {
                $crate::ktrace::event::tracepoint::RawMap::new(
                    &TRACEPOINT,
                    $class::bpf_listener as *const ::kernel::ffi::c_void,
                    $class::NR_ARGUMENTS,
                )
            };
        };

        const NAME_LEN: usize = concat!(stringify!($name), "\0").len();
        #[link_section = "__tracepoints_strings"]
        static NAME: [u8; NAME_LEN] =
            $crate::ktrace::event::text::Text::new().str(stringify!($name)).terminated();

        #[link_section = "__tracepoints"]
        // SAFETY: `NAME` is a static C string, and both functions have the prototype of listeners.
        static TRACEPOINT: $crate::ktrace::event::tracepoint::Tracepoint = unsafe {
            $crate::ktrace::event::tracepoint::Tracepoint::new(
                NAME.as_ptr().cast(),
                iterator as *const ::kernel::ffi::c_void,
                probestub as *const ::kernel::ffi::c_void,
                $crate::trace_event!(@counted $($user)?),
            )
        };

        // The module loader finds the tracepoint through this section.
        ::core::arch::global_asm!(
            ".pushsection __tracepoints_ptrs, \"a\"",
            ".balign 4",
            ".long {} - .",
            ".popsection",
            sym TRACEPOINT,
        );

        /// Calls all listeners, for kernel code that fires this event.
        extern "C" fn iterator(
            _: *mut ::kernel::ffi::c_void,
            $($arg: $argtype),+
        ) -> ::kernel::ffi::c_int {
            fire($($arg),+);
            0
        }

        // Types that C does not know are passed as pointers.
        #[allow(improper_ctypes)]
        extern "C" {
            /// A listener that does nothing, which other tracers can hook: `KTRACE_PROBESTUB()`.
            #[link_name = concat!("__probestub_", stringify!($name))]
            fn probestub(_: *mut ::kernel::ffi::c_void, $(_: $argtype),+);
        }

        #[cold]
        #[inline(never)]
        fn fire($($arg: $argtype),+) {
            TRACEPOINT.for_each_listener(|func, data| {
                // Called directly: it is a C function, and where the kernel checks the types of
                // indirect calls (kCFI), its type may have a hash that Rust does not have.
                if func == probestub as *mut ::kernel::ffi::c_void {
                    // SAFETY: The function does nothing.
                    return unsafe { probestub(data, $($arg),+) };
                }
                // SAFETY: As for every tracepoint, the code that attaches a listener guarantees
                // that it has this prototype.
                unsafe {
                    let func: unsafe extern "C" fn(*mut ::kernel::ffi::c_void, $($argtype),+) =
                        ::core::mem::transmute(func);
                    func(data, $($arg),+)
                }
            });
        }

        /// Returns whether the event has listeners.
        #[inline(always)]
        pub fn is_enabled() -> bool {
            // SAFETY: `key` is a static key, as in C's tracepoints.
            unsafe {
                ::kernel::jump_label::static_branch_unlikely!(
                    TRACEPOINT,
                    $crate::ktrace::event::tracepoint::Tracepoint,
                    key
                )
            }
        }

        /// Fires the event.
        #[inline(always)]
        pub fn trace($($arg: $argtype),+) {
            if is_enabled() {
                fire($($arg),+);
            }
        }
    };

    (@is_about) => { false };
    (@is_about $about:ident) => { true };

    (@about) => { None };
    (@about $about:ident) => { Some($about) };

    (@counted) => { false };
    (@counted $user:ident) => { true };

    (@describe $record:ident $way:ident ($field:ident $(, $more:expr)*)) => {
        __event::show::ways::$way::describe(
            stringify!($field),
            |record: &$record| &record.$field
            $(, $more)*
        )
    };
    (@describe $record:ident $field:ident) => {
        $crate::trace_event!(@describe $record plain($field))
    };

    (@value $printer:ident $record:ident symbolic($field:ident, $names:expr)) => {{
        const NAMES: $crate::ktrace::value_names::Names = $names;
        static TABLE: __event::show::table::Table<{ NAMES.len() }> =
            __event::show::table::Table::new(NAMES);
        __event::show::ways::symbolic::value(
            $printer,
            &raw const (*$record).$field,
            TABLE.as_slice(),
        )
    }};
    (@value $printer:ident $record:ident flags($field:ident, $delimiter:expr, $names:expr)) => {{
        const NAMES: $crate::ktrace::value_names::Names = $names;
        static TABLE: __event::show::table::Table<{ NAMES.len() }> =
            __event::show::table::Table::new(NAMES);
        __event::show::ways::flags::value(
            $printer,
            &raw const (*$record).$field,
            $delimiter,
            TABLE.as_slice(),
        )
    }};
    (@value $printer:ident $record:ident $way:ident($field:ident)) => {
        __event::show::ways::$way::value($printer, &raw const (*$record).$field)
    };
    (@value $printer:ident $record:ident $field:ident) => {
        $crate::trace_event!(@value $printer $record plain($field))
    };
}

pub use trace_event;

/// Defines several trace events that share their arguments, their record and its output.
///
/// The parts are those of [`trace_event!`](crate::trace_event):
///
/// ```ignore
/// trace_event_class! {
///     system sample;
///
///     /// A thing and its number.
///     pub class thing(number: u32);
///
///     record {
///         number: u32 = number,
///     }
///
///     print "number={}", number;
///
///     events {
///         /// The thing was created.
///         thing_made;
///         /// The thing was removed.
///         thing_gone;
///     }
/// }
/// ```
///
/// This creates the modules `thing::thing_made` and `thing::thing_gone`, each with the functions
/// `trace(number)` and `is_enabled()`.
#[macro_export]
macro_rules! trace_event_class {
    (
        system $system:ident;

        $(#[$meta:meta])*
        $vis:vis class $name:ident($($arg:ident: $argtype:ty),+ $(,)?);

        $(counted as $user:ident;)?
        $(about $about:ident;)?
        $(only if |$tr:ident| $condition:expr;)?

        record {
            $($field:ident: $type:ty = $value:expr),+ $(,)?
        }

        print $format:literal $(, $way:ident $( ( $($rest:tt)* ) )? )* ;

        events {
            $($(#[$event_meta:meta])* $event:ident;)+
        }
    ) => {
        $(#[$meta])*
        // Has the visibility of the module.
        #[allow(unreachable_pub)]
        $vis mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::trace_event! {
                @class $system $name ($($arg: $argtype),+) [$($about)?] [$($tr $condition)?]
                {$($field: $type = $value),+}
                $format [$( [ $way $( ( $($rest)* ) )? ] )*]
            }
            $crate::trace_event_class! {
                @events ($($arg: $argtype),+) [$($user)?]
                $({ [$(#[$event_meta])*] $event })+
            }
        }
    };

    // Expanded one by one, because events and arguments have different numbers of repetitions.
    (@events $args:tt $user:tt) => {};
    (@events $args:tt $user:tt { [$($event_meta:tt)*] $event:ident } $($rest:tt)*) => {
        $($event_meta)*
        pub mod $event {
            #[allow(unused_imports)]
            use super::*;

            $crate::trace_event! { @event class $event $args $user }
        }
        $crate::trace_event_class! { @events $args $user $($rest)* }
    };
}
pub use trace_event_class;

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

            const NAMES: $crate::ktrace::value_names::Names = &[$(($value, $text)),+];
            static TABLE: show::table::Table<{ NAMES.len() }> = show::table::Table::new(NAMES);

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
