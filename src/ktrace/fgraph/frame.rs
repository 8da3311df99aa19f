// SPDX-License-Identifier: GPL-2.0

//! Frames: a hook's data for an open call, on the shadow stack of its task.

use core::{
    mem::{
        offset_of,
        size_of, //
    },
    ptr::NonNull, //
};

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::clock::{
    ClockPair,
    CounterTime,
    TIMER, //
};
use crate::ktrace::{
    shared::same_as_c,
    sync::read_once::ReadOnce,
    time::clock, //
};

/// Number of low bits of `tag_flags` that are flags; see [`FrameRef::set`].
pub(super) const FLAG_BITS: u32 = 8;

/// A bit of a tag, set as long as the call is open.
pub(super) const TAG_OPEN: u32 = 1 << (u32::BITS - FLAG_BITS - 1);

/// A bit of a frame's start time: it is a time of the clock, and off-CPU times are saved.
const SAVED: u64 = 1 << 63;

/// A frame on the shadow stack; `struct ktrace_frame` in `fgraph.h`.
#[repr(C)]
pub(super) struct StoredFrame {
    /// The start of the call: a [`CounterTime`], or [`SAVED`] and ns of [`clock::local_ns`].
    begun: Atomic<u64>,
    /// The words of [`FrameRef::save_off_cpu`]. Until then, the first one is the function.
    off_cpu: [Atomic<u64>; 2],
    /// The hook's half word of [`super::CurrentCall::reserve_frame`].
    half: u32,
    /// The tag of the hook, and below it the flags.
    tag_flags: Atomic<u32>,
}

same_as_c!(StoredFrame, ktrace_frame);

/// A frame and a word of the hook's own, which `fgraph.c` does not know.
#[repr(C)]
pub(super) struct LongFrame {
    pub(super) frame: StoredFrame,
    pub(super) word: Atomic<u64>,
}
const _: () = assert!(offset_of!(StoredFrame, half) % 8 == 0 && cfg!(target_endian = "little"));
const _: () = assert!(offset_of!(StoredFrame, tag_flags) == offset_of!(StoredFrame, half) + 4);

/// The frame of an open call.
///
/// # Invariants
///
/// Points to a `StoredFrame` on the shadow stack of the current task, of a call that has not
/// returned. Interrupts on top of the task may set flags, but change nothing else.
#[derive(Clone, Copy)]
pub struct FrameRef<'a>(&'a StoredFrame);

impl<'a> FrameRef<'a> {
    /// Begins a frame of the hook with this tag, for a call of `func`. The call is timed from now
    /// on.
    ///
    /// # Safety
    ///
    /// `stored` must be reserved on the shadow stack of the current task for a call that just
    /// begins, and exist for the lifetime of the result.
    #[inline]
    pub(super) unsafe fn begin(
        stored: NonNull<StoredFrame>,
        func: usize,
        half: u32,
        tag: u32,
        flags: u32,
    ) -> Self {
        let stored = stored.as_ptr();
        let flags = flags & ((1 << FLAG_BITS) - 1);
        // `half` and `tag_flags` as one little-endian word.
        let last = u64::from(half) | u64::from(tag << FLAG_BITS | flags) << u32::BITS;
        // SAFETY: `stored` is valid for the lifetime of the result, as the caller guarantees. Until
        // the callback returns, only an interrupt reads it, through `at()`, which reads the tag
        // first. The tag is written last, as the compiler keeps the order of volatile accesses, and
        // `half` and `tag_flags` are one aligned word. The words that are not written are atomics,
        // which may have any value, and are not read before they are written.
        unsafe {
            let begun: *mut u64 = (&raw mut (*stored).begun).cast();
            begun.write_volatile(TIMER.now());
            let function: *mut u64 = (&raw mut (*stored).off_cpu).cast();
            function.write_volatile(func as u64);
            let halves: *mut u64 = (&raw mut (*stored).half).cast();
            halves.write_volatile(last);
            // INVARIANT: The frame was just made for a call that has not returned.
            Self(&*stored)
        }
    }

