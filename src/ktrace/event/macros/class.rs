// SPDX-License-Identifier: GPL-2.0

//! The macro [`trace_event_class!`](crate::trace_event_class), which defines several trace
//! events that share their record.

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

            $crate::__trace_event_class_module! {
                $system $name ($($arg: $argtype),+) [$($about)?] [$($tr $condition)?]
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

            $crate::__trace_event_tracepoint! { class $event $args $user }
        }
        $crate::trace_event_class! { @events $args $user $($rest)* }
    };
}
pub use trace_event_class;
