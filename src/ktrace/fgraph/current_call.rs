// SPDX-License-Identifier: GPL-2.0

//! Describes the call that begins, or the one that returns, while the kernel calls a hook for it.

use core::{
    mem::size_of,
    ops::Deref,
    ptr::NonNull, //
};

use kernel::prelude::*;

use super::{
    active_calls::Open,
    frame::{
        FrameRef,
        LongFrame,
        StoredFrame, //
    },
};
use crate::ktrace::hook::{
    ftrace_ops::ktrace_argument,
    stack_depth::Stack, //
};
use crate::ktrace::{
    private::abi,
    record::context::MAX_ARGS, //
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_return_value(fregs: *mut c_void) -> c_ulong;
    fn ktrace_call_fgraph_reserve_data(idx: c_int, size: c_int) -> *mut c_void;
}

/// The call of a function.
///
/// # Invariants
///
/// The callback for the call has not returned; `fregs` is what ftrace passed, or null.
pub struct CurrentCall<'a> {
    open: Open<'a>,
    /// The function.
    pub func: usize,
    fregs: *mut c_void,
}

impl<'a> Deref for CurrentCall<'a> {
    type Target = Open<'a>;

    #[inline]
    fn deref(&self) -> &Open<'a> {
        &self.open
    }
}

impl<'a> CurrentCall<'a> {
    /// Creates a call.
    ///
    /// # Safety
    ///
    /// The caller must guarantee the type invariants.
    #[inline(always)]
    pub(super) unsafe fn new(open: Open<'a>, func: usize, fregs: *mut c_void) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self { open, func, fregs }
    }

    /// Returns a copy for the slow path; see [`Open::reborrow`].
    #[inline(always)]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            open: self.open.reborrow(),
            func: self.func,
            fregs: self.fregs,
        }
    }

    /// Adds a frame to the call until it returns, with a half word of the hook's own and flags. The
    /// call is timed from now on. Must be called only once. `None` if the shadow stack is full:
    /// then the hook has to return false.
    #[inline]
    pub fn reserve_frame(&self, half: u32, flags: u32) -> Option<FrameRef<'_>> {
        // SAFETY: Called once in the callback, for the current task.
        let data = unsafe {
            ktrace_call_fgraph_reserve_data(self.open.ops().1, size_of::<StoredFrame>() as c_int)
        };
        let stored = NonNull::new(data.cast::<StoredFrame>())?;
        self.open.detect_layout(stored);
        // SAFETY: The reserved data has the size of a `StoredFrame`, is aligned to words, and
        // exists until the call returns.
        Some(unsafe { FrameRef::begin(stored, self.func, half, self.open.tag, flags) })
    }

    /// Returns the stack of the current task; `None` if the registers are not known.
    #[inline]
    pub fn stack(&self) -> Option<Stack<'_>> {
        // SAFETY: By the type invariant, `fregs` is what ftrace passed, or null, and the callback
        // returns after `self` is dropped.
        unsafe { Stack::new(self.fregs) }
    }

    /// Like [`CurrentCall::reserve_frame`], for a hook without a fast path. The frame also has the
    /// result of `word`, which is called after the call is timed, for [`Open::word`].
    pub fn reserve_long_frame(
        &self,
        half: u32,
        flags: u32,
        word: impl FnOnce() -> u64,
    ) -> Option<FrameRef<'_>> {
        // SAFETY: Called once in the callback, for the current task.
        let data = unsafe {
            ktrace_call_fgraph_reserve_data(self.open.ops().1, size_of::<LongFrame>() as c_int)
        };
        let long = NonNull::new(data.cast::<LongFrame>())?;
        // SAFETY: The reserved data has the size of a `LongFrame`, is aligned to words, and exists
        // until the call returns. Its first member is a `StoredFrame`. Its word is an aligned word,
        // which only the task itself accesses.
        unsafe {
            let frame = FrameRef::begin(long.cast(), self.func, half, self.open.tag, flags);
            let place: *mut u64 = (&raw mut (*long.as_ptr()).word).cast();
            place.write_volatile(word());
            Some(frame)
        }
    }

    /// Returns argument number `n`, as the register holds it; 0 if `n` is not below [`MAX_ARGS`] or
    /// the registers are not known.
    #[inline]
    pub fn argument(&self, n: usize) -> usize {
        if self.fregs.is_null() || n >= MAX_ARGS {
            return 0;
        }
        // SAFETY: Reads from the registers, which are valid by the type invariant.
        unsafe { ktrace_argument(self.fregs, n as c_uint) as usize }
    }
}

/// The return of a function.
///
/// # Invariants
///
/// The callback for the return has not returned; `fregs` is what ftrace passed, or null.
pub struct Return<'a> {
    open: Open<'a>,
    /// The function.
    pub func: usize,
    /// Total number of calls of this task that found the shadow stack full.
    pub overrun: u32,
    fregs: *mut c_void,
}

impl<'a> Deref for Return<'a> {
    type Target = Open<'a>;

    #[inline]
    fn deref(&self) -> &Open<'a> {
        &self.open
    }
}

impl<'a> Return<'a> {
    /// Creates a return.
    ///
    /// # Safety
    ///
    /// The caller must guarantee the type invariants.
    #[inline(always)]
    pub(super) unsafe fn new(
        open: Open<'a>,
        ret: &abi::ftrace_graph_ret,
        fregs: *mut c_void,
    ) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self {
            open,
            func: ret.func,
            overrun: ret.overrun,
            fregs,
        }
    }

    /// Returns a copy for the slow path; see [`Open::reborrow`].
    #[inline(always)]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            open: self.open.reborrow(),
            func: self.func,
            overrun: self.overrun,
            fregs: self.fregs,
        }
    }

    /// Returns the frame of the call, only once. From then on, an interrupt does not take the call
    /// for an open one, nor the old data of the frame for one of its own.
    #[inline]
    pub fn frame(&self) -> Option<FrameRef<'_>> {
        let frame = self.open.frame(0)?;
        frame.invalidate();
        Some(frame)
    }

    /// Returns the return value of the function, as the register holds it.
    #[inline]
    pub fn value(&self) -> usize {
        // SAFETY: `fregs` is what ftrace passed, by the type invariant, or null.
        unsafe { ktrace_return_value(self.fregs) as usize }
    }
}
