// SPDX-License-Identifier: GPL-2.0

//! The open calls of a task, as far as a hook can access them.

use core::{
    mem::size_of,
    ops::Deref,
    ptr::{
        addr_of_mut,
        NonNull, //
    },
};

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_detect_layout(graph: *mut Shared, frame: *mut c_void, word: *mut c_ulong);
    fn ktrace_graph_task_is_in(graph: *mut Shared) -> bool;
    fn ktrace_return_value(fregs: *mut c_void) -> c_ulong;
    fn ktrace_context() -> c_uint;
    fn ktrace_argument(fregs: *mut c_void, n: c_uint) -> c_ulong;
    fn ktrace_call_fgraph_reserve_data(idx: c_int, size: c_int) -> *mut c_void;
    fn ktrace_call_fgraph_retrieve_parent_data(
        idx: c_int,
        size: *mut c_int,
        depth: c_int,
    ) -> *mut c_void;
    fn ktrace_call_fgraph_get_task_var(ops: *mut abi::fgraph_ops) -> *mut c_ulong;
    fn ktrace_call_ftrace_graph_get_ret_stack(
        task: *mut kernel::bindings::task_struct,
        idx: c_int,
    ) -> *mut abi::ftrace_ret_stack;
    fn ktrace_call_ftrace_graph_top_ret_addr(task: *mut kernel::bindings::task_struct) -> c_ulong;
}

use super::{
    fast_path::Shared,
    frame::{
        FrameRef,
        Stored, //
    },
};
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::abi,
    record::context::{
        Context,
        MAX_ARGS, //
    },
    sync::read_once::ReadOnce,
    task::Task, //
};

/// The open calls of the current task, of which a hook sees its own.
///
/// # Invariants
///
/// Preemption is off, `task` is the current one, and `shared` belongs to a hook that is registered,
/// or was just unregistered. The shadow stack of the current task changes only by interrupts, which
/// restore it.
pub struct Open<'a> {
    shared: NonNull<Shared>,
    task: Task<'a>,
    tag: u32,
    tr: &'a TraceArray,
    depth: i32,
}

