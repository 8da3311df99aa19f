// SPDX-License-Identifier: GPL-2.0

//! What the suites need of ktrace: parts that call nothing of the kernel's but what it exports.

#[path = "../../src/ktrace/atomic.rs"]
pub mod atomic;
#[path = "../../src/ktrace/once.rs"]
pub mod once;
#[path = "../../src/ktrace/pid_map.rs"]
pub mod pid_map;
