// SPDX-License-Identifier: GPL-2.0

//! Tasks, and hooks on the events after which a task's filter decision may change.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`TaskHooks`] and is passed to [`bind_task_hooks!`]; a
//! [`Registration`] of it attaches probes to the kernel's own tracepoints.

pub mod follow;
pub mod pid_map;
pub mod saved_cmdlines;
pub mod sched;
pub mod trace_mask;

use core::{
    ffi::CStr,
    marker::PhantomData,
    ptr::addr_of, //
};

use kernel::{bindings, error::to_result, prelude::*, sync::atomic::Release};

use super::{
    escape::{
        Escaped,
        MAX_NAME, //
    },
    private::{
        cstr_ext::CStrExt,
        symbols::Resolved, //
    },
    sync::{
        atomic::AtomicPtr,
        read_once::ReadOnce, //
    },
};

/// The length of a comm with its terminating zero, in bytes (`TASK_COMM_LEN`).
pub const COMM_LEN: usize = 16;
const _: () = assert!(MAX_NAME == COMM_LEN - 1);

/// The comm of a task: at most 15 bytes, padded with zeros.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Comm([u8; COMM_LEN]);

/// Returns the bytes of `word` below the lowest zero byte, and whether there is a zero byte.
#[inline]
fn until_zero(word: u64) -> (u64, bool) {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The highest bit of each zero byte, and possibly of bytes above the lowest zero byte.
    let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
    match zeros {
        0 => (word, false),
        // Keep the bytes below the one that has the lowest bit set.
        zeros => (word & (zeros ^ zeros.wrapping_sub(1)) >> 8, true),
    }
}

impl Comm {
    /// Creates a comm from `name`, truncated to 15 bytes as in the kernel.
    pub fn new(name: &[u8]) -> Self {
        let mut comm = [0; COMM_LEN];
        for (to, from) in comm.iter_mut().zip(name.iter().take(COMM_LEN - 1)) {
            if *from == 0 {
                break;
            }
            *to = *from;
        }
        Self(comm)
    }

    /// Creates a comm from the 16 bytes of two words, in memory order.
    #[inline]
    pub fn from_words(words: [u64; 2]) -> Self {
        let [low, high] = words.map(u64::from_le);
        // The last byte always becomes zero.
        let high = high << 8 >> 8;
        let (low, ends) = until_zero(low);
        let high = if ends { 0 } else { until_zero(high).0 };
        let bits = u128::from(low) | u128::from(high) << 64;
        Self(bits.to_le_bytes())
    }

    /// Returns the comm as two words in memory order, as [`Comm::from_words`] takes them.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        let bits = u128::from_le_bytes(self.0);
        [bits as u64, (bits >> 64) as u64].map(u64::to_le)
    }

    /// Creates a comm from a C string, truncated to 15 bytes.
    ///
    /// # Safety
    ///
    /// `name` must point to a C string.
    #[doc(hidden)]
    pub unsafe fn from_char_ptr(name: *const c_char) -> Self {
        // SAFETY: The caller guarantees that `name` is a C string; it is only used in this
        // function.
        Self::new(unsafe { CStr::from_chars(name) }.to_bytes())
    }

    /// Returns the comm with its padding of zeros.
    pub fn to_array(self) -> [u8; COMM_LEN] {
        self.0
    }

    /// Returns the comm escaped for text output.
    pub fn escaped(&self) -> Escaped {
        Escaped::new(self.as_bytes())
    }

    /// Returns the bytes of the comm without padding.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(COMM_LEN);
        self.0.get(..end).unwrap_or(&[])
    }
}

/// Returns the comm of the idle task of `cpu`, as `init_idle()` sets it (kernel/sched/core.c).
pub fn idle_comm(cpu: u32) -> Comm {
    const PREFIX: &[u8] = b"swapper/";
    let mut name = [0; COMM_LEN];
    let mut digits = 1;
    while cpu.checked_div(10u32.wrapping_pow(digits)).unwrap_or(0) != 0 && digits < 10 {
        digits = digits.wrapping_add(1);
    }
    for (to, from) in name.iter_mut().zip(PREFIX) {
        *to = *from;
    }
    let mut rest = cpu;
    let end = PREFIX.len().wrapping_add(digits as usize);
    for place in name
        .get_mut(PREFIX.len()..end)
        .unwrap_or(&mut [])
        .iter_mut()
        .rev()
    {
        *place = b'0'.wrapping_add((rest % 10) as u8);
        rest /= 10;
    }
    Comm::new(&name)
}