impl<'a> Open<'a> {
    /// Creates the open calls of a task; the innermost one has depth `depth`.
    ///
    /// # Safety
    ///
    /// The caller must guarantee the type invariants.
    #[inline(always)]
    pub(super) unsafe fn new(
        shared: NonNull<Shared>,
        task: Task<'a>,
        tag: u32,
        tr: &'a TraceArray,
        depth: i32,
    ) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self {
            shared,
            task,
            tag,
            tr,
            depth,
        }
    }

    /// Returns a copy for the slow path, which takes a reference: with a reference to `self`, the
    /// fast path would have to keep `self` in memory.
    #[inline(always)]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            shared: self.shared,
            task: self.task,
            tag: self.tag,
            tr: self.tr,
            depth: self.depth,
        }
    }

    /// Returns the hook as the kernel knows it, and its index in the kernel's table.
    #[inline]
    fn ops(&self) -> (*mut abi::fgraph_ops, c_int) {
        // SAFETY: The hook is alive, by the type invariant; the index is constant as long as it is
        // registered.
        unsafe {
            let ops = addr_of_mut!((*self.shared.as_ptr()).ops);
            (ops, (*ops).idx)
        }
    }

    /// Enables the fast path, given a frame that the kernel has placed.
    #[inline]
    fn detect_layout(&self, stored: NonNull<Stored>) {
        // SAFETY: The hook is alive, by the type invariant. The frame is of a call that just
        // begins, and the word is that of the current task. The C side stores what it learns in
        // `shared` with whole-word writes.
        unsafe {
            if Shared::is_undetected(self.shared) {
                let word = ktrace_call_fgraph_get_task_var(self.ops().0);
                ktrace_graph_detect_layout(self.shared.as_ptr(), stored.as_ptr().cast(), word);
            }
        }
    }

    /// Returns the trace array of the hook.
    #[inline]
    pub fn tr(&self) -> &'a TraceArray {
        self.tr
    }

    /// Returns a number that distinguishes the hook from earlier ones, except one in 2^23.
    #[inline]
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Returns whether the hook traces the current task now, by the filter of the trace array and
    /// by `set_ftrace_pid`. That may have been different when an open call began.
    #[inline]
    pub fn is_task_traced(&self) -> bool {
        // SAFETY: The hook is alive, and preemption is off, by the type invariant; reads state of
        // the current task.
        unsafe { ktrace_graph_task_is_in(self.shared.as_ptr()) }
    }

    /// Returns the current task.
    #[inline]
    pub fn task(&self) -> Task<'a> {
        self.task
    }

    /// Returns the depth of the innermost call; the outermost one has depth 0.
    #[inline]
    pub fn depth(&self) -> i32 {
        self.depth
    }

    /// Returns the frame of the call that is `up` levels above the innermost one, if there is one
    /// of this hook.
    #[inline]
    pub fn frame(&self, up: i32) -> Option<FrameRef<'_>> {
        let mut size = 0;
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        let data = unsafe { ktrace_call_fgraph_retrieve_parent_data(self.ops().1, &mut size, up) };
        if (size as usize) < size_of::<Stored>() {
            return None;
        }
        // SAFETY: Null, or data of this index in the kernel's table, of at least that size and
        // aligned to words. It exists until the call returns, which is after this.
        unsafe { FrameRef::at(data, self.tag) }
    }

    /// Returns the call that is `up` levels above the innermost one, if this hook traces it.
    pub fn caller(&self, up: i32) -> Option<Caller<'_>> {
        let frame = self.frame(up)?;
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        let entry = unsafe { ktrace_call_ftrace_graph_get_ret_stack(self.task.as_ptr(), up) };
        // SAFETY: Null, or an entry of that stack, which exists until the call returns.
        let func = unsafe { entry.as_ref() }?.func as usize;
        Some(Caller {
            frame,
            func,
            depth: self.depth.wrapping_sub(up),
        })
    }

    /// Removes the tags of all frames, because the task dies in its open calls. The next task that
    /// gets its shadow stack must not find them: an interrupt could, before a call of that task has
    /// put its own frame in the same place.
    #[cold]
    pub(super) fn invalidate(&self) {
        for frame in (0..=self.depth).filter_map(|up| self.frame(up)) {
            frame.invalidate();
        }
    }

    /// Returns the current task's data word for this hook. Before it is first set, it is 0 or has
    /// what another hook left there: see [`Open::tag`].
    #[inline]
    pub fn task_word(&self) -> TaskWord<'_> {
        // SAFETY: The current task has a shadow stack, where the kernel has a word for each hook.
        let word = unsafe { ktrace_call_fgraph_get_task_var(self.ops().0) };
        // SAFETY: The word exists as long as the shadow stack, which a task has until it ends. Only
        // the task itself, and interrupts on top of it, access it.
        let whole = unsafe { &*word.cast::<Atomic<usize>>() };
        // SAFETY: The two halves of that word, which are aligned to their size.
        let [flags, count] = unsafe { &*word.cast::<[Atomic<u32>; 2]>() };
        TaskWord {
            whole,
            flags,
            count,
        }
    }

    /// Returns the total number of calls of the current task that found its shadow stack full.
    #[inline]
    pub fn overrun(&self) -> u32 {
        // SAFETY: A single word of the current task, which is alive.
        unsafe { (&raw const (*self.task.as_ptr()).trace_overrun.counter).read_volatile() as u32 }
    }

    /// Returns the current context, without the hook's own part of it.
    #[inline]
    pub fn context(&self) -> Context {
        // SAFETY: Reads state of this CPU and task. The hook has disabled preemption once, by the
        // type invariant, as the function expects.
        let packed = unsafe { ktrace_context() };
        Context::new(packed, self.task.pid())
    }
}

/// An open call that is not the innermost one.
pub struct Caller<'a> {
    /// The frame that this hook has added to it.
    pub frame: FrameRef<'a>,
    /// The function.
    pub func: usize,
    /// Its depth.
    pub depth: i32,
}

/// A task data word of the current task: flags in the lower half, and a count in the upper half,
/// which only increases. See [`Open::task_word`].
///
/// The halves are written separately, here and in C, so that setting flags never undoes what an
/// interrupt counts at that moment.
pub struct TaskWord<'a> {
    whole: &'a Atomic<usize>,
    flags: &'a Atomic<u32>,
    count: &'a Atomic<u32>,
}

/// The flags are the first half in memory, and the lower one.
const _: () = assert!(cfg!(target_endian = "little") && usize::BITS == 2 * u32::BITS);

impl TaskWord<'_> {
    /// Returns the flags.
    #[inline]
    pub fn get(&self) -> u32 {
        self.flags.read_once()
    }

    /// Sets the flags. An interrupt between [`TaskWord::get`] and this must leave them unchanged,
    /// or its change is lost.
    #[inline]
    pub fn set(&self, flags: u32) {
        self.flags.write_once(flags);
    }

    /// Returns the flags. If `is_known` is false for them, first sets them to `flags`, and the
    /// count to the result of `count`. If an interrupt sets them at that moment, its values remain.
    #[inline]
    pub fn get_or_begin(
        &self,
        flags: u32,
        is_known: impl Fn(u32) -> bool,
        count: impl Fn() -> u32,
    ) -> u32 {
        let known = self.get();
        if is_known(known) {
            return known;
        }
        let before = self.whole.read_once();
        if is_known(before as u32) {
            return before as u32;
        }
        let begun = (count() as usize) << u32::BITS | flags as usize;
        match self.whole.cmpxchg(before, begun, Relaxed) {
            Ok(_) => flags,
            Err(is) => is as u32,
        }
    }

    /// Returns whether the count has this value.
    #[inline]
    pub fn counts(&self, value: u32) -> bool {
        self.count.read_once() == value
    }

    /// Raises the count to `value`, unless an interrupt has raised it further. Returns the
    /// difference; each step is returned only once, whichever context makes it.
    #[cold]
    pub fn raise(&self, value: u32) -> u32 {
        let mut before = self.count.read_once();
        loop {
            // The counts wrap around.
            let more = value.wrapping_sub(before);
            if more == 0 || more > u32::MAX / 2 {
                return 0;
            }
            match self.count.cmpxchg(before, value, Relaxed) {
                Ok(_) => return more,
                Err(is) => before = is,
            }
        }
    }
}

