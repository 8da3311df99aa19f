// SPDX-License-Identifier: GPL-2.0

//! Trace clocks, the hardware counter, and timers.

pub mod clock;
pub mod counter;
pub mod delay;
