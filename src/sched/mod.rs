// SPDX-License-Identifier: GPL-2.0

//! Where a task's time goes: running, waiting for a CPU, or blocked, and who ended it.

pub(crate) mod accounts;
pub(crate) mod stamp;
mod told;
pub(crate) mod users;
