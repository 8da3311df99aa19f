// SPDX-License-Identifier: GPL-2.0

//! The macro [`bind_task_hooks!`](crate::bind_task_hooks), which defines the functions that C calls
//! by name at a context switch.

/// Sets the type whose [`TaskHooks`](crate::ktrace::task::hooks::TaskHooks) the probes call. A
/// module uses this once.
#[macro_export]
macro_rules! bind_task_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::bindings::task_struct;
            use $crate::ktrace::task::{
                hooks,
                task_mask,
                Task, //
            };

            static STATE: $crate::ktrace::sync::atomic::AtomicPtr<$hooks> =
                $crate::ktrace::sync::atomic::AtomicPtr::null();

            // SAFETY: `state()` returns one static, which is only visible in this block.
            unsafe impl hooks::BoundTaskHooks for $hooks {
                fn state() -> &'static $crate::ktrace::sync::atomic::AtomicPtr<Self> {
                    &STATE
                }
            }

            /// # Safety
            ///
            /// Only for C: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_mask_of(task: *mut task_struct) -> u32 {
                // SAFETY: The caller guarantees that the task is alive.
                task_mask::mask_of::<$hooks>(unsafe { Task::from_raw(task) })
            }

            /// # Safety
            ///
            /// Only for the probe on `sched_switch` in `task.c`; see [`task_mask::switched`].
            #[no_mangle]
            unsafe extern "C" fn ktrace_switched(
                mask: *mut u32,
                preempt: bool,
                prev: *mut task_struct,
                next: *mut task_struct,
                prev_state: ::kernel::ffi::c_uint,
            ) {
                // SAFETY: The caller guarantees what `task_mask::switched()` requires.
                unsafe { task_mask::switched::<$hooks>(mask, preempt, prev, next, prev_state) }
            }

            #[no_mangle]
            extern "C" fn ktrace_idle_mask(cpu: u32) -> u32 {
                task_mask::mask_of_next::<$hooks>(0, || cpu)
            }
        };
    };
}
pub use bind_task_hooks;
