// SPDX-License-Identifier: GPL-2.0

//! The part of [`trace_event!`](crate::trace_event) that events of a class have in common: the
//! record, how it is written and printed, and the listeners.

/// Defines the common part of the events of a class.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_class_module {
    (
        $system:ident $name:ident ($($arg:ident: $argtype:ty),+)
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
                $(pub(super) $field: __event::field::StoredField<$type>,)+
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
                    $crate::__trace_event_class_module!(@is_about $($about)?),
                )$(.$which($crate::__trace_event_class_module!(@ids $which $name)))?
            };

            const ARGUMENTS: &[__event::format::Argument] = &[
                $($crate::__trace_event_describe!(Record $($shown)+)),*
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
                        $($crate::__trace_event_value!(printer record $($shown)+)),*
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
                    let dyn_size = <$type as __event::field::Field>::dyn_size($field);
                    let $field = ($field, layout.add(dyn_size));
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
                    __event::sink::Perf::new(
                        call,
                        $crate::__trace_event_class_module!(@about $($about)?),
                    )
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

    (@ids without_listeners $name:ident) => { () };
    (@ids with_btf_ids $name:ident) => {{
        extern "C" {
            #[link_name = concat!("ktrace_btf_ids_", stringify!($name))]
            static IDS: [u32; 2];
        }
        &raw const IDS
    }};

    (@is_about) => { false };
    (@is_about $about:ident) => { true };

    (@about) => { None };
    (@about $about:ident) => { Some($about) };
}
