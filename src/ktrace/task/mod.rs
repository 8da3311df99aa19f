// SPDX-License-Identifier: GPL-2.0

//! Tasks, and hooks on the events after which a task's filter decision may change.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`TaskHooks`](hooks::TaskHooks) and is passed to
//! [`bind_task_hooks!`](crate::bind_task_hooks); a
//! [`TaskRegistration`](registration::TaskRegistration) of it attaches probes to the kernel's own
//! tracepoints.

pub mod all_tasks;
pub mod bind;
mod callbacks;
pub mod cgroups;
pub mod comm;
pub mod cpu_events;
pub mod follow;
pub mod hooks;
pub mod irq_time;
pub mod irqs;
pub mod name_watch;
pub mod pid_map;
pub mod pid_namespace;
pub mod registration;
pub mod saved_cmdlines;
pub mod sched;
pub mod sched_bind;
mod sched_callbacks;
mod sched_hooks;
pub mod sched_state;
pub mod signals;
pub mod task_mask;
pub mod task_ref;
pub mod trace_mask;
pub mod works;

pub use comm::Comm;
pub use task_ref::Task;
