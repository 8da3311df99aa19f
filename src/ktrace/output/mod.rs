// SPDX-License-Identifier: GPL-2.0

//! Reads and prints a trace: the tracer that a user selects, its iterator, and the readers that
//! expand compact records.

mod callbacks;
mod cursor;
pub mod decode;
mod first_return;
pub mod iter;
mod iter_pos;
mod iter_text;
mod next_record;
mod option_files;
mod pack;
pub mod pipe_reader;
pub mod print;
mod print_compact;
pub mod printed;
mod reader_state;
mod readings;
pub mod registration;
pub mod seq;
mod single;
mod synthetic;
pub mod trace_reader;
pub mod tracer;
