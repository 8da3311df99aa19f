// SPDX-License-Identifier: GPL-2.0

//! The macros [`trace_event!`](crate::trace_event),
//! [`trace_event_class!`](crate::trace_event_class) and
//! [`trace_symbols!`](crate::trace_symbols).

/// Defines a trace event.
///
/// # What it looks like
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
/// That makes a module `task_wakeup` with `trace(task, target_cpu)`, which fires the event, and
/// `is_enabled()`, for when there is work to be done before. While nobody listens, `trace()` is one
/// no-op instruction, and not even its arguments are computed if they are free of side effects.
///
/// # Its parts
///
/// * **Arguments**, one to twelve, are what listeners are called with: those of other modules, BPF's
///   raw tracepoints, and probes in `dynamic_events`. Each is an integer, a pointer or a reference
///   ([`Arg`](crate::ktrace::event::tracepoint::Arg)). For such probes each event needs a line of C
///   as well, `KTRACE_PROBESTUB(task_wakeup, struct task_struct *task, u32 target_cpu)`, or the module
///   does not link (`probestub.h`).
/// * `counted as user;` makes who listens a user, as [`users`](crate::ktrace::event::users) has
///   them.
/// * `about task;` names the argument of type [`Task`](crate::ktrace::task::Task) that the event is
///   about, if that need not be the current task. perf then delivers the event to what it has opened
///   for that task, instead of for the current one. Not for events that fire in NMIs.
/// * `only if |tr| condition;`, between the event and its record, is asked for each trace array
///   that has the event on; without it, or if it holds, a record is written there. perf and BPF
///   have no trace array and are not asked.
/// * `written by hand;` instead makes an event that nobody can turn on or listen to: a module
///   `task_wakeup` with `write(tr, context, task, target_cpu)`, which writes a record to one trace
///   array, whoever wants it or not. For what goes with a tracer's records.
/// * `printed item_by_item;`, after `written by hand;`, is for records that are packs
///   ([`compact`](crate::ktrace::compact)): the kernel prints a line for each of their items.
/// * **Fields** have the types of [`field`](crate::ktrace::event::field). Each is assigned an
///   expression of the arguments, which is computed once for each record, and only then.
/// * **Printing** is told by one string, from which the kernel's own output and the `print fmt` of
///   the `format` file come. An argument of it is a field, or one of the
///   [`ways`](crate::ktrace::event::show::ways) to print it:
///
///   | argument | prints |
///   | --- | --- |
///   | `field` | what is usual for its type |
///   | `symbolic(field, NAMES)` | the name of its value |
///   | `flags(field, c"\|", NAMES)` | the names of its bits |
///   | `hex(field)`, `hex_str(field)` | bytes in hexadecimal, with spaces and without |
///   | `len(field)` | how many bytes there are |
///
///   `NAMES` are [`Names`](crate::ktrace::event::format::Names).
///
/// # Context
///
/// `trace()` may be called anywhere where RCU watches, NMIs included, as long as computing the
/// fields may.
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
        // As public as the module is.
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
        // As public as the module is.
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

    // What the events of one class share.
    (
        @class $system:ident $name:ident ($($arg:ident: $argtype:ty),+)
        [$($about:ident)?] [$($tr:ident $condition:expr)?]
        {$($field:ident: $type:ty = $value:expr),+}
        $format:literal [$( [ $($shown:tt)+ ] )*] $($which:ident)?
    ) => {
        #[doc(hidden)]
        // An event that is written by hand has no use for some of it.
        #[allow(dead_code)]
        pub(super) mod class {
            #[allow(unused_imports)]
            use super::*;
            // By a name that nobody else has: what is written in a declaration sees it too.
            use $crate::ktrace::event as __event;

            /// As it stands in the buffer.
            #[repr(C)]
            pub struct Record {
                header: $crate::ktrace::abi::trace_entry,
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

            // SAFETY: Its own address, a C string, and the listeners below.
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
            /// The printer must be at a record of this class.
            pub unsafe fn print(printer: &__event::show::Printer) {
                let record: *mut Record = printer.record().cast();
                // SAFETY: By the precondition. The format was made of the same arguments, so each
                // value is of the type that its conversion takes.
                unsafe {
                    __event::show::trace_event_printf(
                        printer.as_ptr(),
                        PRINT.as_ptr().cast(),
                        $($crate::trace_event!(@value printer record $($shown)+)),*
                    )
                }
            }

            /// Writes a record.
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
                // SAFETY: As many bytes as the layout says were reserved, and nobody else writes
                // to them.
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

            /// What the kernel attaches for a trace array.
            ///
            /// # Safety
            ///
            /// For the kernel, with the `struct trace_event_file` that it attached this with.
            unsafe extern "C" fn listener(file: *mut ::kernel::ffi::c_void, $($arg: $argtype),+) {
                $(
                    // SAFETY: The data that the kernel attached this with.
                    let $tr = unsafe { __event::sink::trace_array(file) };
                    if !$condition {
                        return;
                    }
                )?
                // SAFETY: As above.
                if let Some(mut sink) = unsafe { __event::sink::RingBuffer::new(file) } {
                    write(&mut sink, $($arg),+);
                }
            }

            /// What the kernel attaches for perf.
            ///
            /// # Safety
            ///
            /// For the kernel, with the `struct trace_event_call` that it attached this with.
            #[cfg(CONFIG_PERF_EVENTS)]
            unsafe extern "C" fn perf_listener(
                call: *mut ::kernel::ffi::c_void,
                $($arg: $argtype),+
            ) {
                // SAFETY: The data that the kernel attached this with. The class was made with the
                // same answer to whether its events are about a task.
                let sink = unsafe {
                    __event::sink::Perf::new(call, $crate::trace_event!(@about $($about)?))
                };
                if let Some(mut sink) = sink {
                    write(&mut sink, $($arg),+);
                }
            }

            #[cfg(not(CONFIG_PERF_EVENTS))]
            extern "C" fn perf_listener(_: *mut ::kernel::ffi::c_void, $(_: $argtype),+) {}

            /// What BPF attaches for a raw tracepoint.
            ///
            /// # Safety
            ///
            /// For the kernel, with the link that BPF attached this with.
            #[cfg(CONFIG_BPF_EVENTS)]
            pub unsafe extern "C" fn bpf_listener(
                link: *mut ::kernel::ffi::c_void,
                $($arg: $argtype),+
            ) {
                // SAFETY: The data that BPF attached this with.
                unsafe {
                    __event::tracepoint::bpf::run(
                        link,
                        [$(__event::tracepoint::Arg::to_u64($arg)),+],
                    )
                }
            }

            pub const NR_ARGUMENTS: usize = [$(stringify!($arg)),+].len();
            const _: () = assert!(NR_ARGUMENTS <= 12, "a trace event has at most 12 arguments");

            /// So that what is wrong with an argument's type is said where it is written.
            const _: () = {
                const fn can_be_passed<T: __event::tracepoint::Arg>() {}
                $(can_be_passed::<$argtype>();)+
            };
        }
    };

    // One that is written by hand. Its class is next to it.
    (
        @by_hand $class:ident $name:ident ($($arg:ident: $argtype:ty),+)
        {$($field:ident: $type:ty),+} $($how:ident)?
    ) => {
        #[link_section = "_ftrace_events"]
        #[used]
        static EVENT_REF: $crate::ktrace::event::class::EventRef =
            $crate::ktrace::event::class::EventRef(&EVENT);

        // SAFETY: A name that stays, and `print()` is that of the class.
        static EVENT: $crate::ktrace::event::class::Event = unsafe {
            $crate::ktrace::event::class::Event::by_hand(
                &$class::CLASS,
                concat!(stringify!($name), "\0").as_ptr(),
                $class::PRINT_FMT.as_ptr(),
                $class::print,
            )$(.$how())?
        };

        /// What stands in a record.
        // Of use to those that are read again, as the next one.
        #[allow(dead_code)]
        #[derive(Clone, Copy)]
        pub struct Read {
            $(
                #[allow(missing_docs)]
                pub $field: <$type as $crate::ktrace::event::field::Field>::Stored,
            )+
        }

        /// A record, if it is one of these.
        #[allow(dead_code)]
        pub fn read(record: &$crate::ktrace::iter::Record<'_>) -> Option<Read> {
            let size = ::core::mem::size_of::<$class::Record>();
            let record: *const $class::Record = record.of(EVENT.kind(), size)?.cast();
            // SAFETY: A record of this event, and as long as one. Whatever it holds was stored by
            // `write()`.
            unsafe {
                Some(Read {
                    $($field: (&raw const (*record).$field)
                        .cast::<<$type as $crate::ktrace::event::field::Field>::Stored>()
                        .read_unaligned(),)+
                })
            }
        }

        /// The number that its records begin with.
        #[allow(dead_code)]
        #[inline]
        pub fn kind() -> u32 {
            EVENT.kind()
        }

        /// Writes it to the buffer of a trace array. Preemption must be off; any context.
        #[allow(dead_code)]
        #[inline]
        pub fn write(
            tr: &$crate::ktrace::trace_array::TraceArray,
            context: $crate::ktrace::records::Context,
            $($arg: $argtype),+
        ) -> ::core::result::Result<(), $crate::ktrace::records::NotWritten> {
            let mut sink = $crate::ktrace::records::Direct::new(tr, EVENT.kind(), context);
            $class::write(&mut sink, $($arg),+);
            sink.done()
        }
    };

    // One event. Its class is next to it.
    (@event $class:ident $name:ident ($($arg:ident: $argtype:ty),+) [$($user:ident)?]) => {
        const _: () = {
            #[link_section = "_ftrace_events"]
            #[used]
            static EVENT_REF: $crate::ktrace::event::class::EventRef =
                $crate::ktrace::event::class::EventRef(&EVENT);

            // SAFETY: `print()` is that of the class.
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
            // SAFETY: The listener of the class, whose arguments these are.
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
        // SAFETY: A C string that stays, and two functions that take what listeners take.
        static TRACEPOINT: $crate::ktrace::event::tracepoint::Tracepoint = unsafe {
            $crate::ktrace::event::tracepoint::Tracepoint::new(
                NAME.as_ptr().cast(),
                iterator as *const ::kernel::ffi::c_void,
                probestub as *const ::kernel::ffi::c_void,
                $crate::trace_event!(@counted $($user)?),
            )
        };

        // By this the loader finds it.
        ::core::arch::global_asm!(
            ".pushsection __tracepoints_ptrs, \"a\"",
            ".balign 4",
            ".long {} - .",
            ".popsection",
            sym TRACEPOINT,
        );

        /// Calls all listeners: for those who would fire this event from elsewhere.
        extern "C" fn iterator(
            _: *mut ::kernel::ffi::c_void,
            $($arg: $argtype),+
        ) -> ::kernel::ffi::c_int {
            fire($($arg),+);
            0
        }

        // Types that C does not know of are passed as pointers.
        #[allow(improper_ctypes)]
        extern "C" {
            /// A listener that does nothing, for who wants to hook one: `KTRACE_PROBESTUB()`.
            #[link_name = concat!("__probestub_", stringify!($name))]
            fn probestub(_: *mut ::kernel::ffi::c_void, $(_: $argtype),+);
        }

        #[cold]
        #[inline(never)]
        fn fire($($arg: $argtype),+) {
            TRACEPOINT.for_each_listener(|func, data| {
                // By its name: it is of C, and where the kernel checks the types of indirect calls
                // (kCFI), it may have none that is known here.
                if func == probestub as *mut ::kernel::ffi::c_void {
                    // SAFETY: It does nothing.
                    return unsafe { probestub(data, $($arg),+) };
                }
                // SAFETY: Who attaches a listener sees to it that it has this prototype, as with
                // every tracepoint.
                unsafe {
                    let func: unsafe extern "C" fn(*mut ::kernel::ffi::c_void, $($argtype),+) =
                        ::core::mem::transmute(func);
                    func(data, $($arg),+)
                }
            });
        }

        /// Whether anybody listens.
        #[inline(always)]
        pub fn is_enabled() -> bool {
            // SAFETY: A static key, as C's tracepoints have it.
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
        const NAMES: __event::format::Names = $names;
        static TABLE: __event::show::Table<{ NAMES.len() }> = __event::show::Table::new(NAMES);
        __event::show::ways::symbolic::value(
            $printer,
            &raw const (*$record).$field,
            TABLE.as_slice(),
        )
    }};
    (@value $printer:ident $record:ident flags($field:ident, $delimiter:expr, $names:expr)) => {{
        const NAMES: __event::format::Names = $names;
        static TABLE: __event::show::Table<{ NAMES.len() }> = __event::show::Table::new(NAMES);
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

/// Defines several trace events that share their arguments, their record and how it is printed.
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
///         /// It was made.
///         thing_made;
///         /// It is no more.
///         thing_gone;
///     }
/// }
/// ```
///
/// That makes modules `thing::thing_made` and `thing::thing_gone`, each with `trace(number)` and
/// `is_enabled()`.
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
        // As public as the module is.
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

    // One by one, since they repeat otherwise than their arguments.
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
/// printed by the names given here.
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

            // SAFETY: Passed as that integer.
            unsafe impl tracepoint::Arg for $name {
                #[inline]
                fn to_u64(self) -> u64 {
                    tracepoint::Arg::to_u64(self as $integer)
                }
            }

            const NAMES: format::Names = &[$(($value, $text)),+];
            static TABLE: show::Table<{ NAMES.len() }> = show::Table::new(NAMES);

            // SAFETY: The representation is that integer.
            unsafe impl field::Field for $name {
                const SHAPE: field::Shape = <$integer as field::Field>::SHAPE;
                type Stored = $integer;
                type Source<'a> = Self;

                #[inline]
                fn store(source: Self, _: &mut [u8], _: u32) -> $integer {
                    source as $integer
                }
            }

            // SAFETY: The function returns a C string.
            unsafe impl show::Show for $name {
                const FAMILY: format::Family = format::Family::Str;
                const EXPRESSION: format::Expression = show::symbolic_expression(NAMES);
                type Value = *const ::kernel::ffi::c_char;

                unsafe fn value(
                    printer: &show::Printer,
                    stored: *const $integer,
                ) -> *const ::kernel::ffi::c_char {
                    // SAFETY: By the precondition.
                    let value = unsafe { stored.read_unaligned() };
                    printer.symbol(value as usize, TABLE.as_slice())
                }
            }
        };
    };
}
pub use trace_symbols;
