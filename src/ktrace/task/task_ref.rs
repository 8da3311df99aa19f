// SPDX-License-Identifier: GPL-2.0

//! References to tasks, and the attributes of a task that are read without a lock.

use core::{
    marker::PhantomData,
    ptr::addr_of, //
};

use kernel::bindings;

use super::comm::Comm;

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
    pub(in crate::ktrace) fn as_ptr(&self) -> *mut bindings::task_struct {
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

    /// Returns the time that the task has spent in user space. Unless the kernel accounts each
    /// change between user space and the kernel, it grows when a timer tick finds the task there.
    #[inline]
    pub fn user_time(&self) -> u64 {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).utime).read_volatile() }
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

    /// Returns the exit code of the task, as `wait()` reports it: valid once the task exits.
    pub fn exit_code(&self) -> i32 {
        // SAFETY: By the type invariant, the task is alive; this reads one aligned word.
        unsafe { addr_of!((*self.0).exit_code).read_volatile() }
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

/// Calls `with` with the idle task of the boot CPU, for moments that are about no task. Any
/// context.
pub fn with_idle<R>(with: impl FnOnce(Task<'_>) -> R) -> R {
    // SAFETY: `init_task` is static, so it is never freed.
    with(unsafe { Task::from_raw(&raw mut bindings::init_task) })
}

/// Calls `with` with the current task. Any context.
#[inline]
pub fn with_current<R>(with: impl FnOnce(Task<'_>) -> R) -> R {
    // SAFETY: The current task stays alive until `with` returns.
    with(unsafe { Task::from_raw(kernel::task::Task::current_raw()) })
}
