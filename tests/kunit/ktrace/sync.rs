// SPDX-License-Identifier: GPL-2.0

//! Atomics, as in `src/ktrace/sync/`.

#[path = "../../../src/ktrace/sync/atomic.rs"]
pub mod atomic;
#[path = "../../../src/ktrace/sync/read_once.rs"]
pub mod read_once;
