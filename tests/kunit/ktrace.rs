// SPDX-License-Identifier: GPL-2.0

//! Parts of ktrace that the suites need, and that call only exported functions of the kernel.

#[path = "../../src/ktrace/sync/atomic.rs"]
mod atomics;
#[path = "../../src/ktrace/task/pid_map.rs"]
mod pid_maps;
#[path = "../../src/ktrace/sync/read_once.rs"]
mod read_onces;

pub mod sync {
    pub use super::{
        atomics as atomic,
        read_onces as read_once, //
    };
}

pub mod task {
    pub use super::pid_maps as pid_map;
}
