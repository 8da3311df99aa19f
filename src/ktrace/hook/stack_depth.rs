// SPDX-License-Identifier: GPL-2.0

//! How deep the stack of a task is when a traced function is called, and which functions use how
//! much of it.
//!
//! C headers: `include/linux/sched/task_stack.h`, `include/linux/stacktrace.h`.

use core::{
    marker::PhantomData,
    ptr::NonNull, //
};

use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Release, //
    },
};

use crate::ktrace::sync::read_once::ReadOnce;

extern "C" {
    pub(super) fn stack_trace_save(store: *mut c_ulong, size: c_uint, skip: c_uint) -> c_uint;
    fn ktrace_stack_size() -> c_uint;
    fn ktrace_stack_used(fregs: *mut c_void) -> c_uint;
    fn ktrace_stack_frames(
        fregs: *mut c_void,
        functions: *const c_ulong,
        nr: c_uint,
        used: *mut c_ulong,
    );
}

/// Maximum number of functions of a stack.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of frames that are unwound. Those of the callback come first.
const MAX_FRAMES: usize = MAX_DEPTH + 32;

/// Returns the size of the kernel stack of a task in bytes.
pub fn stack_size() -> usize {
    // SAFETY: Returns a constant.
    unsafe { ktrace_stack_size() as usize }
}

/// Maximum distance in bytes from the start of a function to the return address of its call to
/// ftrace: a landing pad and the call itself.
const CALL_SITE: usize = 16;

/// Returns whether `frame`, an address in a stack trace, is where a function's call to ftrace
/// returns. `function` is the address of the function, or that of the call.
pub(super) fn is_in_function(frame: usize, function: usize) -> bool {
    frame.wrapping_sub(function) <= CALL_SITE
}

/// The stack of the current task when a traced function is called.
///
/// # Invariants
///
/// The pointer is to the registers of the call that ftrace passed to the present callback, which
/// returns after `'a`.
#[derive(Clone, Copy)]
pub struct Stack<'a>(NonNull<c_void>, PhantomData<&'a ()>);

/// Memory for the functions of a stack.
pub struct Buffer {
    /// 1 while [`StackFunctions`] exist that use it.
    busy: Atomic<u32>,
    addresses: [Atomic<usize>; MAX_FRAMES],
    used: [Atomic<usize>; MAX_DEPTH],
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            busy: Atomic::new(0),
            addresses: [const { Atomic::new(0) }; MAX_FRAMES],
            used: [const { Atomic::new(0) }; MAX_DEPTH],
        }
    }
}

/// The functions of a stack, in a buffer that nothing else uses.
pub struct StackFunctions<'b> {
    buffer: &'b Buffer,
    /// The index of the first address.
    first: usize,
    count: usize,
}

impl StackFunctions<'_> {
    /// Iterates over the functions, the innermost first: addresses in them, and the number of bytes
    /// that they and their callers use. Functions whose frames were not found are left out. The
    /// address is 0 for callers that are not known.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let addresses = self.buffer.addresses.iter().skip(self.first);
        let functions = addresses.zip(&self.buffer.used).take(self.count);
        functions
            .map(|(address, used)| (address.read_once(), used.read_once()))
            .filter(|(_, used)| *used != 0)
    }
}

impl Drop for StackFunctions<'_> {
    fn drop(&mut self) {
        self.buffer.busy.store(0, Release);
    }
}

impl<'a> Stack<'a> {
    /// Wraps a pointer to registers, unless it is null.
    ///
    /// # Safety
    ///
    /// `fregs` must be null, or what ftrace passed to the present callback, for the call of a
    /// function. The callback must return after the lifetime that the caller chooses.
    #[inline]
    pub(in crate::ktrace) unsafe fn new(fregs: *mut c_void) -> Option<Self> {
        // INVARIANT: The caller guarantees what the invariants say.
        NonNull::new(fregs).map(|fregs| Self(fregs, PhantomData))
    }

    /// Returns how many bytes of the task's stack are in use, without the frame of the function
    /// that is called. `None` if the function runs on another stack, such as that of interrupts, or
    /// in an interrupt of another callback.
    #[inline]
    pub fn used(&self) -> Option<usize> {
        // SAFETY: The registers are valid, by the type invariant. Reads state of the current task.
        let used = unsafe { ktrace_stack_used(self.0.as_ptr()) } as usize;
        (used != 0).then_some(used)
    }

    /// Returns the functions of the stack, at most [`MAX_DEPTH`]. `None` if [`Stack::used`] returns
    /// `None`, or if another context uses the buffer. `function` is the address of the called
    /// function, or that of its call to ftrace. Any context.
    pub fn functions<'b>(&self, function: usize, buffer: &'b Buffer) -> Option<StackFunctions<'b>> {
        self.used()?;
        buffer.busy.cmpxchg(0, 1, Acquire).ok()?;
        let addresses: *mut c_ulong = buffer.addresses.as_ptr().cast_mut().cast();
        // SAFETY: Writes at most `MAX_FRAMES` words to the array, which has as many. The content of
        // atomics may be written through a shared reference, and nothing else uses the buffer until
        // `busy` is 0 again.
        let all = unsafe { stack_trace_save(addresses, MAX_FRAMES as c_uint, 0) } as usize;
        let frames = buffer.addresses.get(..all).unwrap_or(&[]);
        // The trace begins with frames of ftrace's trampoline and of this module.
        let called = |frame: &Atomic<usize>| is_in_function(frame.read_once(), function);
        let (first, count) = match frames.iter().position(called) {
            Some(first) => (first, all.wrapping_sub(first).min(MAX_DEPTH)),
            // The unwinder does not know the trampoline, which ftrace is about to free.
            None => {
                for (place, address) in buffer.addresses.iter().zip([function, 0]) {
                    place.write_once(address);
                }
                (0, 2)
            }
        };
        let used: *mut c_ulong = buffer.used.as_ptr().cast_mut().cast();
        // SAFETY: The registers are valid, by the type invariant, and the stack pointer is in the
        // stack of the current task, since `used()` has returned a number. Reads `count` words of
        // one array, which has as many from `first` on, and writes as many to the other one, which
        // has `MAX_DEPTH`. Both consist of atomics, and nothing else uses the buffer.
        unsafe {
            ktrace_stack_frames(
                self.0.as_ptr(),
                addresses.cast_const().add(first),
                count as c_uint,
                used,
            )
        };
        Some(StackFunctions {
            buffer,
            first,
            count,
        })
    }
}
