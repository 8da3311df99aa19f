// SPDX-License-Identifier: GPL-2.0

//! Parts of ktrace that the suites need, and that call only exported functions of the kernel.

pub mod sync;
pub mod task;
