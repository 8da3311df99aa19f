// SPDX-License-Identifier: GPL-2.0

//! The macro [`bind_sched_hooks!`](crate::bind_sched_hooks), which defines the functions that C
//! calls by name at switches and wakeups.

/// Sets the type whose [`SchedHooks`](crate::ktrace::task::sched::SchedHooks) the probes call. A
/// module uses this once.
#[macro_export]
macro_rules! bind_sched_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::bindings::task_struct;
            use $crate::ktrace::{
                sync::atomic::AtomicPtr,
                task::{
                    sched::{
                        self,
                        SchedHooks, //
                    },
                    Task, //
                },
            };

            static STATE: AtomicPtr<$hooks> = AtomicPtr::null();

            // SAFETY: `state()` returns one static, which is only visible in this block.
            unsafe impl sched::BoundSchedHooks for $hooks {
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
        };
    };
}
pub use bind_sched_hooks;
