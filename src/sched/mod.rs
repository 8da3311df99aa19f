// SPDX-License-Identifier: GPL-2.0

//! Task accounting: how long each task runs, waits for a CPU and is blocked, and which task wakes
//! it.

pub(crate) mod accounts;
pub(crate) mod stamp;
mod told;
pub(crate) mod types;
