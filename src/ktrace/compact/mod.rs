// SPDX-License-Identifier: GPL-2.0

//! Packs: ring-buffer records that hold several calls each, as 64-bit words.
//!
//! * [`encoding`] defines the words; it does not depend on the kernel.
//! * `words` checks that the fast path in C has the same layout of words.
//! * `encode` selects the words for an item.
//! * [`head`] defines the header of a pack.
//! * `write_item` writes an item: `add` adds it to the current pack, and explains how a record can
//!   grow after it was committed; `begin` begins a new pack.
//! * `commit` commits the records of interrupts that found a writer active.
//! * [`percpu_pack`] keeps the position and the counts of a pack.
//! * `callbacks` has what the fast path in `compact.h` calls.
//! * [`writer`] holds the per-CPU packs of a trace array.
//! * [`suspend`] prevents packs while the system is suspended.
//! * [`selftest`] checks that the kernel's ring buffer works as packs require.
//! * [`decode`](super::output::decode) shows a pack as if each item had its own record:
//!   [`trace_reader`](super::output::trace_reader) for readers that do not consume what they read,
//!   [`pipe_reader`](super::output::pipe_reader) for readers that do.
//! * `output/print_compact.rs` shows packs while another tracer is current.

mod add;
mod begin;
mod callbacks;
pub(super) mod clock;
mod commit;
mod encode;
pub mod encoding;
pub mod head;
pub mod percpu_pack;
pub mod selftest;
pub(in crate::ktrace) mod state;
pub mod suspend;
mod words;
mod write_item;
pub mod writer;
