// SPDX-License-Identifier: GPL-2.0

//! Task accounting: how long each task runs, waits for a CPU and is blocked, and which task wakes
//! it.

pub(crate) mod accounting;
pub(crate) mod clock_times;
pub(crate) mod recent;
pub(crate) mod runs;
pub(crate) mod sections;
pub(crate) mod times;
pub(crate) mod transition;
pub(crate) mod types;