/// The call of a function.
///
/// # Invariants
///
/// The callback for the call has not returned; `fregs` is what ftrace passed, or null.
pub struct Call<'a> {
    open: Open<'a>,
    /// The function.
    pub func: usize,
    fregs: *mut c_void,
}

impl<'a> Deref for Call<'a> {
    type Target = Open<'a>;

    #[inline]
    fn deref(&self) -> &Open<'a> {
        &self.open
    }
}

impl<'a> Call<'a> {
    /// Creates a call.
    ///
    /// # Safety
    ///
    /// The caller must guarantee the type invariants.
    #[inline(always)]
    pub(super) unsafe fn new(open: Open<'a>, func: usize, fregs: *mut c_void) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self { open, func, fregs }
    }

    /// Returns a copy for the slow path; see [`Open::reborrow`].
    #[inline(always)]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            open: self.open.reborrow(),
            func: self.func,
            fregs: self.fregs,
        }
    }

    /// Adds a frame to the call until it returns, with a half word of the hook's own and flags. The
    /// call is timed from now on. Must be called only once. `None` if the shadow stack is full:
    /// then the hook has to return false.
    #[inline]
    pub fn reserve_frame(&self, half: u32, flags: u32) -> Option<FrameRef<'_>> {
        // SAFETY: Called once in the callback, for the current task.
        let data = unsafe {
            ktrace_call_fgraph_reserve_data(self.open.ops().1, size_of::<Stored>() as c_int)
        };
        let stored = NonNull::new(data.cast::<Stored>())?;
        self.open.detect_layout(stored);
        // SAFETY: The reserved data has the size of a `Stored`, is aligned to words, and exists
        // until the call returns.
        Some(unsafe { FrameRef::begin(stored, half, self.open.tag, flags) })
    }

    /// Returns argument number `n`, as the register holds it; 0 if `n` is not below [`MAX_ARGS`] or
    /// the registers are not known.
    #[inline]
    pub fn argument(&self, n: usize) -> usize {
        if self.fregs.is_null() || n >= MAX_ARGS {
            return 0;
        }
        // SAFETY: Reads from the registers, which are valid by the type invariant.
        unsafe { ktrace_argument(self.fregs, n as c_uint) as usize }
    }

    /// Returns the return address of the function.
    pub fn return_address(&self) -> usize {
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        unsafe { ktrace_call_ftrace_graph_top_ret_addr(self.open.task.as_ptr()) as usize }
    }
}

/// The return of a function.
///
/// # Invariants
///
/// The callback for the return has not returned; `fregs` is what ftrace passed, or null.
pub struct Return<'a> {
    open: Open<'a>,
    /// The function.
    pub func: usize,
    /// Total number of calls of this task that found the shadow stack full.
    pub overrun: u32,
    fregs: *mut c_void,
}

impl<'a> Deref for Return<'a> {
    type Target = Open<'a>;

    #[inline]
    fn deref(&self) -> &Open<'a> {
        &self.open
    }
}

impl<'a> Return<'a> {
    /// Creates a return.
    ///
    /// # Safety
    ///
    /// The caller must guarantee the type invariants.
    #[inline(always)]
    pub(super) unsafe fn new(
        open: Open<'a>,
        ret: &abi::ftrace_graph_ret,
        fregs: *mut c_void,
    ) -> Self {
        // INVARIANT: The caller guarantees the type invariants.
        Self {
            open,
            func: ret.func,
            overrun: ret.overrun,
            fregs,
        }
    }

    /// Returns a copy for the slow path; see [`Open::reborrow`].
    #[inline(always)]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            open: self.open.reborrow(),
            func: self.func,
            overrun: self.overrun,
            fregs: self.fregs,
        }
    }

    /// Returns the frame of the call, only once. From then on, an interrupt does not take the call
    /// for an open one, nor the old data of the frame for one of its own.
    #[inline]
    pub fn frame(&self) -> Option<FrameRef<'_>> {
        let frame = self.open.frame(0)?;
        frame.invalidate();
        Some(frame)
    }

    /// Returns the return value of the function, as the register holds it.
    #[inline]
    pub fn value(&self) -> usize {
        // SAFETY: `fregs` is what ftrace passed, by the type invariant, or null.
        unsafe { ktrace_return_value(self.fregs) as usize }
    }
}
