// SPDX-License-Identifier: GPL-2.0

//! The macros [`trace_event!`](crate::trace_event),
//! [`trace_event_class!`](crate::trace_event_class) and
//! [`trace_symbols!`](crate::trace_symbols).

mod by_hand;
mod class;
mod class_module;
mod event;
mod output;
mod symbols;
mod tracepoint;

pub use class::trace_event_class;
pub use event::trace_event;
pub use symbols::trace_symbols;
