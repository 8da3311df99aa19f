// SPDX-License-Identifier: GPL-2.0

//! The filter decisions for all tasks, kept up to date.
//!
//! The filter decision for a task is a mask with one bit for each trace array that has a filter. It
//! is computed when the task is created, is renamed, executes a program or moves to another cgroup,
//! or when a filter changes. On the hot path, at a context switch, it is only looked up and copied
//! to the trace mask of the CPU ([`crate::ktrace::task::trace_mask`]).
//!
//! # Locking
//!
//! Filter decisions are read without a lock. They are written under `rules`, with two exceptions.
//! The entry of a task that is freed is cleared by compare-and-exchange. An entry carries the tag
//! of its task, so that a reused id is not confused with its former owner: the new owner's decision
//! is not cleared when the former owner is finally freed. The masks of idle tasks are written only
//! by [`TaskFilter::set_filter`], whose callers are serialized.
//!
//! `rules` is taken in task context only, and is not held while names are matched against patterns:
//! the filters are read under RCU. A decision is stored under the lock if the generation is still
//! the one in which the evaluation began, and the task still has the name, the cgroup and the
//! inherited selection that were evaluated; otherwise the evaluation is repeated, at last with the
//! lock held.
//!
//! # Renames
//!
//! The kernel reports a rename before it writes the new name ([`TaskHooks::renamed`]). The filters
//! are evaluated by the reported name, so the decision is in effect when the event of the rename is
//! written. The name that the task has in the end may be another one: another task may rename it
//! at the same time, and the kernel takes no lock for that. And a scan of all tasks, a move to
//! another cgroup or a new inherited selection may evaluate the task by its old name until the new
//! one is written. Therefore the filters are evaluated again after the write
//! ([`TaskHooks::name_written`]), by the name that the task then has, unless the decision is still
//! that of the reported name and the task has this name ([`ReportedNames`]).
//!
//! So the last writer of a name evaluates the final name: of two tasks that rename a task, the one
//! whose second evaluation comes last has seen both names written. A scan that starts after the
//! probe is attached misses no name that is written after it read the old one.
//!
//! # Moves to another cgroup
//!
//! The kernel reports a move after it has happened ([`TaskHooks::moved`]), so the latest report
//! leads to the right decision.
//!
//! [`ReportedNames`]: filter_updates::ReportedNames
//! [`TaskHooks::moved`]: crate::ktrace::task::hooks::TaskHooks::moved
//! [`TaskHooks::name_written`]: crate::ktrace::task::hooks::TaskHooks::name_written
//! [`TaskHooks::renamed`]: crate::ktrace::task::hooks::TaskHooks::renamed
//!
//! # A thread that executes a program
//!
//! The thread takes over the id of its process, and its former id becomes free before the program
//! runs, so a new task may get it. Therefore the inherited selection of the thread is saved in
//! `pending_execs` before the exchange, and is found by the thread's tag when the thread is first
//! evaluated with its new id.

mod decisions;
mod filter_updates;
mod filters;
mod hooks;
mod inherited;
mod lend;
mod set_filter;
mod task_info;
mod task_state;

pub(crate) use decisions::TaskFilter;