/// A task that is not freed during `'a`.
///
/// # Invariants
///
/// The pointer is to a `task_struct` that is not freed during `'a`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Task<'a>(*mut bindings::task_struct, PhantomData<&'a ()>);

impl Task<'_> {
    /// Wraps a pointer to a task.
    ///
    /// # Safety
    ///
    /// `task` must point to a task that is not freed during the lifetime that the caller chooses.
    #[doc(hidden)]
    pub unsafe fn from_raw(task: *mut bindings::task_struct) -> Self {
        // INVARIANT: The caller guarantees that the task is not freed during the lifetime.
        Self(task, PhantomData)
    }

    /// Returns the pointer to the task.
    pub(super) fn as_ptr(&self) -> *mut bindings::task_struct {
        self.0
    }

    /// Returns the task's global ID. The ID changes when a thread that is not the leader of its
    /// group executes a program: it takes over the leader's ID.
    #[inline]
    pub fn pid(&self) -> i32 {
        // SAFETY: By the type invariant, the task is alive. This is one aligned machine word, which
        // may change concurrently, so it is read once.
        unsafe { addr_of!((*self.0).pid).read_volatile() }
    }

    /// Returns the ID of the task's process.
    #[inline]
    pub fn tgid(&self) -> i32 {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).tgid).read_volatile() }
    }

    /// Returns the CPU that the task runs on, ran on last, or will run on next.
    #[inline]
    pub fn cpu(&self) -> u32 {
        #[cfg(CONFIG_SMP)]
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        return unsafe { addr_of!((*self.0).thread_info.cpu).read_volatile() };
        #[cfg(not(CONFIG_SMP))]
        0
    }

    /// Returns whether the task is on a CPU. A task that is being woken is not, unless it had not
    /// gone to sleep yet: the kernel waits until the task has left the CPU on which it went to
    /// sleep (`try_to_wake_up()`).
    #[inline]
    pub fn has_cpu(&self) -> bool {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).on_cpu).read_volatile() != 0 }
    }

    /// Returns the number of times that the task has left a CPU since it was created, modulo 2^32.
    /// During a switch away from the task, and in the probe on it, the current switch is already
    /// counted. If the task may be switched to or from concurrently, the value may be off by one.
    #[inline]
    pub fn switches(&self) -> u32 {
        // SAFETY: By the type invariant, the task is alive; this reads aligned words.
        let (voluntary, involuntary) = unsafe {
            (
                addr_of!((*self.0).nvcsw).read_volatile(),
                addr_of!((*self.0).nivcsw).read_volatile(),
            )
        };
        voluntary.wrapping_add(involuntary) as u32
    }

    /// Returns the task's priority in the kernel's representation: lower is more urgent, 100 to 139
    /// are the nice values.
    #[inline]
    pub fn prio(&self) -> i32 {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).prio).read_volatile() }
    }

    /// Returns the task's present comm. During a concurrent rename, it may be a mixture of the old
    /// and the new one, as everywhere in the kernel; it always ends within 15 bytes.
    #[inline]
    pub fn comm(&self) -> Comm {
        // SAFETY: By the type invariant, the task is alive.
        let comm = unsafe { addr_of!((*self.0).comm) };
        const OFFSET: usize = core::mem::offset_of!(bindings::task_struct, comm);
        if OFFSET % size_of::<u64>() != 0 {
            // SAFETY: `comm` points into a live task. A concurrent `__set_task_comm()` may change
            // the bytes.
            return Comm::new(&unsafe { comm.read_volatile() });
        }
        let words: *const u64 = comm.cast();
        // SAFETY: `comm` points to 16 bytes in a live task, at an aligned offset; a task has a
        // larger alignment than a `u64`.
        Comm::from_words(unsafe { [words.read_volatile(), words.add(1).read_volatile()] })
    }

    /// Returns whether this is the current task.
    pub fn is_current(&self) -> bool {
        kernel::task::Task::current_raw() == self.0
    }

    /// Returns whether the task has exited and been reaped, so that it has no ID any more and is on
    /// no list. It may still run for a moment until its last context switch (`__unhash_process()`,
    /// kernel/exit.c).
    #[inline]
    pub fn is_released(&self) -> bool {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).thread_pid).read_volatile() }.is_null()
    }

    /// Returns the time at which the task was created, in ns since boot. For a thread that has
    /// become the leader of its process, it is the creation time of the previous leader
    /// (`de_thread()`, fs/exec.c).
    #[inline]
    pub fn start_time(&self) -> u64 {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).start_time).read_volatile() }
    }

    /// Returns a number that no other task has until this task is freed, on machines with at most 8
    /// TiB of memory, or more if a `task_struct` takes more than 2 KiB.
    #[inline]
    pub fn tag(&self) -> u32 {
        // The addresses of two existing tasks differ by at least the size of a task.
        (self.0 as usize >> TAG_SHIFT) as u32
    }
}

