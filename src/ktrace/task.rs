// SPDX-License-Identifier: GPL-2.0

//! Tasks, and the moments at which what is wanted of one can change.
//!
//! C headers: `include/trace/events/sched.h`, `include/trace/events/task.h`.
//!
//! One type of the module implements [`TaskHooks`] and is named to [`bind_task_hooks!`]; a
//! [`Registration`] of it attaches probes to the kernel's own tracepoints.

use core::{
    ffi::CStr,
    marker::PhantomData,
    ptr::addr_of, //
};

use kernel::{bindings, error::to_result, prelude::*, sync::atomic::Release};

use super::{
    atomic::AtomicPtr,
    cstr::Chars,
    escape::{
        Escaped,
        MAX_NAME, //
    },
    gate,
    once::Once,
    sched,
    symbols::Resolved, //
};

/// Length of a task's name with its terminating zero (`TASK_COMM_LEN`).
pub const COMM_LEN: usize = 16;
const _: () = assert!(MAX_NAME == COMM_LEN - 1);

/// A task's name: at most 15 bytes, then zeros.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Comm([u8; COMM_LEN]);

/// The bytes of a word up to the first that is zero, from the lowest on, and whether there is one.
#[inline]
fn until_zero(word: u64) -> (u64, bool) {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The highest bit of each byte that is zero, and perhaps of some above the first of them.
    let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
    match zeros {
        0 => (word, false),
        // Of the bits below the lowest one, those of whole bytes.
        zeros => (word & (zeros ^ zeros.wrapping_sub(1)) >> 8, true),
    }
}

impl Comm {
    /// A name; what is too long is cut off, as the kernel does it.
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

    /// The same of 16 bytes, in two words as they lie in memory.
    #[inline]
    pub fn from_words(words: [u64; 2]) -> Self {
        let [low, high] = words.map(u64::from_le);
        // The last byte is zero whatever happens.
        let high = high << 8 >> 8;
        let (low, ends) = until_zero(low);
        let high = if ends { 0 } else { until_zero(high).0 };
        let bits = u128::from(low) | u128::from(high) << 64;
        Self(bits.to_le_bytes())
    }

    /// As [`Comm::from_words`] takes it.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        let bits = u128::from_le_bytes(self.0);
        [bits as u64, (bits >> 64) as u64].map(u64::to_le)
    }

    /// As [`Comm::new`], of a C string.
    ///
    /// # Safety
    ///
    /// `name` must be a C string.
    #[doc(hidden)]
    pub unsafe fn from_char_ptr(name: *const c_char) -> Self {
        // SAFETY: By the precondition; it is used in here only.
        Self::new(unsafe { CStr::from_chars(name) }.to_bytes())
    }

    /// The name with the zeros behind it.
    pub fn to_array(self) -> [u8; COMM_LEN] {
        self.0
    }

    /// The name for text.
    pub fn escaped(&self) -> Escaped {
        Escaped::new(self.as_bytes())
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(COMM_LEN);
        self.0.get(..end).unwrap_or(&[])
    }
}

/// The name of the idle task of `cpu`, as `init_idle()` gives it (kernel/sched/core.c).
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

/// A task that somebody keeps alive for `'a`.
///
/// # Invariants
///
/// The pointer is to a `task_struct` that is not freed within `'a`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Task<'a>(*mut bindings::task_struct, PhantomData<&'a ()>);

