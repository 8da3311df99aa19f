// SPDX-License-Identifier: GPL-2.0

//! Hooks on the scheduler's tracepoints: the state transitions of every task.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`SchedHooks`] and is passed to [`bind_sched_hooks!`]; a
//! [`Registration`] of it attaches probes.
//!
//! # Ordering of calls
//!
//! For one task, a switch away from it, a wakeup and a switch to it are called in this order, one
//! after the other: the scheduler makes a task runnable only after it has completely left its CPU
//! (`p->on_cpu`, see `try_to_wake_up()` in kernel/sched/core.c). All three are called with the lock
//! of a run queue or of the task held, except when a task that has not gone to sleep wakes itself.
//! Only [`SchedHooks::waking`] may be called while the task is still leaving its CPU.

use core::{
    ffi::CStr,
    ops::Deref, //
};

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::{
        atomic::{
            Full,
            Release, //
        },
        rcu, //
    },
};

use super::{
    Comm,
    Task, //
};
use crate::ktrace::{
    private::{
        cstr_ext::CStrExt,
        symbols::Resolved, //
    },
    sync::{
        atomic::AtomicPtr,
        read_once::ReadOnce, //
    },
    value_names::Names, //
};

/// The names of the states in which a task leaves its CPU, as in `sched_switch`.
///
/// `R` is a task that gave up its CPU but is still runnable, `R+` a task that was preempted.
pub const STATE_NAMES: Names = &[
    (0, c"R"),
    (0x1, c"S"),
    (0x2, c"D"),
    (0x4, c"T"),
    (0x8, c"t"),
    (0x10, c"X"),
    (0x20, c"Z"),
    (0x40, c"P"),
    (0x80, c"I"),
    (0x100, c"R+"),
];

/// The state of a task that was preempted (`TASK_REPORT_MAX`).
pub const PREEMPTED: u32 = 0x100;

/// The state of a task that gave up its CPU but is still runnable.
pub const RUNNABLE: u32 = 0;

/// The states of a task that will never run again (`EXIT_DEAD`, `EXIT_ZOMBIE`).
pub const ENDED: u32 = 0x30;

/// Returns the time of the scheduler's clock, in ns. Any context.
#[inline]
pub fn now_ns() -> u64 {
    // SAFETY: The function only reads a clock.
    unsafe { ktrace_sched_now() }
}

/// Returns the address of the function in which `task` sleeps, as in `/proc/PID/wchan`; 0 if it is
/// unknown. For [`SchedHooks::wakeup`], with the task that is woken: it has left its CPU and cannot
/// be on another one yet. For a running task, the result is meaningless.
pub fn caller_of(task: Task<'_>) -> usize {
    // SAFETY: `task` is alive. The function unwinds its stack from where it was switched out, holds
    // a reference to the stack during this, and reads nothing outside of it.
    unsafe { ktrace_call___get_wchan(task.as_ptr()) as usize }
}

/// Returns the state in which `task` is blocked, a value of [`STATE_NAMES`], or `None` if it is not
/// blocked. The state may change at any time.
pub fn blocked_in(task: Task<'_>) -> Option<u32> {
    let mut state = 0;
    // SAFETY: `task` is alive; the function only reads single words of it.
    let blocked = unsafe { ktrace_task_blocked(task.as_ptr(), &mut state) };
    blocked.then_some(state)
}

/// The task that leaves the CPU in a context switch.
#[derive(Clone, Copy)]
pub struct Leaving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// The state in which the task leaves the CPU, a value of [`STATE_NAMES`].
    pub state: u32,
    /// Whether the task is followed ([`super::follow`]).
    pub followed: bool,
}

/// The task that gets the CPU in a context switch.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// Whether the task is followed ([`super::follow`]).
    pub followed: bool,
}

