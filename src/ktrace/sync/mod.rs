// SPDX-License-Identifier: GPL-2.0

//! Data that is shared without locks: atomics, per-CPU counters, values that are read under RCU,
//! and waiting until no callback runs.

pub mod atomic;
pub mod double_buffer;
pub mod module_global;
pub mod percpu_counter;
pub mod published;
pub mod quiesce;
pub mod read_once;