impl Task<'_> {
    /// # Safety
    ///
    /// `task` must point to a task that is not freed within the lifetime that the caller chooses.
    #[doc(hidden)]
    pub unsafe fn from_raw(task: *mut bindings::task_struct) -> Self {
        // INVARIANT: By the precondition.
        Self(task, PhantomData)
    }

    /// The pointer.
    pub(super) fn as_ptr(&self) -> *mut bindings::task_struct {
        self.0
    }

    /// The task's global id. An id changes when a thread that is not its group's leader executes a
    /// program: it takes over the leader's.
    #[inline]
    pub fn pid(&self) -> i32 {
        // SAFETY: Points to a live task, by the invariant; one aligned machine word, which may
        // change under us as the doc comment says, so read once.
        unsafe { addr_of!((*self.0).pid).read_volatile() }
    }

    /// The id of its process.
    #[inline]
    pub fn tgid(&self) -> i32 {
        // SAFETY: As in `pid()`.
        unsafe { addr_of!((*self.0).tgid).read_volatile() }
    }

    /// The CPU that it runs on, or ran on last, or will.
    #[inline]
    pub fn cpu(&self) -> u32 {
        #[cfg(CONFIG_SMP)]
        // SAFETY: As in `pid()`.
        return unsafe { addr_of!((*self.0).thread_info.cpu).read_volatile() };
        #[cfg(not(CONFIG_SMP))]
        0
    }

    /// Whether it has a CPU. One that is woken has none, but if it had not gone to sleep yet: the kernel waits until it
    /// has left the one that it slept on (`try_to_wake_up()`).
    #[inline]
    pub fn has_cpu(&self) -> bool {
        // SAFETY: As in `pid()`.
        unsafe { addr_of!((*self.0).on_cpu).read_volatile() != 0 }
    }

    /// How often it has left a CPU since it was made, modulo 2^32. In a switch from the task, and in
    /// the probe on that, this one counts already. Of a task that may be switched to or from
    /// meanwhile it may be one off.
    #[inline]
    pub fn switches(&self) -> u32 {
        // SAFETY: As in `pid()`.
        let (voluntary, involuntary) = unsafe {
            (
                addr_of!((*self.0).nvcsw).read_volatile(),
                addr_of!((*self.0).nivcsw).read_volatile(),
            )
        };
        voluntary.wrapping_add(involuntary) as u32
    }

    /// Its priority, as the kernel counts it: lower is more urgent, 100 to 139 are the nice values.
    #[inline]
    pub fn prio(&self) -> i32 {
        // SAFETY: As in `pid()`.
        unsafe { addr_of!((*self.0).prio).read_volatile() }
    }

    /// Its name now. A rename that goes on at the same time may show half, as everywhere in the
    /// kernel; the bytes always end.
    #[inline]
    pub fn comm(&self) -> Comm {
        // SAFETY: Points to a live task, by the invariant.
        let comm = unsafe { addr_of!((*self.0).comm) };
        const OFFSET: usize = core::mem::offset_of!(bindings::task_struct, comm);
        if OFFSET % size_of::<u64>() != 0 {
            // SAFETY: As above; bytes, which a concurrent `__set_task_comm()` may change.
            return Comm::new(&unsafe { comm.read_volatile() });
        }
        let words: *const u64 = comm.cast();
        // SAFETY: As above; aligned, since a task is aligned to more than that.
        Comm::from_words(unsafe { [words.read_volatile(), words.add(1).read_volatile()] })
    }

    /// Whether it is the task that runs here.
    pub fn is_current(&self) -> bool {
        kernel::task::Task::current_raw() == self.0
    }

    /// Whether it has ended and been waited for, so that it has no id any more, and stands in no list. It may go on for
    /// a moment until it gives up its CPU for the last time (`__unhash_process()`, kernel/exit.c).
    #[inline]
    pub fn is_released(&self) -> bool {
        // SAFETY: As in `pid()`.
        unsafe { addr_of!((*self.0).thread_pid).read_volatile() }.is_null()
    }

    /// When it was made, in ns since the machine was booted; of a thread that has become the leader of its process,
    /// when the leader before was (`de_thread()`, fs/exec.c).
    #[inline]
    pub fn start_time(&self) -> u64 {
        // SAFETY: As in `pid()`.
        unsafe { addr_of!((*self.0).start_time).read_volatile() }
    }

    /// A number that no other task has while this one is not freed, on machines with no more than
    /// 8 TiB of memory, or more where a task takes more than 2 KiB.
    #[inline]
    pub fn tag(&self) -> u32 {
        // Two tasks that both exist lie at least the size of one apart.
        (self.0 as usize >> TAG_SHIFT) as u32
    }
}

/// The bits of an address that need not be looked at to tell one task from another.
const TAG_SHIFT: u32 = core::mem::size_of::<bindings::task_struct>().ilog2();

const _: () = assert!(TAG_SHIFT >= 11);

