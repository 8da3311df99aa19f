// SPDX-License-Identifier: GPL-2.0

//! Passes the callbacks of `fgraph.c` to the one type that implements the hook.

use kernel::prelude::*;

use super::{
    current_call::{
        CurrentCall,
        Return, //
    },
    frame::FrameRef,
    hook::{
        BoundGraphHook,
        Inner, //
    },
};
use crate::ktrace::private::abi;

/// Passes a call to the hook.
///
/// # Safety
///
/// Only for `fgraph.c`, in the callback for a call: `graph` must belong to a registered
/// [`super::GraphRegistration`] of this type, `task` must be the current one, and `call` and
/// `fregs` must be what the kernel passed.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_call<G: BoundGraphHook>(
    call: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
) -> bool {
    // SAFETY: `graph` belongs to a registered hook of this type, as the caller guarantees, and
    // `shared` is the first member of `Inner`. The hook is freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: `call` is what the kernel passed, as the caller guarantees.
    let call = unsafe { &*call.cast::<abi::ftrace_graph_ent>() };
    // Its type differs between kernels; the value is small.
    let depth = call.depth as i32;
    // SAFETY: In the callback, preemption is off, and the call is on the shadow stack of the
    // current task.
    let open = unsafe { inner.open(task, depth) };
    // SAFETY: This runs in the callback for this call, and `fregs` is what ftrace passed to it.
    let call = unsafe { CurrentCall::new(open, call.func, fregs) };
    inner.state.entry(&call)
}

/// Passes a fast-path call whose entry must be written now to the hook.
///
/// # Safety
///
/// Those of [`dispatch_call`]; `frame` must be the frame that `fgraph.c` has just filled in for
/// that call.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_fast_entry<G: BoundGraphHook>(
    call: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    frame: *mut c_void,
) -> bool {
    // SAFETY: `graph` belongs to a registered hook of this type, as the caller guarantees, and
    // `shared` is the first member of `Inner`. The hook is freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: `call` is what the kernel passed, as the caller guarantees.
    let call = unsafe { &*call.cast::<abi::ftrace_graph_ent>() };
    // SAFETY: In the callback, preemption is off, and the call is on the shadow stack of the
    // current task.
    let open = unsafe { inner.open(task, call.depth as i32) };
    // SAFETY: This runs in the callback for this call, and `fregs` is what ftrace passed to it.
    let call = unsafe { CurrentCall::new(open, call.func, fregs) };
    // SAFETY: The frame was filled in on the shadow stack, as the caller guarantees, and exists
    // until the callback returns.
    let frame = unsafe { FrameRef::made(frame) };
    inner.state.fast_entry(&call, frame)
}

/// Calls `with` with the hook and a return.
///
/// # Safety
///
/// Only for `fgraph.c`, in the callback for a return: `graph` must belong to a registered
/// [`super::GraphRegistration`] of this type, `task` must be the current one, and `ret` and `fregs`
/// must be what the kernel passed.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn dispatch_return<G: BoundGraphHook>(
    ret: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    with: impl FnOnce(&G, &Return<'_>),
) {
    // SAFETY: `graph` belongs to a registered hook of this type, as the caller guarantees, and
    // `shared` is the first member of `Inner`. The hook is freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: `ret` is what the kernel passed, as the caller guarantees.
    let ret = unsafe { &*ret.cast::<abi::ftrace_graph_ret>() };
    // SAFETY: In the callback, preemption is off, and the call is on the shadow stack of the
    // current task until the callback returns.
    let open = unsafe { inner.open(task, ret.depth) };
    // SAFETY: This runs in the callback for this return, and `fregs` is what ftrace passed to it.
    with(&inner.state, &unsafe { Return::new(open, ret, fregs) });
}

/// Passes a fast-path return to the hook, which only adds up times.
///
/// # Safety
///
/// Only for `fgraph.c`, in the callback for a return: `graph` must belong to a registered
/// [`super::GraphRegistration`] of this type, and `ret` must be what the kernel passed.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_add<G: BoundGraphHook>(
    ret: *const c_void,
    graph: *mut c_void,
    total_ns: u64,
    cpu: u32,
) {
    // SAFETY: `graph` belongs to a registered hook of this type, as the caller guarantees. The hook
    // is freed only after the callback has returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: `ret` is what the kernel passed, as the caller guarantees.
    let ret = unsafe { &*ret.cast::<abi::ftrace_graph_ret>() };
    inner
        .state
        .fast_ret_profile(cpu as usize, ret.func, total_ns);
}

/// Selects the one type whose [`super::GraphHook`] the callbacks call.
#[macro_export]
macro_rules! bind_graph_hook {
    ($hook:ty) => {
        const _: () = {
            use ::kernel::ffi::{
                c_int,
                c_uint,
                c_void, //
            };
            use $crate::ktrace::fgraph::{
                self,
                GraphHook as _, //
            };

            static HOOKS: fgraph::Hooks<$hook> =
                [const { $crate::ktrace::sync::atomic::AtomicPtr::null() };
                    $crate::ktrace::task::trace_mask::SLOTS as usize];

            // SAFETY: The C side calls the functions below. `hooks()` always returns the same
            // static, which is not visible outside this block.
            unsafe impl fgraph::BoundGraphHook for $hook {
                fn hooks() -> &'static fgraph::Hooks<Self> {
                    &HOOKS
                }
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_call()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_slow_entry(
                call: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
            ) -> c_int {
                // SAFETY: The caller guarantees what `dispatch_call()` requires.
                c_int::from(unsafe { fgraph::dispatch_call::<$hook>(call, graph, fregs, task) })
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_return()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_slow_ret(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
            ) {
                // SAFETY: The caller guarantees what `dispatch_return()` requires.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.ret(ret)
                    })
                }
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_return()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_fast_ret(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                total_ns: u64,
                written: u64,
            ) {
                // SAFETY: The caller guarantees what `dispatch_return()` requires.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.fast_ret(ret, total_ns, written != 0)
                    })
                }
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_return()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_fast_ret_late(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                total_ns: u64,
            ) {
                // SAFETY: The caller guarantees what `dispatch_return()` requires.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.fast_ret_late(ret, total_ns)
                    })
                }
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_fast_entry()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_fast_entry(
                call: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                frame: *mut c_void,
            ) -> c_int {
                // SAFETY: The caller guarantees what `dispatch_fast_entry()` requires.
                c_int::from(unsafe {
                    fgraph::dispatch_fast_entry::<$hook>(call, graph, fregs, task, frame)
                })
            }

            /// # Safety
            ///
            /// Only for `fgraph.c`: the requirements of `dispatch_add()`.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_fast_ret_profile(
                ret: *const c_void,
                graph: *mut c_void,
                total_ns: u64,
                cpu: c_uint,
            ) {
                // SAFETY: The caller guarantees what `dispatch_add()` requires.
                unsafe { fgraph::dispatch_add::<$hook>(ret, graph, total_ns, cpu) }
            }
        };
    };
}
pub use bind_graph_hook;
