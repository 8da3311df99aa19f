// SPDX-License-Identifier: GPL-2.0

//! Hooks on the calls and returns of a few functions, which are selected by a pattern of their own
//! instead of the filters of a trace array.
//!
//! Each watch is a `struct fgraph_ops`, of which the kernel allows 16, with one frame of 32 bytes
//! on the shadow stack for each open call.
//!
//! C headers: `include/linux/ftrace.h` (`struct fgraph_ops`, `ftrace_set_filter()`).

use core::{
    marker::PhantomData,
    ptr::NonNull, //
};

use kernel::{
    error::from_err_ptr,
    prelude::*,
    sync::Arc, //
};

use crate::ktrace::private::{
    callbacks::{
        ktrace_call_callbacks,
        ktrace_call_frame, //
    },
    symbols::Resolved, //
};

#[repr(C)]
struct RawWatch {
    _opaque: [u8; 0],
}

extern "C" {
    fn ktrace_watch_calls(
        functions: *mut c_char,
        bit: u32,
        callbacks: *const ktrace_call_callbacks,
        data: *const c_void,
    ) -> *mut RawWatch;
    fn ktrace_unwatch_calls(watch: *mut RawWatch) -> bool;
}

/// The data of a call that is kept from its beginning until it returns. All times are in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct BegunCall {
    /// The time of the call.
    pub begun_ns: u64,
    /// The time that the task had waited for a CPU before the call.
    pub wait_ns: u64,
    /// The time that the task had been blocked before the call.
    pub block_ns: u64,
}

/// Receives the calls of a [`CallWatch`].
///
/// All functions are called in the task that makes the call, in any context, NMI included, with
/// preemption off and under the kernel's recursion guard.
pub trait CallWatcher: Send + Sync + 'static {
    /// Called when a function is called. The return of the call is reported only if the result is
    /// not `None`.
    fn entry(&self) -> Option<BegunCall>;

    /// Called when a function returns `value`.
    fn exit(&self, begun: BegunCall, value: usize);

    /// Called if a call cannot be reported because the shadow stack of the task is full.
    fn overrun(&self);
}

/// A registered hook.
///
/// # Invariants
///
/// `watch` is from `ktrace_watch_calls()` with the watcher, which is alive as long as it is hooked.
pub struct CallWatch<T: CallWatcher> {
    watch: NonNull<RawWatch>,
    _watcher: Arc<T>,
}

// SAFETY: Owns a hook, which is not bound to a thread.
unsafe impl<T: CallWatcher> Send for CallWatch<T> {}
// SAFETY: Nothing can be done with a shared reference.
unsafe impl<T: CallWatcher> Sync for CallWatch<T> {}

impl<T: CallWatcher> CallWatch<T> {
    /// Hooks functions for the tasks whose bit `slot` is set in the trace mask. `functions` is a
    /// pattern as in `set_ftrace_filter`. May sleep.
    ///
    /// # Errors
    ///
    /// `EINVAL` if no function that can be traced matches, or the pattern has a NUL byte; `ENOSPC`
    /// if there are 16 users of the call graph; `ENOMEM`.
    pub fn new(_: Resolved, functions: &[u8], slot: u32, watcher: Arc<T>) -> Result<Self> {
        if functions.contains(&0) {
            return Err(EINVAL);
        }
        let mut pattern = KVec::with_capacity(functions.len() + 1, GFP_KERNEL)?;
        pattern.extend_from_slice(functions, GFP_KERNEL)?;
        pattern.push(0, GFP_KERNEL)?;
        let bit = 1u32.checked_shl(slot).ok_or(EINVAL)?;
        // SAFETY: The pattern is a C string. The callbacks get a pointer to the watcher, of which
        // this keeps a reference until no callback runs any more.
        let watch = from_err_ptr(unsafe {
            ktrace_watch_calls(
                pattern.as_mut_ptr().cast(),
                bit,
                CallCallbacks::<T>::TABLE,
                (&raw const *watcher).cast(),
            )
        })?;
        // INVARIANT: Just registered with this watcher.
        Ok(Self {
            watch: NonNull::new(watch).ok_or(ENOMEM)?,
            _watcher: watcher,
        })
    }
}

impl<T: CallWatcher> Drop for CallWatch<T> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, this is a hook that was not removed before. When the
        // function returns, no callback uses the watcher.
        if !unsafe { ktrace_unwatch_calls(self.watch.as_ptr()) } {
            pr_warn!("failed to unregister fgraph_ops; it stays registered, but is not called\n");
        }
    }
}

/// The callbacks for a type of watchers.
struct CallCallbacks<T>(PhantomData<T>);

impl<T: CallWatcher> CallCallbacks<T> {
    const TABLE: &'static ktrace_call_callbacks = &ktrace_call_callbacks {
        entry: Some(entry::<T>),
        exit: Some(exit::<T>),
        overrun: Some(overrun::<T>),
    };
}

/// # Safety
///
/// Only for `call_watch.c`: `data` must be the watcher of a registered hook of this type, and
/// `frame` be valid for writing.
unsafe extern "C" fn entry<T: CallWatcher>(
    data: *const c_void,
    frame: *mut ktrace_call_frame,
) -> bool {
    // SAFETY: The watcher is alive while it is hooked, as the caller guarantees.
    let Some(begun) = unsafe { &*data.cast::<T>() }.entry() else {
        return false;
    };
    // SAFETY: The place is valid for writing, as the caller guarantees.
    unsafe {
        frame.write(ktrace_call_frame {
            tag: 0,
            begun_ns: begun.begun_ns,
            wait_ns: begun.wait_ns,
            block_ns: begun.block_ns,
        });
    }
    true
}

/// # Safety
///
/// Only for `call_watch.c`: `data` must be the watcher of a registered hook of this type, and
/// `frame` what its `entry()` has written for this call.
unsafe extern "C" fn exit<T: CallWatcher>(
    data: *const c_void,
    frame: *const ktrace_call_frame,
    value: c_ulong,
) {
    // SAFETY: The frame is valid, as the caller guarantees.
    let frame = unsafe { &*frame };
    let begun = BegunCall {
        begun_ns: frame.begun_ns,
        wait_ns: frame.wait_ns,
        block_ns: frame.block_ns,
    };
    // SAFETY: The watcher is alive while it is hooked, as the caller guarantees.
    unsafe { &*data.cast::<T>() }.exit(begun, value);
}

/// # Safety
///
/// Only for `call_watch.c`: `data` must be the watcher of a registered hook of this type.
unsafe extern "C" fn overrun<T: CallWatcher>(data: *const c_void) {
    // SAFETY: The watcher is alive while it is hooked, as the caller guarantees.
    unsafe { &*data.cast::<T>() }.overrun();
}
