// SPDX-License-Identifier: GPL-2.0

//! The macro [`bind_sched_hooks!`](crate::bind_sched_hooks), which defines the functions that the C
//! code calls for the hooks on the scheduler's tracepoints.

/// Sets the type whose [`SchedHooks`](crate::ktrace::task::sched::SchedHooks) the probes call. A
/// module uses this once.
#[macro_export]
macro_rules! bind_sched_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::{
                bindings::task_struct,
                ffi::c_char, //
            };
            use $crate::ktrace::{
                sync::atomic::AtomicPtr,
                task::{
                    sched::{
                        self,
                        SchedHooks, //
                    },
                    Comm,
                    Task, //
                },
            };

            static STATE: AtomicPtr<$hooks> = AtomicPtr::null();

            // SAFETY: `state()` returns one static, which is only visible in this block.
            unsafe impl sched::Bound for $hooks {
                fn state() -> &'static AtomicPtr<Self> {
                    &STATE
                }
            }

            /// # Safety
            ///
            /// Only for `sched.c`: both tasks must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_switch(
                prev: *mut task_struct,
                next: *mut task_struct,
                state: u32,
                of_prev: bool,
                of_next: bool,
                now: u64,
            ) {
                // SAFETY: The caller guarantees that both tasks are alive.
                let (prev, next) = unsafe { (Task::from_raw(prev), Task::from_raw(next)) };
                let prev = sched::Leaving {
                    task: prev,
                    state,
                    followed: of_prev,
                };
                let next = sched::Arriving {
                    task: next,
                    followed: of_next,
                };
                sched::with_hooks::<$hooks>(|hooks| SchedHooks::switch(hooks, prev, next, now));
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_waking(task: *mut task_struct, context: u32) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::waking(hooks, Task::from_raw(task), context) }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_wakeup(
                task: *mut task_struct,
                cpu: u32,
                is_new: bool,
                now: u64,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::wakeup(hooks, Task::from_raw(task), cpu, is_new, now) }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_migrate(task: *mut task_struct, from: u32, to: u32) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::migrate(hooks, Task::from_raw(task), from, to) }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: both tasks must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_fork(
                parent: *mut task_struct,
                child: *mut task_struct,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that both tasks are alive.
                    unsafe {
                        SchedHooks::fork(hooks, Task::from_raw(parent), Task::from_raw(child))
                    }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_prepare_exec(task: *mut task_struct) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::prepare_exec(hooks, Task::from_raw(task)) }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive and `filename` a valid C string until this
            /// returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_exec(
                task: *mut task_struct,
                old_pid: i32,
                filename: *const c_char,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive and the string valid.
                    unsafe {
                        SchedHooks::exec(
                            hooks,
                            Task::from_raw(task),
                            old_pid,
                            sched::bytes(filename),
                        )
                    }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_changes(task: *mut task_struct) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::changes(hooks, Task::from_raw(task)) }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive and `comm` a valid C string until this
            /// returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_rename(task: *mut task_struct, comm: *const c_char) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive and the string valid.
                    unsafe {
                        SchedHooks::rename(hooks, Task::from_raw(task), Comm::from_char_ptr(comm))
                    }
                });
            }

            /// # Safety
            ///
            /// Only for `sched.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_exit(
                task: *mut task_struct,
                group_dead: bool,
                now: u64,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: The caller guarantees that the task is alive.
                    unsafe { SchedHooks::exit(hooks, Task::from_raw(task), group_dead, now) }
                });
            }

            #[no_mangle]
            extern "C" fn ktrace_sched_reclaim() {
                sched::with_hooks::<$hooks>(SchedHooks::reclaim);
            }
        };
    };
}
pub use bind_sched_hooks;
