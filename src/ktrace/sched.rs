// SPDX-License-Identifier: GPL-2.0

//! The scheduler's tracepoints: what every task does, as it happens.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`SchedHooks`] and is named to [`bind_sched_hooks!`]; a
//! [`Registration`] of it attaches probes.
//!
//! # What orders the calls
//!
//! For one task, a switch away from it, a wake-up and a switch to it follow upon each other: the
//! scheduler makes a task runnable only after it has left its CPU for good (`p->on_cpu`, see
//! `try_to_wake_up()` in kernel/sched/core.c), and all three come with the lock of a run queue or
//! of the task held, but where a task wakes itself, which is awake. [`SchedHooks::waking`] alone may come
//! while the task is still leaving.

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
    atomic::AtomicPtr,
    cstr::Chars,
    once::Once,
    symbols::Resolved,
    task::{
        Comm,
        Task, //
    },
};

/// The names of the states that a task leaves its CPU in, as `sched_switch` has them.
///
/// `R` is a task that gave up its CPU and would go on, `R+` one that was preempted.
pub const STATE_NAMES: super::event::format::Names = &[
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

/// The state of a task that goes on as soon as it may.
pub const RUNNABLE: u32 = 0;

/// States of a task that will not run again (`EXIT_DEAD`, `EXIT_ZOMBIE`).
pub const ENDED: u32 = 0x30;

/// The scheduler's clock, in ns. Any context.
#[inline]
pub fn now_ns() -> u64 {
    // SAFETY: Reads a clock.
    unsafe { ktrace_sched_now() }
}

/// Which function wanted `task` to sleep, as an address in its text: what `/proc/PID/wchan` tells. 0 if
/// that cannot be told. For [`SchedHooks::wakeup`], of the task that is woken: it has left its CPU
/// and cannot have another one yet. Of a task that runs it tells nothing that makes sense.
pub fn caller_of(task: Task<'_>) -> usize {
    // SAFETY: A live task. The function walks its stack from where it was switched out, takes hold
    // of the stack meanwhile, and looks at nothing outside of it.
    unsafe { ktrace_call___get_wchan(task.as_ptr()) as usize }
}

/// The state in which `task` is blocked just now, a value of [`STATE_NAMES`], if it is; it may have changed to
/// something else already.
pub fn blocked_in(task: Task<'_>) -> Option<u32> {
    let mut state = 0;
    // SAFETY: A live task; only single words of it are read.
    let blocked = unsafe { ktrace_task_blocked(task.as_ptr(), &mut state) };
    blocked.then_some(state)
}

/// A task that leaves its CPU.
#[derive(Clone, Copy)]
pub struct Leaving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// In which state, a value of [`STATE_NAMES`].
    pub state: u32,
    /// Whether it is followed.
    pub followed: bool,
}

/// A task that gets a CPU.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    /// The task.
    pub task: Task<'a>,
    /// Whether it is followed.
    pub followed: bool,
}

/// Which tasks' switches are told of: those that have one of these of the gate's bits, or everyone's.
/// Nobody's before the first call, and after a [`Registration`] is dropped. A switch that goes on just now
/// may be told of by what was said before; none is after the next [`super::gate::refresh`], since the
/// scheduler switches and wakes with interrupts off.
pub fn follow(bits: u32, everyone: bool) {
    let followed = u64::from(bits) | u64::from(everyone) << u32::BITS;
    // SAFETY: One word, which the C side reads as a whole.
    unsafe { (&raw mut ktrace_sched_followed).write_volatile(followed) }
}

/// Whether the switches of a task with these bits are told of. Any context.
#[inline]
pub fn follows(bits: u32) -> bool {
    // SAFETY: One word, as above.
    let followed = unsafe { (&raw const ktrace_sched_followed).read_volatile() };
    followed & (u64::from(bits) | 1 << u32::BITS) != 0
}

/// Whether those of all tasks are.
pub fn follows_everyone() -> bool {
    follows(0)
}

