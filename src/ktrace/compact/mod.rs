// SPDX-License-Identifier: GPL-2.0

//! Many calls in one record of the ring buffer: packs of words.
//!
//! * [`word`] says what a word is, and needs no kernel.
//! * `draft` says which words an item becomes.
//! * [`pack`] writes packs, and says how a record can grow after it was committed.
//! * [`packer`] has the packs of a trace array, one on each CPU.
//! * [`suspend`] sees to it that there are none while the system is suspended.
//! * [`selftest`] finds out whether the kernel does what packs rely on.
//! * [`expand`] shows them as if each item had a record of its own, [`mod@file`] to readers that leave what they
//!   read where it is, [`pipe`] to those that take it out.
//! * `print` shows them where another tracer is current.

pub(super) mod counter;
mod draft;
pub mod expand;
pub mod file;
pub mod pack;
pub mod packer;
pub mod pipe;
mod print;
pub mod selftest;
pub mod suspend;
pub mod word;
