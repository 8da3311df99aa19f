// SPDX-License-Identifier: GPL-2.0

//! Wakes tasks that wait with `poll()`, `select()` or `epoll` for a change of a control file
//! ([`ControlFile::has_news`](super::tracefs::ControlFile::has_news)).
//!
//! C headers: `include/linux/poll.h`, `include/linux/irq_work.h`.

use kernel::bindings;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_notify();
    fn ktrace_notify_sync();
    fn ktrace_poll_wait(file: *mut bindings::file, table: *mut bindings::poll_table_struct);
}

/// The events that are always ready, as for a regular file.
const ALWAYS: u32 = bindings::POLLOUT | bindings::POLLWRNORM;

/// The events of a file that can be read.
const READABLE: u32 = bindings::POLLIN | bindings::POLLRDNORM;

/// Schedules a wakeup of all tasks that poll a control file; each of them checks its own file. Call
/// this after the change is visible. Any context, including NMI, also with locks of the scheduler
/// held.
pub fn notify() {
    // SAFETY: Queues work that is static. It has finished before the module is freed, see `sync()`.
    unsafe { ktrace_notify() }
}

/// Waits until no wakeup is pending. Nothing may call [`notify`] any more. May sleep.
pub(super) fn sync() {
    // SAFETY: The `irq_work` that this waits for is static. Waiting may sleep, as the documentation
    // of this function says.
    unsafe { ktrace_notify_sync() }
}

/// Registers a poller of a control file, and returns the events that are ready. `has_news` is
/// called after the registration, so that no change is missed.
///
/// # Safety
///
/// Only for `poll()` of a file: the arguments must be those that the VFS has passed.
pub(super) unsafe fn poll(
    file: *mut bindings::file,
    table: *mut bindings::poll_table_struct,
    has_news: impl FnOnce() -> Option<bool>,
) -> bindings::__poll_t {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe { ktrace_poll_wait(file, table) };
    match has_news() {
        None => ALWAYS | READABLE,
        Some(true) => ALWAYS | READABLE | bindings::POLLPRI,
        Some(false) => ALWAYS,
    }
}