/// What the module wants to know.
///
/// All are called with `&self` alive and until [`Registration`] is dropped. None may sleep. Times
/// are those of [`now_ns`].
pub trait SchedHooks: Send + Sync + Sized + 'static {
    /// The CPU goes from `prev` to `next`, one of which is followed ([`follow`]), or both. Called while
    /// there is a [`super::task::Registration`] as well, whose probe on the switch this hangs on. Run
    /// queue's lock held, interrupts off; nothing may be allocated.
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64);

    /// The current task, or an interrupt on top of it, wakes `task`. `context` is 0 for the task
    /// itself, then softirq, hardirq, NMI. The task's lock is held, interrupts are off.
    fn waking(&self, task: Task<'_>, context: u32);

    /// `task` is runnable, on `cpu`, for the first time if `is_new`. Run queue's lock held, interrupts
    /// off.
    fn wakeup(&self, task: Task<'_>, cpu: u32, is_new: bool, now_ns: u64);

    /// `task`, which does not run, goes from one CPU to another. As above.
    fn migrate(&self, task: Task<'_>, from: u32, to: u32);

    /// `parent`, the current task, has made `child`, which was not woken yet.
    fn fork(&self, parent: Task<'_>, child: Task<'_>);

    /// `task`, the current one, is going to execute a program, and has its old name still.
    fn prepare_exec(&self, task: Task<'_>);

    /// It has done so; its id was `old_pid`. Preemption is off.
    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]);

    /// What [`SchedHooks::exec`] or [`SchedHooks::rename`] tells of `task` is about to be told, and before
    /// them to [`super::task::TaskHooks`], by which its gate may change. Or it is about to change by what others
    /// do ([`changes`]).
    fn changes(&self, task: Task<'_>);

    /// `task` will be called `comm` next.
    fn rename(&self, task: Task<'_>, comm: Comm);

    /// `task`, the current one, exits; it is the last of its process if `group_dead`. Preemption is off.
    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64);

    /// [`reclaim_later`] was called. A worker, one at a time; this may sleep.
    fn reclaim(&self) {}
}

/// Made by [`bind_sched_hooks!`]: where the one registration of a type is found by its probes.
///
/// # Safety
///
/// `state()` must return the same static each time, which nobody but [`Registration`] writes.
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
    fn ktrace_task_blocked(task: *mut bindings::task_struct, state: *mut u32) -> bool;
    fn ktrace_sched_now() -> u64;
    static mut ktrace_sched_followed: u64;
    fn ktrace_call___get_wchan(task: *mut bindings::task_struct) -> c_ulong;
}

/// The name of a tracepoint that this kernel does not have, if there is one. May sleep.
pub(super) fn find_probes() -> Option<&'static CStr> {
    // SAFETY: Walks the kernel's own tracepoints.
    let name = unsafe { ktrace_find_sched_probes() };
    // SAFETY: Null, or one of the constant strings in `sched.c`.
    (!name.is_null()).then(|| unsafe { CStr::from_chars(name) })
}

/// Probes on the scheduler's tracepoints, attached as long as this lives.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct Registration<T: Bound> {
    hooks: *mut T,
}

// SAFETY: Owns a `T` that is `Send`.
unsafe impl<T: Bound> Send for Registration<T> {}
// SAFETY: Gives out shared references to a `T` that is `Sync`, and nothing else.
unsafe impl<T: Bound> Sync for Registration<T> {}

impl<T: Bound> Registration<T> {
    /// Attaches the probes. May sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise those of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: KBox<T>) -> Result<Self> {
        let hooks = KBox::into_raw(hooks);
        if T::state()
            .cmpxchg(core::ptr::null_mut(), hooks, Full)
            .is_err()
        {
            // SAFETY: From `into_raw()` just above, and published nowhere.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // SAFETY: The tracepoints were found, as `Resolved` shows. All are attached or none.
        if let Err(error) = to_result(unsafe { ktrace_attach_sched_probes() }) {
            // SAFETY: No probe is attached, and the attempt has waited for those that were.
            unsafe { Self::free(hooks) };
            return Err(error);
        }
        // INVARIANT: `cmpxchg` stored it.
        Ok(Self { hooks })
    }