/// What the module wants to know of tasks.
///
/// All are called with `&self` alive and until [`Registration`] is dropped. None but
/// [`TaskHooks::settle`] may allocate with anything but `GFP_ATOMIC`, or sleep.
pub trait TaskHooks: Send + Sync + Sized + 'static {
    /// The gate's bits for a task that is not an idle task. Scheduler's locks held, interrupts off.
    fn mask(&self, pid: i32) -> u32;

    /// The gate's bits for the idle task of `cpu`.
    fn idle_mask(&self, cpu: u32) -> u32;

    /// `child` was made by `parent`, is about to be woken for the first time, and may be seen
    /// already by [`for_each`]. Task context.
    fn new_task(&self, parent: Task<'_>, child: Task<'_>);

    /// `task` will be called `comm` next. Task context, of the same or another task.
    fn renamed(&self, task: Task<'_>, comm: Comm);

    /// `task`, which is the current one, is about to take over the id of its process if it does not have
    /// that, and to execute a program; or to be killed. Task context.
    fn prepare_exec(&self, task: Task<'_>);

    /// `task`, which is the current one, has executed a program and may have changed its id, which
    /// was `old_pid`. Task context.
    fn executed(&self, task: Task<'_>, old_pid: i32);

    /// `task` will never run again and is about to be freed. RCU callback; softirq on most kernels.
    fn freed(&self, task: Task<'_>);

    /// [`settle_later`] was called. A worker, one at a time; this may sleep.
    fn settle(&self);

    /// [`reclaim_later`] was called. As [`TaskHooks::settle`].
    fn reclaim(&self) {}
}

/// Made by [`bind_task_hooks!`]: where the one registration of a type is found by its probes.
///
/// # Safety
///
/// `state()` must return the same static each time, which nobody but [`Registration`] writes.
pub unsafe trait Bound: TaskHooks {
    #[doc(hidden)]
    fn state() -> &'static AtomicPtr<Self>;
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
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
    fn ktrace_settle_later();
    fn ktrace_reclaim_later();
}

/// Probes on the kernel's tracepoints, attached as long as this lives.
///
/// # Invariants
///
/// `T::state()` holds the pointer in `hooks`, which came from [`KBox::into_raw`], until drop.
pub struct Registration<T: Bound> {
    hooks: *mut T,
}

// SAFETY: Owns a `T` that is `Send`.
unsafe impl<T: Bound> Send for Registration<T> {}

impl<T: Bound> Registration<T> {
    /// Attaches the probes. May sleep. From here on the hooks are called, and the gate follows
    /// [`TaskHooks::mask`].
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is a registration already; otherwise those of
    /// `tracepoint_probe_register()`.
    pub fn new(_: Resolved, hooks: Pin<KBox<T>>) -> Result<Self> {
        // SAFETY: What is pinned is not moved any more: it is only reached through the pointer
        // until it is dropped in place.
        let hooks = KBox::into_raw(unsafe { Pin::into_inner_unchecked(hooks) });
        let state = T::state();
        if state
            .cmpxchg(core::ptr::null_mut(), hooks, kernel::sync::atomic::Full)
            .is_err()
        {
            // SAFETY: From `into_raw()` just above, and published nowhere.
            drop(unsafe { KBox::from_raw(hooks) });
            return Err(EBUSY);
        }
        // INVARIANT: `cmpxchg` stored it.
        let this = Self { hooks };
        // SAFETY: The tracepoints were found, as `Resolved` shows; sleeps, as this function may. If
        // it fails nothing is attached, and detaching nothing is harmless.
        let attached = to_result(unsafe { ktrace_attach_task_probes() });
        if let Err(error) = attached {
            this.retire();
            return Err(error);
        }
        Ok(this)
    }

    /// Takes the hooks back and waits until nobody uses them.
    fn retire(self) {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: The probes are not attached, and `this` is not used any more.
        unsafe { Self::free(this.hooks) }
    }

    /// # Safety
    ///
    /// The probes must have been detached, and `hooks` be that of a registration which is going.
    unsafe fn free(hooks: *mut T) {
        T::state().store(core::ptr::null_mut(), Release);
        // A refresh of the gate may still run on another CPU, with interrupts off.
        // SAFETY: May sleep: registrations are made and dropped where that is allowed.
        unsafe { bindings::synchronize_rcu() };
        // SAFETY: From `into_raw()` by the invariant. Probes are detached, by the precondition, and
        // whoever read the pointer for a refresh before it was cleared has finished.
        drop(unsafe { KBox::from_raw(hooks) });
    }
}

impl<T: Bound> core::ops::Deref for Registration<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: Alive until drop, by the invariant, and only ever shared.
        unsafe { &*self.hooks }
    }
}

impl<T: Bound> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: Attached by `new()`. Waits until no probe runs any more, nor the worker.
        unsafe { ktrace_detach_task_probes() };
        // SAFETY: Just detached; this is the end of the registration.
        unsafe { Self::free(self.hooks) }
    }
}

