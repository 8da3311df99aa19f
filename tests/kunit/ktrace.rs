// SPDX-License-Identifier: GPL-2.0

//! Parts of ktrace that the suites need, and that call only exported functions of the kernel.

#[path = "../../src/ktrace/atomic.rs"]
pub mod atomic;
#[path = "../../src/ktrace/once.rs"]
pub mod once;
#[path = "../../src/ktrace/pid_map.rs"]
pub mod pid_map;