/// The number of low address bits that are not needed to distinguish tasks.
const TAG_SHIFT: u32 = core::mem::size_of::<bindings::task_struct>().ilog2();

const _: () = assert!(TAG_SHIFT >= 11);

/// Callbacks for events in the life of tasks.
///
/// All are called while `&self` is alive, and until [`Registration`] is dropped. Only
/// [`TaskHooks::settle`] and [`TaskHooks::reclaim`] may sleep, or allocate with other flags than
/// `GFP_ATOMIC`.
pub trait TaskHooks: Send + Sync + Sized + 'static {
    /// Returns the bits of the trace mask for a task that is not an idle task. May be called with
    /// locks of the scheduler held and interrupts off.
    fn mask(&self, pid: i32) -> u32;

    /// Returns the bits of the trace mask for the idle task of `cpu`.
    fn idle_mask(&self, cpu: u32) -> u32;

    /// Called when `parent` has created `child`, which is about to be woken for the first time and
    /// may already be visible to [`for_each`]. Task context.
    fn new_task(&self, parent: Task<'_>, child: Task<'_>);

    /// Called before the comm of `task` changes to `comm`. Task context, of `task` or of another
    /// task.
    fn renamed(&self, task: Task<'_>, comm: Comm);

    /// Called before the current task, `task`, executes a program. If it does not have the ID of
    /// its process, it is about to take it over. The task may also be killed instead. Task context.
    fn prepare_exec(&self, task: Task<'_>);

    /// Called after the current task, `task`, has executed a program. Its ID was `old_pid` before
    /// and may have changed. Task context.
    fn executed(&self, task: Task<'_>, old_pid: i32);

    /// Called when `task` will never run again and is about to be freed. In an RCU callback, which
    /// is a softirq on most kernels.
    fn freed(&self, task: Task<'_>);

    /// Called by a worker after [`schedule_recheck`], once at a time. May sleep.
    fn settle(&self);

    /// Called by a worker after [`reclaim_later`], once at a time. May sleep.
    fn reclaim(&self) {}
}

/// Access for the probes to the only registration of a type; implemented by [`bind_task_hooks!`].
///
/// # Safety
///
/// `state()` must always return the same static, and only [`Registration`] may write it.
pub unsafe trait Bound: TaskHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_mask_refresh_of(task: *mut bindings::task_struct) -> bool;
    fn ktrace_attach_task_probes() -> c_int;
    fn ktrace_detach_task_probes();
    fn ktrace_on_switch(
        preempt: bool,
        prev: *mut bindings::task_struct,
        next: *mut bindings::task_struct,
        prev_state: c_uint,
        prev_bits: u32,
        next_bits: u32,
    );
    fn ktrace_visit_tasks(visitor: *mut c_void);
    fn ktrace_schedule_recheck();
    fn ktrace_reclaim_later();
}

/// Probes on the kernel's tracepoints, which are attached while this value exists.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct Registration<T: Bound> {
    hooks: *mut T,
}

// SAFETY: This owns a `T`, which is `Send`.
unsafe impl<T: Bound> Send for Registration<T> {}

impl<T: Bound> Registration<T> {
    /// Attaches the probes. May sleep. From then on, the hooks are called, and [`TaskHooks::mask`]
    /// determines the trace mask.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise the errors of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: Pin<KBox<T>>) -> Result<Self> {
        // SAFETY: The pinned value is not moved any more: it is only accessed through this pointer
        // until it is dropped in place.
        let hooks = KBox::into_raw(unsafe { Pin::into_inner_unchecked(hooks) });
        let state = T::state();
        if state
            .cmpxchg(core::ptr::null_mut(), hooks, kernel::sync::atomic::Full)
            .is_err()
        {
            // SAFETY: From `into_raw()` above, and not published.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // INVARIANT: `cmpxchg` stored it.
        let this = Self { hooks };
        // SAFETY: `Resolved` shows that the tracepoints were found. Sleeping is allowed here. If
        // this fails, no probe is attached.
        let attached = to_result(unsafe { ktrace_attach_task_probes() });
        if let Err(error) = attached {
            this.retire();
            return Err(error);
        }
        Ok(this)
    }

    /// Clears the pointer to the hooks, waits until no CPU uses them, and frees them.
    fn retire(self) {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: The probes are not attached, and `this` is not used any more.
        unsafe { Self::free(this.hooks) }
    }

    /// Clears the pointer to the hooks, waits until no CPU uses them, and frees them.
    ///
    /// # Safety
    ///
    /// The probes must be detached, and `hooks` must be the pointer of a registration that is not
    /// used any more.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // A refresh of the trace mask may still run on another CPU, with interrupts off.
        // SAFETY: Registrations are created and dropped where sleeping is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()` by the type invariant. The caller guarantees that the probes
        // are detached, and CPUs that read the pointer for a refresh before it was cleared have
        // finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: Bound> core::ops::Deref for Registration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type invariant, the hooks are alive until drop; they are only shared.
        unsafe { &*self.hooks }
    }
}

