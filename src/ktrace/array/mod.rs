// SPDX-License-Identifier: GPL-2.0

//! Trace arrays and what belongs to each of them: options, control files, and the error log.

pub mod actions;
pub mod error_log;
pub mod instances;
pub mod module_state;
pub mod notify;
pub(in crate::ktrace) mod options;
pub mod trace_array;
pub mod tracefs;
