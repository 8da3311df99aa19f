// SPDX-License-Identifier: GPL-2.0

//! The way from the callbacks in `fgraph.c` to the one type that they serve.

use kernel::prelude::*;

use super::{
    frame::FrameRef,
    hook::{
        Bound,
        Inner, //
    },
    open::{
        Call,
        Return, //
    },
};
use crate::ktrace::abi;

/// # Safety
///
/// For `fgraph.c`: `graph` is that of a registered [`Hook`] of this type, `task` the current
/// one, and the others are what the kernel passed to the callback.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_call<G: Bound>(
    call: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
) -> bool {
    // SAFETY: By the precondition; `shared` is the first member. Freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: By the precondition.
    let call = unsafe { &*call.cast::<abi::ftrace_graph_ent>() };
    // Kernels differ in how wide it is; it is a small number.
    let depth = call.depth as i32;
    // SAFETY: Within the callback preemption is off, and the call is on the shadow stack.
    let open = unsafe { inner.open(task, depth) };
    // SAFETY: As above.
    let call = unsafe { Call::new(open, call.func, fregs) };
    inner.state.called(&call)
}

/// # Safety
///
/// As for [`dispatch_call`]; `frame` is what `fgraph.c` has just filled in for that call.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_began<G: Bound>(
    call: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    frame: *mut c_void,
) -> bool {
    // SAFETY: By the precondition; `shared` is the first member. Freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: By the precondition.
    let call = unsafe { &*call.cast::<abi::ftrace_graph_ent>() };
    // SAFETY: Within the callback preemption is off, and the call is on the shadow stack.
    let open = unsafe { inner.open(task, call.depth as i32) };
    // SAFETY: Within the callback, with what ftrace passed.
    let call = unsafe { Call::new(open, call.func, fregs) };
    // SAFETY: By the precondition, the frame was filled in on the shadow stack, where it stays until the callback
    // returns.
    inner.state.began(&call, unsafe { FrameRef::made(frame) })
}

/// Calls `with` with the hook and the return that the kernel tells of.
///
/// # Safety
///
/// As for [`dispatch_call`], within the callback for a return.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn dispatch_return<G: Bound>(
    ret: *const c_void,
    graph: *mut c_void,
    fregs: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    with: impl FnOnce(&G, &Return<'_>),
) {
    // SAFETY: By the precondition; `shared` is the first member. Freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: By the precondition.
    let ret = unsafe { &*ret.cast::<abi::ftrace_graph_ret>() };
    // SAFETY: By the precondition; the call leaves the shadow stack after the callback.
    let open = unsafe { inner.open(task, ret.depth) };
    // SAFETY: As above.
    with(&inner.state, &unsafe { Return::new(open, ret, fregs) });
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_add<G: Bound>(
    ret: *const c_void,
    graph: *mut c_void,
    total_ns: u64,
    cpu: u32,
) {
    // SAFETY: By the precondition.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: By the precondition.
    let ret = unsafe { &*ret.cast::<abi::ftrace_graph_ret>() };
    inner.state.added(cpu as usize, ret.func, total_ns);
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_full<G: Bound>(graph: *mut c_void) {
    // SAFETY: By the precondition.
    unsafe { &*graph.cast::<Inner<G>>() }.state.stack_full();
}

/// Names the one type whose [`super::GraphHook`] the callbacks call.
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
                [const { $crate::ktrace::atomic::AtomicPtr::null() };
                    $crate::ktrace::gate::SLOTS as usize];

            // SAFETY: The functions below are what the C side calls; one static, which is not
            // visible outside this block.
            unsafe impl fgraph::Bound for $hook {
                fn hooks() -> &'static fgraph::Hooks<Self> {
                    &HOOKS
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_called(
                call: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
            ) -> c_int {
                // SAFETY: By the precondition.
                c_int::from(unsafe { fgraph::dispatch_call::<$hook>(call, graph, fregs, task) })
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_returned(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.returned(ret)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_ended(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                total_ns: u64,
                written: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.ended(ret, total_ns, written != 0)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_late(
                ret: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                total_ns: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(ret, graph, fregs, task, |hook, ret| {
                        hook.late(ret, total_ns)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, what the kernel passed, and the frame of the call.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_began(
                call: *const c_void,
                graph: *mut c_void,
                fregs: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                frame: *mut c_void,
            ) -> c_int {
                // SAFETY: By the precondition.
                c_int::from(unsafe {
                    fgraph::dispatch_began::<$hook>(call, graph, fregs, task, frame)
                })
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_added(
                ret: *const c_void,
                graph: *mut c_void,
                total_ns: u64,
                cpu: c_uint,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_add::<$hook>(ret, graph, total_ns, cpu) }
            }

            /// # Safety
            ///
            /// For `markers.c`: with preemption off.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_interposed(context: c_uint) {
                // SAFETY: By the precondition.
                unsafe { fgraph::current_interposes::<$hook>(context) }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_full(graph: *mut c_void) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_full::<$hook>(graph) }
            }
        };
    };
}
pub use bind_graph_hook;
