// SPDX-License-Identifier: GPL-2.0

//! The table of tasks, as in `src/ktrace/task/`.

#[path = "../../../src/ktrace/task/pid_map.rs"]
pub mod pid_map;