/// Calls `visit` with every thread of every process, but for the idle tasks, inside one RCU
/// read-side section: `visit` may not sleep. Tasks that are made or go away meanwhile may be left
/// out.
pub fn for_each(mut visit: impl FnMut(Task<'_>)) {
    let mut visitor: &mut dyn FnMut(Task<'_>) = &mut visit;
    // SAFETY: `ktrace_visit_task()` below takes the pointer for what it is, and it lives until the
    // call returns.
    unsafe { ktrace_visit_tasks(core::ptr::from_mut(&mut visitor).cast()) }
}

/// # Safety
///
/// For `task.c`: `visitor` as [`for_each`] passed it, and a task that lives until this returns.
#[no_mangle]
unsafe extern "C" fn ktrace_visit_task(visitor: *mut c_void, task: *mut bindings::task_struct) {
    // SAFETY: By the precondition, and nobody else uses it while `for_each()` waits.
    let visit = unsafe { &mut *visitor.cast::<&mut dyn FnMut(Task<'_>)>() };
    // SAFETY: By the precondition.
    visit(unsafe { Task::from_raw(task) });
}

/// Calls `with` with the task that runs here. Any context.
#[inline]
pub fn with_current<R>(with: impl FnOnce(Task<'_>) -> R) -> R {
    // SAFETY: The current task lives as long as it is that, which is until `with` returns.
    with(unsafe { Task::from_raw(kernel::task::Task::current_raw()) })
}

/// Waits until every task that was inside the kernel's code, and may have been preempted there, has
/// given up its CPU by itself or gone back to user space. May sleep, for tens of milliseconds.
pub fn synchronize_tasks() {
    // SAFETY: In task context, no preconditions.
    unsafe { bindings::synchronize_rcu_tasks() }
}

/// Has a worker call [`TaskHooks::settle`] soon: once or more for any number of calls of this. Any context but
/// NMI, while there is a [`Registration`] and until it is dropped.
pub fn settle_later() {
    // SAFETY: Queues work; whoever drops the registration cancels it.
    unsafe { ktrace_settle_later() }
}

/// Makes a worker call [`TaskHooks::reclaim`], under the same conditions as [`settle_later`].
pub fn reclaim_later() {
    // SAFETY: Queues work, which is cancelled when the registration is dropped.
    unsafe { ktrace_reclaim_later() }
}

/// The gate's bits for a task, wherever it runs or not: for whoever asks about another task than
/// the current one. For callers that are probes, have preemption off, or are within [`for_each`].
#[inline]
pub fn mask_of<T: Bound>(task: Task<'_>) -> u32 {
    mask_of_next::<T>(task.pid(), || task.cpu())
}

/// A CPU goes from `prev` to `next`: writes its gate, and tells who follows either.
///
/// # Safety
///
/// For the probe on the switch: both tasks live until this returns, interrupts are off, and `gate` is this
/// CPU's: two words, what is wanted and what of it is sure.
#[doc(hidden)]
#[inline]
pub unsafe fn switched<T: Bound>(
    gate: *mut u32,
    preempt: bool,
    prev: *mut bindings::task_struct,
    next: *mut bindings::task_struct,
    prev_state: c_uint,
) {
    // SAFETY: Alive, by the precondition.
    let next_bits = mask_of::<T>(unsafe { Task::from_raw(next) });
    // SAFETY: This CPU's, by the precondition; single words, that an NMI may look at. `prev` has the CPU
    // still: what was sure is so for it between the two.
    let prev_bits = unsafe {
        let prev_bits = gate.read_volatile();
        gate.write_volatile(next_bits);
        gate.add(1).write_volatile(next_bits & prev_bits);
        prev_bits
    };
    if sched::follows(prev_bits | next_bits) {
        // SAFETY: Both are alive, and interrupts off, by the precondition.
        unsafe { ktrace_on_switch(preempt, prev, next, prev_state, prev_bits, next_bits) }
    }
}

#[doc(hidden)]
#[inline]
pub fn mask_of_next<T: Bound>(pid: i32, cpu: impl FnOnce() -> u32) -> u32 {
    let always = gate::always();
    let hooks = T::state().read_once();
    // SAFETY: Null, or alive: callers are probes, or have preemption off, and `free()` waits for
    // both after it has cleared the pointer.
    match unsafe { hooks.as_ref() } {
        None => always,
        Some(hooks) if pid == 0 => always | hooks.idle_mask(cpu()),
        Some(hooks) => always | hooks.mask(pid),
    }
}

#[doc(hidden)]
pub fn with_hooks<T: Bound>(call: impl FnOnce(&T)) {
    // SAFETY: As in `mask_of_next()`: callers are probes; or the worker, which is waited for with those.
    if let Some(hooks) = unsafe { T::state().read_once().as_ref() } {
        call(hooks);
    }
}

/// Names the one type whose [`TaskHooks`] the probes call.
#[macro_export]
macro_rules! bind_task_hooks {
    ($hooks:ty) => {
        const _: () = {
            use ::kernel::bindings::task_struct;
            use $crate::ktrace::task;
            use $crate::ktrace::task::Task;

            static STATE: $crate::ktrace::atomic::AtomicPtr<$hooks> =
                $crate::ktrace::atomic::AtomicPtr::null();

            // SAFETY: One static, which is not visible outside this block.
            unsafe impl task::Bound for $hooks {
                fn state() -> &'static $crate::ktrace::atomic::AtomicPtr<Self> {
                    &STATE
                }
            }

            /// # Safety
            ///
            /// For `task.c`: pointers to tasks that live until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_mask_of(task: *mut task_struct) -> u32 {
                // SAFETY: Alive, by the precondition.
                task::mask_of::<$hooks>(unsafe { Task::from_raw(task) })
            }

            /// # Safety
            ///
            /// For the probe on the switch in `task.c`, as [`task::switched`] says.
            #[no_mangle]
            unsafe extern "C" fn ktrace_switched(
                gate: *mut u32,
                preempt: bool,
                prev: *mut task_struct,
                next: *mut task_struct,
                prev_state: ::kernel::ffi::c_uint,
            ) {
                // SAFETY: By the precondition.
                unsafe { task::switched::<$hooks>(gate, preempt, prev, next, prev_state) }
            }

            #[no_mangle]
            extern "C" fn ktrace_idle_mask(cpu: u32) -> u32 {
                task::mask_of_next::<$hooks>(0, || cpu)
            }

            /// # Safety
            ///
            /// For `task.c`: pointers to tasks that live until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_new_task(
                parent: *mut task_struct,
                child: *mut task_struct,
            ) {
                // SAFETY: Alive, by the precondition.
                let (parent, child) = unsafe { (Task::from_raw(parent), Task::from_raw(child)) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::new_task(hooks, parent, child));
            }

            /// # Safety
            ///
            /// For `task.c`: a task that lives until this returns, and a string that ends.
            #[no_mangle]
            unsafe extern "C" fn ktrace_rename_task(
                task: *mut task_struct,
                comm: *const ::kernel::ffi::c_char,
            ) {
                // SAFETY: Alive, by the precondition.
                let task = unsafe { Task::from_raw(task) };
                // SAFETY: Ends, by the precondition.
                let comm = unsafe { task::Comm::from_char_ptr(comm) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::renamed(hooks, task, comm));
            }

            /// # Safety
            ///
            /// For `task.c`: pointers to tasks that live until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_prepare_exec_task(task: *mut task_struct) {
                // SAFETY: Alive, by the precondition.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::prepare_exec(hooks, task));
            }

            /// # Safety
            ///
            /// For `task.c`: pointers to tasks that live until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_exec_task(task: *mut task_struct, old_pid: i32) {
                // SAFETY: Alive, by the precondition.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::executed(hooks, task, old_pid));
            }

            /// # Safety
            ///
            /// For `task.c`: pointers to tasks that live until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_free_task(task: *mut task_struct) {
                // SAFETY: Alive, by the precondition.
                let task = unsafe { Task::from_raw(task) };
                task::with_hooks::<$hooks>(|hooks| task::TaskHooks::freed(hooks, task));
            }

            #[no_mangle]
            extern "C" fn ktrace_settle_tasks() {
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
