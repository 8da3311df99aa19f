// SPDX-License-Identifier: GPL-2.0

//! Packs: ring-buffer records that hold several calls each, as 64-bit words.
//!
//! * [`word`] defines the words; it does not depend on the kernel.
//! * `draft` selects the words for an item.
//! * [`pack`] writes packs and explains how a record can grow after it was committed.
//! * [`packer`] holds the per-CPU packs of a trace array.
//! * [`suspend`] prevents packs while the system is suspended.
//! * [`selftest`] checks that the kernel's ring buffer works as packs require.
//! * [`expand`] shows a pack as if each item had its own record: [`mod@file`] for readers that do
//!   not consume what they read, [`pipe`] for readers that do.
//! * `print` shows packs while another tracer is current.

pub(super) mod counter;
mod draft;
pub mod expand;
pub mod file;
pub mod pack;
pub mod packer;
pub mod pipe;
mod print;
pub mod selftest;
mod state;
pub mod suspend;
pub mod word;
