// SPDX-License-Identifier: GPL-2.0

//! What is kept with an open call, on its task's shadow stack.

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

use super::timer::{
    clock_ns,
    Both,
    Moment,
    TIMER, //
};
use crate::ktrace::{
    once::Once,
    shared::same_as_c, //
};

/// Room for bits that a hook may set in a frame later, [`FrameRef::set`]: the lowest so many.
pub(super) const FLAG_BITS: u32 = 8;

/// Of a tag, set as long as the call is open.
pub(super) const TAG_OPEN: u32 = 1 << (u32::BITS - FLAG_BITS - 1);

/// Of a frame's time: it is the clock's, and what goes with it is noted.
const NOTED: u64 = 1 << 63;

/// A frame as it lies on the shadow stack; `struct ktrace_frame` in `fgraph.h`.
#[repr(C)]
pub(super) struct Stored {
    /// When the call began: a [`Moment`], or [`NOTED`] and ns of [`clock_ns`].
    begun: Atomic<u64>,
    /// What is noted.
    noted: [Atomic<u64>; 2],
    /// What was kept.
    half: u32,
    /// The tag of the hook, and the flags below it.
    tag_flags: Atomic<u32>,
}

same_as_c!(Stored, ktrace_frame);
const _: () = assert!(offset_of!(Stored, half) % 8 == 0 && cfg!(target_endian = "little"));
const _: () = assert!(offset_of!(Stored, tag_flags) == offset_of!(Stored, half) + 4);

/// The frame of an open call.
///
/// # Invariants
///
/// Points to a `Stored` on the shadow stack of the current task, of a call that has not returned.
/// Interrupts on top of the task may set flags, and nothing else.
#[derive(Clone, Copy)]
pub struct FrameRef<'a>(&'a Stored);

impl<'a> FrameRef<'a> {
    /// Begins a frame, of the hook with that tag. What times the call begins here.
    ///
    /// # Safety
    ///
    /// `stored` is on the shadow stack of the current task, with a call that just begins, and stays as long as the
    /// result lives.
    #[inline]
    pub(super) unsafe fn begin(stored: NonNull<Stored>, half: u32, tag: u32, flags: u32) -> Self {
        let stored = stored.as_ptr();
        let flags = flags & ((1 << FLAG_BITS) - 1);
        // As `half` and `tag_flags` lie in memory, on the little-endian machines that this is for.
        let last = u64::from(half) | u64::from(tag << FLAG_BITS | flags) << u32::BITS;
        // SAFETY: Nobody else looks at it before the callback has returned but an interrupt, through `at()`, which
        // looks at the tag first: that is written last, as the compiler keeps volatile accesses in order; the two
        // halves of the last word are one aligned one. The words that are not written are atomics, for which any
        // bits will do, and are not read before they are.
        unsafe {
            let begun: *mut u64 = (&raw mut (*stored).begun).cast();
            begun.write_volatile(TIMER.now());
            let halves: *mut u64 = (&raw mut (*stored).half).cast();
            halves.write_volatile(last);
            // INVARIANT: Just made.
            Self(&*stored)
        }
    }

    /// The frame that `fgraph.c` has just made there.
    ///
    /// # Safety
    ///
    /// `data` points to a filled-in frame on the shadow stack of the current task, of a call that just begins, and
    /// stays as long as the result lives.
    #[inline(always)]
    pub(super) unsafe fn made(data: *mut c_void) -> Self {
        // SAFETY: By the precondition it is a `Stored`, whose members are atomics or not written to any more.
        // INVARIANT: By the precondition.
        Self(unsafe { &*data.cast::<Stored>() })
    }

    /// The frame that lies there, if it is of the hook with that tag.
    ///
    /// # Safety
    ///
    /// Null, or where a frame may be on the shadow stack of the current task, as long as the result lives.
    #[inline]
    pub(super) unsafe fn at(data: *mut c_void, tag: u32) -> Option<Self> {
        // SAFETY: By the precondition. Any bits will do.
        let stored = unsafe { data.cast::<Stored>().as_ref() }?;
        // INVARIANT: What has the tag was begun by the hook, and the call has not returned.
        (stored.tag_flags.read_once() >> FLAG_BITS == tag).then_some(Self(stored))
    }

    /// Takes the tag away: the call returns, or is not traced after all. Its flags hold still from here on.
    #[inline]
    pub fn disown(&self) {
        let highest: *mut u8 = self.0.tag_flags.as_ptr().cast();
        // SAFETY: The last byte of a word on the stack of the current task, which nobody changes but an interrupt
        // on top of it: it has finished, or comes later and leaves alone what has not its tag any more. A flag
        // that it has set stays, as it would not if the whole word was written.
        unsafe { highest.add(size_of::<u32>() - 1).write_volatile(0) };
    }

    /// What was kept.
    #[inline]
    pub fn kept(&self) -> u32 {
        self.0.half
    }

    /// How long the call has taken, in ns, if nothing was noted.
    #[inline]
    pub fn unnoted_ns(&self, now: Moment) -> Option<u64> {
        let begun = self.0.begun.read_once();
        (begun & NOTED == 0).then(|| TIMER.ns(now.0.saturating_sub(begun)))
    }

    /// How long it has taken, in ns, noted or not.
    pub fn elapsed_ns(&self) -> u64 {
        match self.unnoted_ns(Moment::now()) {
            Some(ns) => ns,
            None => clock_ns().saturating_sub(self.0.begun.read_once() & !NOTED),
        }
    }

    /// Whether something is noted.
    #[inline]
    pub fn is_noted(&self) -> bool {
        self.0.begun.read_once() & NOTED != 0
    }

    /// What is noted, if anything is.
    pub fn noted(&self) -> Option<[u64; 2]> {
        let [one, other] = &self.0.noted;
        self.is_noted()
            .then(|| [one.read_once(), other.read_once()])
    }

    /// Notes two words, and by the clock when the call began. To be called while the task has not lost its CPU
    /// since the call began, by the task itself with interrupts off.
    pub fn note(&self, words: [u64; 2], now: Both) {
        let Some(ns) = self.unnoted_ns(now.moment) else {
            return;
        };
        for (place, word) in self.0.noted.iter().zip(words) {
            place.write_once(word);
        }
        // An NMI finds the one or the other.
        self.0
            .begun
            .write_once(now.clock_ns.saturating_sub(ns) | NOTED);
    }

    /// Whether that flag is set.
    #[inline]
    pub fn is_set(&self, flag: u32) -> bool {
        self.0.tag_flags.read_once() & flag != 0
    }

    /// Sets a flag, one of the lowest eight bits. True if it was not set: nobody else is told so.
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
