// SPDX-License-Identifier: GPL-2.0

//! Whether the module is loaded: its initialisation has succeeded.
//!
//! A module whose initialisation fails is freed, whatever references there are to it
//! (`do_init_module()`), and until then they can be had. So what user space can reach is there before
//! that, since to make it can fail, but is of no use: the tracer can't be made current, files can't be
//! opened.
//!
//! Who comes too early is told so before anything that can sleep, and has done with the module's code
//! then. So a grace period of RCU-tasks, for which whoever took the files away waits anyway, is enough
//! for that code to go.

use kernel::{
    prelude::*,
    sync::atomic::Relaxed, //
};

use super::{
    atomic::AtomicBool,
    trace_array::TypesLock, //
};

static LIVE: AtomicBool = AtomicBool::new(false);

/// The initialisation has succeeded: to be called when nothing can fail any more.
pub fn set(_: &TypesLock) {
    LIVE.store(true, Relaxed);
}

/// Whether it has. Any context, does not sleep. Tells nothing of what else was written: who goes on takes
/// the locks that guard it.
///
/// # Errors
///
/// `ENODEV` if it has not.
pub(super) fn check() -> Result {
    match LIVE.load(Relaxed) {
        true => Ok(()),
        false => Err(ENODEV),
    }
}
