// SPDX-License-Identifier: GPL-2.0

//! Hooks on function entries and on user markers.

pub mod ftrace_ops;
pub mod function_records;
pub mod markers;