impl<T: Bound> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: `new()` attached the probes. This waits until no probe and no worker runs.
        unsafe { ktrace_detach_task_probes() };
        // SAFETY: The probes are detached, and this is the end of the registration.
        unsafe { Self::free(self.hooks) }
    }
}

/// Calls `visit` with every thread of every process except the idle tasks, in one RCU read-side
/// section: `visit` must not sleep. Tasks that are created or exit concurrently may be missed.
pub fn for_each(mut visit: impl FnMut(Task<'_>)) {
    let mut visitor: &mut dyn FnMut(Task<'_>) = &mut visit;
    // SAFETY: `ktrace_visit_task()` casts the pointer back to its type, and `visitor` is alive
    // until the call returns.
    unsafe { ktrace_visit_tasks(core::ptr::from_mut(&mut visitor).cast()) }
}

/// Calls the closure that was passed to [`for_each`].
///
/// # Safety
///
/// Only for `task.c`: `visitor` must be the pointer that [`for_each`] passed, and `task` must be
/// alive until this returns.
#[no_mangle]
unsafe extern "C" fn ktrace_visit_task(visitor: *mut c_void, task: *mut bindings::task_struct) {
    // SAFETY: The caller guarantees that `visitor` is from `for_each()`, which does not use it
    // during this call.
    let visit = unsafe { &mut *visitor.cast::<&mut dyn FnMut(Task<'_>)>() };
    // SAFETY: The caller guarantees that `task` is alive until this returns.
    visit(unsafe { Task::from_raw(task) });
}

/// Calls `with` with the current task. Any context.
#[inline]
pub fn with_current<R>(with: impl FnOnce(Task<'_>) -> R) -> R {
    // SAFETY: The current task stays alive until `with` returns.
    with(unsafe { Task::from_raw(kernel::task::Task::current_raw()) })
}

/// Makes a worker call [`TaskHooks::settle`] soon, at least once for any number of calls of this
/// function. Any context except NMI, while there is a [`Registration`].
pub fn schedule_recheck() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_schedule_recheck() }
}

/// Makes a worker call [`TaskHooks::reclaim`] soon, under the same conditions as
/// [`schedule_recheck`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_reclaim_later() }
}

/// Returns the bits of the trace mask for `task`, whether it runs or not. Callers must be probes,
/// have preemption off, or be called by [`for_each`].
#[inline]
pub fn mask_of<T: Bound>(task: Task<'_>) -> u32 {
    mask_of_next::<T>(task.pid(), || task.cpu())
}

/// Handles a context switch from `prev` to `next`: writes the trace mask of this CPU, and calls
/// [`sched::SchedHooks::switch`] if one of the tasks is followed.
///
/// # Safety
///
/// Only for the probe on `sched_switch`: both tasks must be alive until this returns, and
/// interrupts must be off. `mask` must be the trace mask of this CPU: two words, the mask and its
/// bits that are valid for both tasks.
#[doc(hidden)]
#[inline]
pub unsafe fn switched<T: Bound>(
    mask: *mut u32,
    preempt: bool,
    prev: *mut bindings::task_struct,
    next: *mut bindings::task_struct,
    prev_state: c_uint,
) {
    // SAFETY: The caller guarantees that `next` is alive.
    let next_bits = mask_of::<T>(unsafe { Task::from_raw(next) });
    // SAFETY: The caller guarantees that `mask` points to this CPU's two words; each is written as
    // a whole, because an NMI may read them. Between the two writes, `prev` still runs, and the old
    // second word is valid for it.
    let prev_bits = unsafe {
        let prev_bits = mask.read_volatile();
        mask.write_volatile(next_bits);
        mask.add(1).write_volatile(next_bits & prev_bits);
        prev_bits
    };
    if follow::follows(prev_bits | next_bits) {
        // SAFETY: The caller guarantees that both tasks are alive and interrupts are off.
        unsafe { ktrace_on_switch(preempt, prev, next, prev_state, prev_bits, next_bits) }
    }
}

#[doc(hidden)]
#[inline]
pub fn mask_of_next<T: Bound>(pid: i32, cpu: impl FnOnce() -> u32) -> u32 {
    let always = trace_mask::always();
    let hooks = T::state().read_once();
    // SAFETY: Null or alive: callers are probes or have preemption off, and `free()` waits for both
    // after it has cleared the pointer.
    match unsafe { hooks.as_ref() } {
        None => always,
        Some(hooks) if pid == 0 => always | hooks.idle_mask(cpu()),
        Some(hooks) => always | hooks.mask(pid),
    }
}

#[doc(hidden)]
pub fn with_hooks<T: Bound>(call: impl FnOnce(&T)) {
    // SAFETY: Null or alive: callers are probes or the worker, and both have finished before
    // `free()` drops the hooks.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}

/// Sets the type whose [`TaskHooks`] the probes call. A module uses this once.
#[macro_export]
macro_rules! bind_task_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::bindings::task_struct;
            use $crate::ktrace::task;
            use $crate::ktrace::task::Task;

            static STATE: $crate::ktrace::sync::atomic::AtomicPtr<$hooks> =
                $crate::ktrace::sync::atomic::AtomicPtr::null();

            // SAFETY: `state()` returns one static, which is only visible in this block.
            unsafe impl task::Bound for $hooks {
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
                task::mask_of::<$hooks>(unsafe { Task::from_raw(task) })
            }

            /// # Safety
            ///
            /// Only for the probe on `sched_switch` in `task.c`; see [`task::switched`].
            #[no_mangle]
            unsafe extern "C" fn ktrace_switched(
                mask: *mut u32,
                preempt: bool,
                prev: *mut task_struct,
                next: *mut task_struct,
                prev_state: ::kernel::ffi::c_uint,
            ) {
                // SAFETY: The caller guarantees what `task::switched()` requires.
                unsafe { task::switched::<$hooks>(mask, preempt, prev, next, prev_state) }
            }

            #[no_mangle]
            extern "C" fn ktrace_idle_mask(cpu: u32) -> u32 {
                task::mask_of_next::<$hooks>(0, || cpu)
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
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::new_task(hooks, parent, child));
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
                let comm = unsafe { task::Comm::from_char_ptr(comm) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::renamed(hooks, task, comm));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_prepare_exec_task(task: *mut task_struct) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::prepare_exec(hooks, task));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_exec_task(task: *mut task_struct, old_pid: i32) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::executed(hooks, task, old_pid));
            }

            /// # Safety
            ///
            /// Only for `task.c`: `task` must be alive until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_free_task(task: *mut task_struct) {
                // SAFETY: The caller guarantees that the task is alive.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::freed(hooks, task));
            }

            #[no_mangle]
            extern "C" fn ktrace_recheck_tasks() {
                task::with_hooks::<$hooks>(task::TaskHooks::settle);
            }

            #[no_mangle]
            extern "C" fn ktrace_reclaim_tasks() {
                task::with_hooks::<$hooks>(task::TaskHooks::reclaim);
            }
        };
    };
}
pub use bind_task_hooks;

/// Makes the CPU that runs `task`, or ran it last, recompute its trace mask after the bits of the
/// task have changed. Does not wait. In an interrupt or with interrupts off, where no function call
/// can be sent, this does nothing and returns false.
pub fn refresh_trace_mask(task: Task<'_>) -> bool {
    // SAFETY: By the invariant of `Task`, the task is alive. The function checks the context and
    // sends at most one function call.
    unsafe { ktrace_mask_refresh_of(task.as_ptr()) }
}
