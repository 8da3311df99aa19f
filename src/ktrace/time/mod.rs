// SPDX-License-Identifier: GPL-2.0

//! Trace clocks, and the hardware counter.

pub mod clock;
pub mod counter;
