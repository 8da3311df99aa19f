// SPDX-License-Identifier: GPL-2.0

//! Reads and prints a trace: the tracer that a user selects, its iterator, and the readers that
//! expand compact records.

pub mod decode;
pub mod iter;
pub mod pipe_reader;
mod print_compact;
pub mod printed;
pub mod seq;
pub mod trace_reader;
pub mod tracer;
