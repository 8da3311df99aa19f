// SPDX-License-Identifier: GPL-2.0

//! The part of [`trace_event!`](crate::trace_event) for an event with a tracepoint.

/// Defines an event with a tracepoint. Its class is in the same module.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_event_tracepoint {
    ($class:ident $name:ident ($($arg:ident: $argtype:ty),+) [$($user:ident)?]) => {
        // SAFETY: `PRINT_FMT` is a static C string, and `print()` is that of the class.
        static EVENT: $crate::ktrace::event::class::Event = unsafe {
            $crate::ktrace::event::class::Event::new(
                &$class::CLASS,
                &TRACEPOINT,
                $class::PRINT_FMT.as_ptr(),
                $class::print,
            )
        };

        const _: () = {
            #[link_section = "_ftrace_events"]
            #[used]
            static EVENT_REF: $crate::ktrace::event::class::EventRef =
                $crate::ktrace::event::class::EventRef(&EVENT);

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
                $crate::__trace_event_tracepoint!(@counted $($user)?),
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

        $crate::__trace_event_write! { $class ($($arg: $argtype),+) }
    };

    (@counted) => { false };
    (@counted $user:ident) => { true };
}
