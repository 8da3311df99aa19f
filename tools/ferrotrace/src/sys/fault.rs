// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ends the program with a message if a library crashes or hangs: on a damaged recording,
//! libtracecmd reads memory that is not there, or loops forever.

use std::{
    ffi::c_int,
    ptr,
    sync::atomic::{
        AtomicU64,
        AtomicU8,
        Ordering::Relaxed, //
    },
    thread,
    time::Duration, //
};

/// Increases when a library returns to the program, and when the program calls it again. The number
/// is odd while the program handles a record.
static STEPS: AtomicU64 = AtomicU64::new(0);

const CRASHED: &[u8] =
    b"ferrotrace: the recording is damaged: a library crashed while reading it\n";
const HANGS: &[u8] = b"ferrotrace: the recording is damaged: a library hangs while reading it\n";

/// Whether a recording is being read: the number of guards.
static READING: AtomicU8 = AtomicU8::new(0);

/// Evidence that crashes and hangs of a library end the program with a message. The effect ends
/// when it is dropped.
pub struct Progress(());

impl Progress {
    /// Runs code of the program that a library called. It may take any time.
    #[inline]
    pub fn outside<T>(&self, handle: impl FnOnce() -> T) -> T {
        // One thread reads recordings.
        STEPS.store(STEPS.load(Relaxed).wrapping_add(1), Relaxed);
        let result = handle();
        STEPS.store(STEPS.load(Relaxed).wrapping_add(1), Relaxed);
        result
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        READING.fetch_sub(1, Relaxed);
    }
}

/// Makes crashes of a library end the program with a message and exit status 1, and also a call of
/// a library that takes longer than `limit`.
pub fn guard(limit: Duration) -> Progress {
    if READING.fetch_add(1, Relaxed) == 0 {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT] {
            catch(signal);
        }
        thread::spawn(move || watch(limit));
    }
    Progress(())
}

/// Ends the program if no progress is made.
fn watch(limit: Duration) {
    let mut before = STEPS.load(Relaxed);
    loop {
        thread::sleep(limit);
        if READING.load(Relaxed) == 0 {
            return;
        }
        let now = STEPS.load(Relaxed);
        if now == before && now % 2 == 0 {
            end(HANGS);
        }
        before = now;
    }
}

/// Writes a message and ends the program. Only does what a signal handler may do.
fn end(message: &[u8]) -> ! {
    // SAFETY: Both functions may be called in a signal handler, and the message is valid memory.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(1)
    }
}

extern "C" fn handler(signal: c_int) {
    if READING.load(Relaxed) != 0 {
        end(CRASHED);
    }
    // SAFETY: Both functions may be called in a signal handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn catch(signal: c_int) {
    // SAFETY: A `sigaction` of zeros is valid; the handler has the type for these flags, and does
    // only what a signal handler may do. Rust gives each thread a stack for signals.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let function: extern "C" fn(c_int) = handler;
        action.sa_sigaction = function as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}
