// SPDX-License-Identifier: GPL-2.0

//! Hooks on function entries.

pub mod ftrace_ops;
pub mod function_records;
pub mod stack_depth;
