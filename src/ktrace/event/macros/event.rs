// SPDX-License-Identifier: GPL-2.0

//! The macro [`trace_event!`](crate::trace_event), which defines one trace event.

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
/// they have no side effects. `write(tr, context, task, target_cpu)` always writes a record to one
/// trace array.
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
/// * `written by hand;` defines an event that cannot be enabled and has no listeners, but only
///   `write()`. This is for events that accompany the records of a tracer. `perf record -e
///   'SYSTEM:*'` fails in a system with such an event.
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
///   `NAMES` are [`ValueNames`](crate::ktrace::value_names::ValueNames).
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

            $crate::__trace_event_class_module! {
                $system $name ($($arg: $argtype),+) [$($about)?] [$($tr $condition)?]
                {$($field: $type = $value),+}
                $format [$( [ $way $( ( $($rest)* ) )? ] )*] with_btf_ids
            }
            $crate::__trace_event_tracepoint! { class $name ($($arg: $argtype),+) [$($user)?] }
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

            $crate::__trace_event_class_module! {
                $system $name ($($arg: $argtype),+) [] []
                {$($field: $type = $value),+}
                $format [$( [ $way $( ( $($rest)* ) )? ] )*] without_listeners
            }
            $crate::__trace_event_by_hand! {
                class $name ($($arg: $argtype),+) {$($field: $type),+} $($how)?
            }
        }
    };
}
pub use trace_event;