    /// # Safety
    ///
    /// No probe may be attached, or run, any more; `hooks` must be in `T::state()`.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // [`changes`] may still use them.
        // SAFETY: May sleep: registrations are made and dropped where that is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()`, and reached by nobody else any more.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: Bound> Deref for Registration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: Alive until drop, by the invariant, and only ever shared.
        unsafe { &*self.hooks }
    }
}

impl<T: Bound> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: Attached by `new()`. Waits until no probe runs any more, so that freeing the
        // hooks is allowed.
        unsafe {
            ktrace_detach_sched_probes();
            Self::free(self.hooks);
        }
    }
}

#[doc(hidden)]
#[inline]
pub fn with_hooks<T: Bound>(call: impl FnOnce(&T)) {
    // SAFETY: Null, or alive: callers are probes or the worker, and who frees waits for both.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}

/// Makes a worker call [`SchedHooks::reclaim`] soon: at least once for any number of calls of this
/// function. Any context but NMI, while there is a [`Registration`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_sched_reclaim_later() }
}

/// Tells [`SchedHooks::changes`] that the gate's bits for `task` are about to change, if there is a registration. For
/// whoever changes them by nothing that the task does. Any context but NMI.
pub fn changes<T: Bound>(task: Task<'_>) {
    let _reader = rcu::read_lock();
    // SAFETY: Null, or alive: `free()` waits for readers after it has cleared the pointer.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        hooks.changes(task);
    }
}

/// The bytes of a C string.
///
/// # Safety
///
/// `string` must be one, and stay as long as the caller chooses.
#[doc(hidden)]
pub unsafe fn bytes<'a>(string: *const c_char) -> &'a [u8] {
    // SAFETY: By the precondition.
    unsafe { CStr::from_chars(string) }.to_bytes()
}

/// Names the one type whose [`SchedHooks`] the probes call.
#[macro_export]
macro_rules! bind_sched_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::{
                bindings::task_struct,
                ffi::c_char, //
            };
            use $crate::ktrace::{
                atomic::AtomicPtr,
                sched::{
                    self,
                    SchedHooks, //
                },
                task::{
                    Comm,
                    Task, //
                },
            };

            static STATE: AtomicPtr<$hooks> = AtomicPtr::null();

            // SAFETY: One static, which is not visible outside this block.
            unsafe impl sched::Bound for $hooks {
                fn state() -> &'static AtomicPtr<Self> {
                    &STATE
                }
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_switch(
                prev: *mut task_struct,
                next: *mut task_struct,
                state: u32,
                of_prev: bool,
                of_next: bool,
                now: u64,
            ) {
                // SAFETY: By the precondition.
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
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_waking(task: *mut task_struct, context: u32) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe { SchedHooks::waking(hooks, Task::from_raw(task), context) }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_wakeup(
                task: *mut task_struct,
                cpu: u32,
                is_new: bool,
                now: u64,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe { SchedHooks::wakeup(hooks, Task::from_raw(task), cpu, is_new, now) }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_migrate(task: *mut task_struct, from: u32, to: u32) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe { SchedHooks::migrate(hooks, Task::from_raw(task), from, to) }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_fork(
                parent: *mut task_struct,
                child: *mut task_struct,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe {
                        SchedHooks::fork(hooks, Task::from_raw(parent), Task::from_raw(child))
                    }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_prepare_exec(task: *mut task_struct) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe { SchedHooks::prepare_exec(hooks, Task::from_raw(task)) }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_exec(
                task: *mut task_struct,
                old_pid: i32,
                filename: *const c_char,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
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
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_changes(task: *mut task_struct) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe { SchedHooks::changes(hooks, Task::from_raw(task)) }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_rename(task: *mut task_struct, comm: *const c_char) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
                    unsafe {
                        SchedHooks::rename(hooks, Task::from_raw(task), Comm::from_char_ptr(comm))
                    }
                });
            }

            /// # Safety
            ///
            /// For `sched.c`: tasks live, and strings end and stay, until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_sched_exit(
                task: *mut task_struct,
                group_dead: bool,
                now: u64,
            ) {
                sched::with_hooks::<$hooks>(|hooks| {
                    // SAFETY: By the precondition.
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