    /// Returns the frame that `fgraph.c` has just made.
    ///
    /// # Safety
    ///
    /// `data` must point to a filled-in frame on the shadow stack of the current task, of a call
    /// that just begins, and exist for the lifetime of the result.
    #[inline(always)]
    pub(super) unsafe fn made(data: *mut c_void) -> Self {
        // SAFETY: `data` points to a `StoredFrame`, as the caller guarantees. Its members are
        // atomics, or are not written any more. INVARIANT: The caller guarantees that the call just
        // begins, so it has not returned.
        Self(unsafe { &*data.cast::<StoredFrame>() })
    }

    /// Returns the frame at `data` if it is one of the hook with this tag.
    ///
    /// # Safety
    ///
    /// `data` must be null, or point to where a frame may be on the shadow stack of the current
    /// task, for the lifetime of the result.
    #[inline]
    pub(super) unsafe fn at(data: *mut c_void, tag: u32) -> Option<Self> {
        // SAFETY: `data` is null or readable, as the caller guarantees, and a `StoredFrame` may
        // have any value.
        let stored = unsafe { data.cast::<StoredFrame>().as_ref() }?;
        // INVARIANT: Data with the tag is a frame of the hook, whose call has not returned.
        (stored.tag_flags.read_once() >> FLAG_BITS == tag).then_some(Self(stored))
    }

    /// Removes the tag: the call returns, or is not traced after all. From then on, the flags do
    /// not change.
    #[inline]
    pub fn invalidate(&self) {
        let highest: *mut u8 = self.0.tag_flags.as_ptr().cast();
        // SAFETY: The last byte of a word on the stack of the current task. Only an interrupt on
        // top of the task may change that word: it has finished, or comes later and ignores a frame
        // without its tag. A write of the whole word would lose a flag that the interrupt has set.
        unsafe { highest.add(size_of::<u32>() - 1).write_volatile(0) };
    }

    /// Returns the hook's half word.
    #[inline]
    pub fn half(&self) -> u32 {
        self.0.half
    }

    /// Returns how long the call has taken up to `now`, in ns; `None` if off-CPU times are
    /// saved in the frame.
    #[inline]
    pub fn unsaved_ns(&self, now: CounterTime) -> Option<u64> {
        let begun = self.0.begun.read_once();
        (begun & SAVED == 0).then(|| TIMER.ns(now.0.saturating_sub(begun)))
    }

    /// Returns how long the call has taken up to now, in ns.
    pub fn elapsed_ns(&self) -> u64 {
        match self.unsaved_ns(CounterTime::now()) {
            Some(ns) => ns,
            None => clock::local_ns().saturating_sub(self.0.begun.read_once() & !SAVED),
        }
    }

    /// Returns whether off-CPU times are saved in the frame.
    #[inline]
    pub fn has_off_cpu(&self) -> bool {
        self.0.begun.read_once() & SAVED != 0
    }

    /// Returns the saved off-CPU times, if there are any.
    pub fn off_cpu(&self) -> Option<[u64; 2]> {
        let [one, other] = &self.0.off_cpu;
        self.has_off_cpu()
            .then(|| [one.read_once(), other.read_once()])
    }

    /// Saves off-CPU times, and changes the start time of the call to one of the clock. Must be
    /// called by the task itself with interrupts off, before it has lost the CPU during this call.
    pub fn save_off_cpu(&self, words: [u64; 2], now: ClockPair) {
        let Some(ns) = self.unsaved_ns(now.counter) else {
            return;
        };
        for (place, word) in self.0.off_cpu.iter().zip(words) {
            place.write_once(word);
        }
        // An NMI reads either the old value or the new one.
        self.0
            .begun
            .write_once(now.clock_ns.saturating_sub(ns) | SAVED);
    }

    /// Returns whether a flag is set.
    #[inline]
    pub fn is_set(&self, flag: u32) -> bool {
        self.0.tag_flags.read_once() & flag != 0
    }

    /// Sets a flag, one of the lowest eight bits. Returns true if it was not set; of several
    /// contexts that set it, only one gets true. Any context: an interrupt may set flags in frames
    /// of the task that it interrupts.
    #[inline]
    pub fn set(&self, flag: u32) -> bool {
        let flag = flag & ((1 << FLAG_BITS) - 1);
        let mut old = self.0.tag_flags.read_once();
        while old & flag == 0 {
            match self.0.tag_flags.cmpxchg(old, old | flag, Relaxed) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }
}
