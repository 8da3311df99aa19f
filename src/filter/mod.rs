// SPDX-License-Identifier: GPL-2.0

//! The filter that selects the tasks to trace: plain data and plain functions.
//!
//! Each trace array has eight lists of tasks and one boolean option. Each of them has a control
//! file:
//!
//! | file | content |
//! | --- | --- |
//! | `set_pid`, `set_notrace_pid` | thread ids |
//! | `set_tgid`, `set_notrace_tgid` | process ids: all threads of the process |
//! | `set_comm`, `set_notrace_comm` | patterns (globs) that match the task's name |
//! | `set_cgroup`, `set_notrace_cgroup` | cgroups: all tasks in them, and in those below them |
//! | `follow_fork` | whether children inherit the selection of their parent |
//!
//! - A task is selected if any of the `set_*` lists matches it. If all four are empty, every task
//!   is selected.
//! - The `set_notrace_*` lists have priority: a task that any of them matches is not traced.
//! - With `follow_fork`, a child of a task that a list matches is treated as if that list matched
//!   it as well, and so are its own children. The kernel's `function-fork` option works the same
//!   way for `set_ftrace_pid` and `set_ftrace_notrace_pid`. Children that were forked before the
//!   option was enabled, or before the list matched their parent, do not inherit.
//!
//! Ids are those of the initial PID namespace, and cgroups are those of the unified hierarchy
//! (version 2). What a word refers to is found by functions of the caller
//! ([`Lookup`](list::Lookup)). Of the kernel, this module uses only containers and
//! error codes: the code is safe, sleeps only to allocate, and is also compiled and tested on the
//! host (`tests/host/`). Functions that may be called from atomic context say so.
//!
//! - [`decision`]: all lists of a trace array, and the filter decision for a task.
//! - [`input`]: parses the text written to a control file and creates the new filter.
//! - [`list`], [`ids`], [`glob`], [`cgroups`]: the contents of one control file.
//! - [`tokens`]: splits text into words.
//! - [`error`]: the errors that the text can have.

pub(crate) mod cgroups;
pub(crate) mod decision;
pub(crate) mod error;
pub(crate) mod glob;
pub(crate) mod ids;
pub(crate) mod input;
pub(crate) mod list;
pub(crate) mod tokens;
