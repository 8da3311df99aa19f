// SPDX-License-Identifier: GPL-2.0

//! Records whether the module's initialisation has succeeded.
//!
//! The kernel frees a module whose initialisation fails, regardless of references to it
//! (`do_init_module()`). Until then, references can be taken. Creating the files and the tracer can
//! fail, so they are created during initialisation and user space can reach them before it has
//! succeeded. They do not work before that: the tracer cannot be selected, and files cannot be
//! opened.
//!
//! A task that uses them too early gets an error before it executes anything that can sleep, and
//! then leaves the module's code. The code that removes the files waits for a grace period of
//! RCU-tasks anyway, so no such task is left in the module's code when that code is freed.

use kernel::{
    prelude::*,
    sync::atomic::Relaxed, //
};

use super::trace_array::TypesLock;
use crate::ktrace::sync::atomic::AtomicBool;

static LIVE: AtomicBool = AtomicBool::new(false);

/// Records that the initialisation has succeeded. Call this when no further step can fail.
pub fn set(_: &TypesLock) {
    LIVE.store(true, Relaxed);
}

/// Checks whether the initialisation has succeeded. Any context; does not sleep. Orders no other
/// memory accesses: callers must take the locks that protect the data that they use next.
///
/// # Errors
///
/// `ENODEV` if the initialisation has not succeeded yet.
pub(in crate::ktrace) fn check() -> Result {
    match LIVE.load(Relaxed) {
        true => Ok(()),
        false => Err(ENODEV),
    }
}
