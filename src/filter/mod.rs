// SPDX-License-Identifier: GPL-2.0

//! Who is traced: the policy, as plain data and plain functions.
//!
//! A trace array has six lists of tasks and one switch, each a control file:
//!
//! | file | takes |
//! | --- | --- |
//! | `set_pid`, `set_notrace_pid` | thread ids |
//! | `set_tgid`, `set_notrace_tgid` | process ids: all threads of the process |
//! | `set_comm`, `set_notrace_comm` | globs over the task's name |
//! | `follow_fork` | whether children are treated as their parent is |
//!
//! - The `set_*` lists add up: a task that any of them names is traced. While all three are
//!   empty, every task is.
//! - The `set_notrace_*` lists win: a task that any of them names is not traced, whatever the
//!   others say.
//! - With `follow_fork`, what is forked from a task that a list names is treated as if that list
//!   named it too, and so on for its own children: as the kernel's `function-fork` option does
//!   for `set_ftrace_pid` and `set_ftrace_notrace_pid`. Children that were forked before the
//!   switch was turned on, or before their parent was named, are not followed.
//!
//! Ids are those of the initial PID namespace. Nothing in here touches the kernel: the code is
//! safe, sleeps at most to allocate, and is compiled and tested on the host too (`tests/host/`).
//! What may be called from atomic context says so.
//!
//! - [`verdict`]: the lists together, and the verdict on a task.
//! - [`input`]: the text written to a control file, up to the lists that result.
//! - [`list`], [`ids`], [`glob`]: what one control file holds.
//! - [`tokens`]: splitting what is written into words.
//! - [`error`]: what can be wrong with it.

pub(crate) mod error;
pub(crate) mod glob;
pub(crate) mod ids;
pub(crate) mod input;
pub(crate) mod list;
pub(crate) mod tokens;
pub(crate) mod verdict;
