// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ends the program with a message if a library crashes or hangs: on a damaged recording,
//! libtracecmd reads memory that is not there, or loops forever.

use std::{
    ffi::c_int,
    path::Path,
    ptr,
    sync::atomic::{
        AtomicPtr,
        AtomicU64,
        AtomicU8,
        Ordering::{
            Acquire,
            Relaxed,
            Release, //
        }, //
    },
    thread,
    time::Duration, //
};

/// Increases when a library returns to the program, and when the program calls it again. The number
/// is odd while the program handles a record.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// The messages about the file that is being read. They are complete before they are needed: a
/// signal handler cannot allocate memory.
struct Messages {
    crashed: String,
    hangs: String,
}

/// The messages about the latest file of a guard, which are never freed; null at first.
static MESSAGES: AtomicPtr<Messages> = AtomicPtr::new(ptr::null_mut());

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

/// Detects crashes and hangs of a library while it reads a file.
pub struct Guard {
    messages: &'static Messages,
    limit: Duration,
}

impl Guard {
    /// Prepares the messages about a file. A call of a library may take the time `limit`.
    pub fn new(path: &Path, limit: Duration) -> Self {
        let path = path.display();
        let damaged = format!("ferrotrace: {path}: the recording is damaged");
        // The messages are leaked, since the handler may use them at any time. A program opens few
        // files.
        let messages = Box::leak(Box::new(Messages {
            crashed: format!("{damaged}: a library crashed while reading it\n"),
            hangs: format!("{damaged}: a library hangs while reading it\n"),
        }));
        Self { messages, limit }
    }

    /// Makes crashes of a library end the program with a message and exit status 1, and also a call
    /// of a library that takes longer than the limit.
    pub fn begin(&self) -> Progress {
        let messages = ptr::from_ref(self.messages).cast_mut();
        MESSAGES.store(messages, Release);
        if READING.fetch_add(1, Relaxed) == 0 {
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT] {
                catch(signal);
            }
            let limit = self.limit;
            thread::spawn(move || watch(limit));
        }
        Progress(())
    }
}

/// Returns the messages about the file that is being read.
fn messages() -> Option<&'static Messages> {
    // SAFETY: The pointer is null, or that of a leaked box, which nothing changes. Writes to the
    // box are before the release store of the pointer.
    unsafe { MESSAGES.load(Acquire).as_ref() }
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
            end(messages().map_or("", |messages| &messages.hangs));
        }
        before = now;
    }
}

/// Writes a message and ends the program. Only does what a signal handler may do.
fn end(message: &str) -> ! {
    // SAFETY: Both functions may be called in a signal handler, and the message is valid memory.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(1)
    }
}

extern "C" fn handler(signal: c_int) {
    if READING.load(Relaxed) != 0 {
        end(messages().map_or("", |messages| &messages.crashed));
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
