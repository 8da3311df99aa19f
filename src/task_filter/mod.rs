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
//! the one in which the evaluation began; otherwise the evaluation is repeated. A generation begins
//! only when a filter changes or the worker starts a round, so repetitions are rare.
//!
//! # Moves to another cgroup
//!
//! The kernel reports a move after it has happened ([`TaskHooks::moved`]), so the latest report
//! leads to the right decision, unless an older evaluation is stored after it. Therefore a decision
//! is stored only if the task is still in the cgroup for which it was evaluated, which is checked
//! under the lock. A move that is reported while a rename is not written yet is evaluated by the
//! old name, so the task is marked `pending_recheck` (below) if a filter depends on names.
//!
//! [`TaskHooks::moved`]: crate::ktrace::task::hooks::TaskHooks::moved
//!
//! # A rename while a filter changes
//!
//! The kernel reports a rename before it writes the new name. So a scan of all tasks may reach a
//! task that a hook has just evaluated by its new name, but that still has its old name. Two errors
//! must be avoided: to evaluate the task by the old name, and to miss a rename that was reported
//! before the filter changed but is not yet written. The first is avoided by `decided_gen`, the
//! generation in which a hook evaluated the task. The second cannot occur after every task has
//! passed a point where it sleeps or returns to user space; the scan waits for that.
//!
//! # Two concurrent renames of one task
//!
//! A task may rename itself while another task of its process renames it. The kernel takes no lock
//! for that, so the final name need not be the one that was reported last. A task that was renamed
//! by another task is marked `pending_recheck` until the worker has rechecked it, in rounds. A
//! round begins a generation and then waits in the same way as a scan, so that names that were
//! reported before the round are written.
//!
//! If no hook evaluated the task during this round, its name is final, and the decision is made by
//! it. If a hook did, there are two cases. If the other task's rename was reported before the
//! previous round, that name was written before this round began, and the hook evaluated the newer
//! name: its decision is final. Otherwise the two renames may have raced, and the next round checks
//! the task again.
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
mod recheck;
mod set_filter;
mod task_info;
mod task_state;

pub(crate) use decisions::TaskFilter;
