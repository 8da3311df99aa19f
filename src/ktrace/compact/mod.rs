// SPDX-License-Identifier: GPL-2.0

//! Packs: ring-buffer records that hold several calls each, as 64-bit words.
//!
//! * [`encoding`] defines the words; it does not depend on the kernel.
//! * `encode` selects the words for an item.
//! * [`percpu_pack`] writes packs and explains how a record can grow after it was committed.
//! * [`writer`] holds the per-CPU packs of a trace array.
//! * [`suspend`] prevents packs while the system is suspended.
//! * [`selftest`] checks that the kernel's ring buffer works as packs require.
//! * [`decode`](super::output::decode) shows a pack as if each item had its own record:
//!   [`trace_reader`](super::output::trace_reader) for readers that do not consume what they read,
//!   [`pipe_reader`](super::output::pipe_reader) for readers that do.
//! * `output/print_compact.rs` shows packs while another tracer is current.

pub(super) mod clock;
mod encode;
pub mod encoding;
pub mod percpu_pack;
pub mod selftest;
pub(in crate::ktrace) mod state;
pub mod suspend;
pub mod writer;