/// Callbacks for the scheduler's tracepoints.
///
/// All are called while `&self` is alive, and until [`Registration`] is dropped. None may sleep,
/// except [`SchedHooks::reclaim`]. Times are those of [`now_ns`].
pub trait SchedHooks: Send + Sync + Sized + 'static {
    /// Called when the CPU switches from `prev` to `next`, if at least one of them is followed
    /// ([`super::follow`]). The probe of a [`Registration`](super::registration::Registration)
    /// makes this call, so there must be one. The run queue's lock is held and interrupts are off;
    /// must not allocate.
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64);

    /// Called when the current task, or an interrupt on top of it, starts to wake `task`. `context`
    /// is 0 for the current task itself, 1 for a softirq, 2 for a hardirq and 3 for an NMI. The
    /// lock of `task` is held and interrupts are off, unless the task wakes itself.
    fn waking(&self, task: Task<'_>, context: u32);

    /// Called when `task` has become runnable on `cpu`; `is_new` is true if it is the first time.
    /// The run queue's lock is held and interrupts are off, unless the task wakes itself.
    fn wakeup(&self, task: Task<'_>, cpu: u32, is_new: bool, now_ns: u64);

    /// Called when `task`, which is not running, is moved to another CPU. The lock of the task or
    /// of its run queue is held and interrupts are off.
    fn migrate(&self, task: Task<'_>, from: u32, to: u32);

    /// Called when `parent`, the current task, has created `child`, which has not been woken yet.
    fn fork(&self, parent: Task<'_>, child: Task<'_>);

    /// Called before the current task, `task`, executes a program. It still has its old comm.
    fn prepare_exec(&self, task: Task<'_>);

    /// Called after the current task, `task`, has executed a program; its ID was `old_pid` before.
    /// Preemption is off.
    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]);

    /// Called before the trace mask's bits for `task` may change: at an `execve()` or a rename,
    /// before [`TaskHooks`](super::hooks::TaskHooks) and then [`SchedHooks::exec`] or
    /// [`SchedHooks::rename`] are called, and by [`changes`].
    fn changes(&self, task: Task<'_>);

    /// Called before the comm of `task` changes to `comm`.
    fn rename(&self, task: Task<'_>, comm: Comm);

    /// Called when the current task, `task`, exits; `group_dead` is true if it is the last one of
    /// its process. Preemption is off.
    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64);

    /// Called by a worker after [`reclaim_later`], once at a time. May sleep.
    fn reclaim(&self) {}
}

/// Access for the probes to the only registration of a type; implemented by [`bind_sched_hooks!`].
///
/// # Safety
///
/// `state()` must always return the same static, and only [`Registration`] may write it.
pub unsafe trait Bound: SchedHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_find_sched_probes() -> *const c_char;
    fn ktrace_attach_sched_probes() -> c_int;
    fn ktrace_detach_sched_probes();
    fn ktrace_sched_reclaim_later();
    // Defined by `bind_sched_hooks!`.
    fn ktrace_sched_changes(task: *mut bindings::task_struct);
    fn ktrace_task_blocked(task: *mut bindings::task_struct, state: *mut u32) -> bool;
    fn ktrace_sched_now() -> u64;
    fn ktrace_call___get_wchan(task: *mut bindings::task_struct) -> c_ulong;
}

/// Returns the name of a required tracepoint that this kernel lacks, if any. May sleep.
pub(in crate::ktrace) fn find_probes() -> Option<&'static CStr> {
    // SAFETY: The function only iterates over the kernel's own tracepoints.
    let name = unsafe { ktrace_find_sched_probes() };
    // SAFETY: The pointer is null or points to one of the constant strings in `sched.c`.
    (!name.is_null()).then(|| unsafe { CStr::from_chars(name) })
}

/// Probes on the scheduler's tracepoints, which are attached while this value exists.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct Registration<T: Bound> {
    hooks: *mut T,
}

// SAFETY: This owns a `T`, which is `Send`.
unsafe impl<T: Bound> Send for Registration<T> {}
// SAFETY: This only gives out shared references to a `T`, which is `Sync`.
unsafe impl<T: Bound> Sync for Registration<T> {}

impl<T: Bound> Registration<T> {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise the errors of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: KBox<T>) -> Result<Self> {
        let hooks = KBox::into_raw(hooks);
        if T::state()
            .cmpxchg(core::ptr::null_mut(), hooks, Full)
            .is_err()
        {
            // SAFETY: From `into_raw()` above, and not published.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // SAFETY: `Resolved` shows that the tracepoints were found. Either all probes are attached
        // or none.
        if let Err(error) = to_result(unsafe { ktrace_attach_sched_probes() }) {
            // SAFETY: No probe is attached, and the failed attempt has waited for those that were.
            unsafe { Self::free(hooks) };
            return Err(error);
        }
        // INVARIANT: `cmpxchg` stored it.
        Ok(Self { hooks })
    }

    /// Clears the pointer to the hooks, waits until nothing uses them, and frees them.
    ///
    /// # Safety
    ///
    /// No probe may be attached or running any more, and `hooks` must be the pointer in
    /// `T::state()`.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // A caller of [`changes`] may still use the hooks.
        // SAFETY: Registrations are created and dropped where sleeping is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()`; the pointer is cleared, and all its users have finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: Bound> Deref for Registration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the hooks are alive until drop; they are only shared.
        unsafe { &*self.hooks }
    }
}

impl<T: Bound> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: `new()` attached the probes. Detaching waits until no probe runs, which `free()`
        // requires.
        unsafe {
            ktrace_detach_sched_probes();
            Self::free(self.hooks);
        }
    }
}

#[doc(hidden)]
#[inline]
pub fn with_hooks<T: Bound>(call: impl FnOnce(&T)) {
    // SAFETY: Null or alive: callers are probes or the worker, and both have finished before
    // `free()` drops the hooks.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}

/// Makes a worker call [`SchedHooks::reclaim`] soon, at least once for any number of calls of this
/// function. Any context except NMI, while there is a [`Registration`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_sched_reclaim_later() }
}

/// Calls [`SchedHooks::changes`] if there is a registration. Call this before the trace mask's bits
/// for `task` change for a reason other than an action of the task itself. Any context except NMI.
pub fn changes(task: Task<'_>) {
    let _reader = rcu::read_lock();
    // SAFETY: The task is alive. `free()` waits for RCU readers before the hooks go.
    unsafe { ktrace_sched_changes(task.as_ptr()) }
}

/// Returns the bytes of a C string.
///
/// # Safety
///
/// `string` must be a C string that stays valid during the lifetime that the caller chooses.
#[doc(hidden)]
pub unsafe fn bytes<'a>(string: *const c_char) -> &'a [u8] {
    // SAFETY: The caller guarantees that `string` is a C string that stays valid.
    unsafe { CStr::from_chars(string) }.to_bytes()
}

/// Sets the type whose [`SchedHooks`] the probes call. A module uses this once.
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
