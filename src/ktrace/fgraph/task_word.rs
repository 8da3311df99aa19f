// SPDX-License-Identifier: GPL-2.0

//! Gives a hook access to its data word of the current task.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::ktrace::sync::read_once::ReadOnce;

/// A task data word of the current task: flags in the lower half, and a count in the upper half,
/// which only increases. See [`super::Open::task_word`].
///
/// The halves are written separately, here and in C, so that setting flags never undoes what an
/// interrupt counts at that moment.
pub struct TaskWord<'a> {
    pub(super) whole: &'a Atomic<usize>,
    pub(super) flags: &'a Atomic<u32>,
    pub(super) count: &'a Atomic<u32>,
}

/// The flags are the first half in memory, and the lower one.
const _: () = assert!(cfg!(target_endian = "little") && usize::BITS == 2 * u32::BITS);

impl TaskWord<'_> {
    /// Returns the flags.
    #[inline]
    pub fn get(&self) -> u32 {
        self.flags.read_once()
    }

    /// Sets the flags. An interrupt between [`TaskWord::get`] and this must leave them unchanged,
    /// or its change is lost.
    #[inline]
    pub fn set(&self, flags: u32) {
        self.flags.write_once(flags);
    }

    /// Returns the flags. If `is_initialized` is false for them, first sets them to `flags`, and
    /// the count to the result of `count`. If an interrupt sets them at that moment, its values
    /// remain.
    #[inline]
    pub fn get_or_begin(
        &self,
        flags: u32,
        is_initialized: impl Fn(u32) -> bool,
        count: impl Fn() -> u32,
    ) -> u32 {
        let current = self.get();
        if is_initialized(current) {
            return current;
        }
        let before = self.whole.read_once();
        if is_initialized(before as u32) {
            return before as u32;
        }
        let begun = (count() as usize) << u32::BITS | flags as usize;
        match self.whole.cmpxchg(before, begun, Relaxed) {
            Ok(_) => flags,
            Err(is) => is as u32,
        }
    }

    /// Returns whether the count has this value.
    #[inline]
    pub fn counts(&self, value: u32) -> bool {
        self.count.read_once() == value
    }

    /// Raises the count to `value`, unless an interrupt has raised it further. Returns the
    /// difference; each step is returned only once, whichever context makes it.
    #[cold]
    pub fn raise(&self, value: u32) -> u32 {
        let mut before = self.count.read_once();
        loop {
            // The counts wrap around.
            let more = value.wrapping_sub(before);
            if more == 0 || more > u32::MAX / 2 {
                return 0;
            }
            match self.count.cmpxchg(before, value, Relaxed) {
                Ok(_) => return more,
                Err(is) => before = is,
            }
        }
    }
}
