// SPDX-License-Identifier: GPL-2.0

//! The macro [`bind_task_hooks!`](crate::bind_task_hooks), which defines the functions that the C
//! code calls for the hooks on the life of tasks.

/// Sets the type whose [`TaskHooks`](crate::ktrace::task::hooks::TaskHooks) the probes call. A
/// module uses this once.
#[macro_export]
macro_rules! bind_task_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::bindings::task_struct;
            use $crate::ktrace::task::{
                hooks::{
                    self,
                    TaskHooks, //
                },
                task_mask,
                Comm,
                Task, //
            };

            static STATE: $crate::ktrace::sync::atomic::AtomicPtr<$hooks> =
                $crate::ktrace::sync::atomic::AtomicPtr::null();

            // SAFETY: `state()` returns one static, which is only visible in this block.
            unsafe impl hooks::Bound for $hooks {
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

            /// # Safety
            ///
            /// Only for `task.c`: both tasks must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_new_task(
                parent: *mut task_struct,
                child: *mut task_struct,
            ) {
                // SAFETY: The caller guarantees that both tasks are alive.
                let (parent, child) = unsafe { (Task::from_raw(parent), Task::from_raw(child)) };
                hooks::with_hooks::<$hooks>(|hooks| TaskHooks::new_task(hooks, parent, child));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns, and `comm` must be a C
            /// string.
            #[no_mangle]
            unsafe extern "C" fn ktrace_rename_task(
                task: *mut task_struct,
                comm: *const ::kernel::ffi::c_char,
            ) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                // SAFETY: The caller guarantees that `comm` is a C string.
                let comm = unsafe { Comm::from_char_ptr(comm) };
                hooks::with_hooks::<$hooks>(|hooks| TaskHooks::renamed(hooks, task, comm));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_prepare_exec_task(task: *mut task_struct) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                hooks::with_hooks::<$hooks>(|hooks| TaskHooks::prepare_exec(hooks, task));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_exec_task(task: *mut task_struct, old_pid: i32) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                hooks::with_hooks::<$hooks>(|hooks| TaskHooks::executed(hooks, task, old_pid));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_free_task(task: *mut task_struct) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                hooks::with_hooks::<$hooks>(|hooks| TaskHooks::freed(hooks, task));
            }

            #[no_mangle]
            extern "C" fn ktrace_recheck_tasks() {
                hooks::with_hooks::<$hooks>(TaskHooks::recheck);
            }

            #[no_mangle]
            extern "C" fn ktrace_reclaim_tasks() {
                hooks::with_hooks::<$hooks>(TaskHooks::reclaim);
            }
        };
    };
}
pub use bind_task_hooks;
