// SPDX-License-Identifier: GPL-2.0

//! The way from the callbacks in `fgraph.c` to the one type that they serve.

use kernel::prelude::*;

use super::{
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
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    func: usize,
    depth: i32,
    fregs: *mut c_void,
) -> bool {
    // SAFETY: By the precondition; `shared` is the first member. Freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // SAFETY: Within the callback preemption is off, and the call is on the shadow stack.
    let open = unsafe { inner.open(task, depth) };
    // SAFETY: As above.
    inner.state.called(&unsafe { Call::new(open, func, fregs) })
}

/// Calls `with` with the hook and the return that the kernel tells of.
///
/// # Safety
///
/// As for [`dispatch_call`], within the callback for a return.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn dispatch_return<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    ret: *const c_void,
    fregs: *mut c_void,
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
pub unsafe fn dispatch_add<G: Bound>(graph: *mut c_void, cpu: u32, func: usize, total_ns: u64) {
    // SAFETY: By the precondition.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    inner.state.added(cpu as usize, func, total_ns);
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
                c_ulong,
                c_void, //
            };
            use $crate::ktrace::fgraph::{
                self,
                GraphHook as _, //
            };

            static HOOKS: fgraph::Hooks<$hook> =
                [const { ::kernel::sync::atomic::Atomic::new(::core::ptr::null_mut()) };
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
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                func: c_ulong,
                depth: c_int,
                fregs: *mut c_void,
            ) -> c_int {
                // SAFETY: By the precondition.
                c_int::from(unsafe {
                    fgraph::dispatch_call::<$hook>(graph, task, func as usize, depth, fregs)
                })
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_returned(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(graph, task, ret, fregs, |hook, ret| {
                        hook.returned(ret)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_ended(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
                written: u32,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(graph, task, ret, fregs, |hook, ret| {
                        hook.ended(ret, total_ns, written != 0)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_long(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
                written: u32,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(graph, task, ret, fregs, |hook, ret| {
                        hook.long(ret, total_ns, written != 0)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_doubted(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_return::<$hook>(graph, task, ret, fregs, |hook, ret| {
                        hook.doubted(ret, total_ns)
                    })
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_added(
                graph: *mut c_void,
                cpu: c_uint,
                func: c_ulong,
                total_ns: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_add::<$hook>(graph, cpu, func as usize, total_ns) }
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
