// SPDX-License-Identifier: GPL-2.0

//! Describes the open calls of a task, as far as a hook can access them.

use core::{
    mem::size_of,
    ptr::{
        addr_of_mut,
        NonNull, //
    },
};

use kernel::{
    prelude::*,
    sync::atomic::Atomic, //
};

use super::{
    fast_path::GraphHookForC,
    frame::{
        FrameRef,
        LongFrame,
        StoredFrame, //
    },
    task_word::TaskWord, //
};
use crate::ktrace::record::context::ktrace_context;
use crate::ktrace::{
    array::trace_array::TraceArray,
    private::abi,
    record::context::Context,
    sync::{
        published::PreemptionOff,
        read_once::ReadOnce, //
    },
    task::Task, //
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_detect_layout(
        graph: *mut GraphHookForC,
        frame: *mut c_void,
        word: *mut c_ulong,
    );
    fn ktrace_graph_task_is_in(graph: *mut GraphHookForC) -> bool;
    fn ktrace_call_fgraph_retrieve_parent_data(
        idx: c_int,
        size: *mut c_int,
        depth: c_int,
    ) -> *mut c_void;
    fn ktrace_call_fgraph_get_task_var(ops: *mut abi::fgraph_ops) -> *mut c_ulong;
    fn ktrace_call_ftrace_graph_top_ret_addr(task: *mut kernel::bindings::task_struct) -> c_ulong;
    fn ktrace_call_ftrace_graph_get_ret_stack(
        task: *mut kernel::bindings::task_struct,
        idx: c_int,
    ) -> *mut abi::ftrace_ret_stack;
}

/// The open calls of the current task, of which a hook sees its own.
///
/// # Invariants
///
/// Preemption is off, `task` is the current one, and `shared` belongs to a hook that is registered,
/// or was just unregistered. The shadow stack of the current task changes only by interrupts, which
/// restore it.
pub struct Open<'a> {
    shared: NonNull<GraphHookForC>,
    pub(super) task: Task<'a>,
    pub(super) tag: u32,
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
        shared: NonNull<GraphHookForC>,
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
    pub(super) fn ops(&self) -> (*mut abi::fgraph_ops, c_int) {
        // SAFETY: The hook is alive, by the type invariant; the index is constant as long as it is
        // registered.
        unsafe {
            let ops = addr_of_mut!((*self.shared.as_ptr()).ops);
            (ops, (*ops).idx)
        }
    }

    /// Enables the fast path, given a frame that the kernel has placed.
    #[inline]
    pub(super) fn detect_layout(&self, stored: NonNull<StoredFrame>) {
        // SAFETY: The hook is alive, by the type invariant. The frame is of a call that just
        // begins, and the word is that of the current task. The C side stores what it learns in
        // `shared` with whole-word writes.
        unsafe {
            if GraphHookForC::is_undetected(self.shared) {
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

    /// Returns the return address of the innermost call, also while it returns.
    pub fn return_address(&self) -> usize {
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        unsafe { ktrace_call_ftrace_graph_top_ret_addr(self.task.as_ptr()) as usize }
    }

    /// Returns the evidence that preemption is off.
    #[inline]
    pub fn preemption_off(&self) -> PreemptionOff<'_> {
        // SAFETY: Preemption is off as long as this exists, by the type invariant.
        unsafe { PreemptionOff::new() }
    }

    /// Returns the frame of the call that is `up` levels above the innermost one, if there is one
    /// of this hook.
    #[inline]
    pub fn frame(&self, up: i32) -> Option<FrameRef<'_>> {
        let mut size = 0;
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        let data = unsafe { ktrace_call_fgraph_retrieve_parent_data(self.ops().1, &mut size, up) };
        if (size as usize) < size_of::<StoredFrame>() {
            return None;
        }
        // SAFETY: The pointer is null, or points to data of this index in the kernel's table, of at
        // least that size and aligned to words. It exists until the call returns, which is after
        // this.
        unsafe { FrameRef::at(data, self.tag) }
    }

    /// Returns the word of the innermost call, if it has one
    /// ([`CurrentCall::reserve_long_frame`](super::CurrentCall::reserve_long_frame)). To be called
    /// before [`Return::frame`](super::Return::frame).
    pub fn word(&self) -> Option<u64> {
        let mut size = 0;
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        let data = unsafe { ktrace_call_fgraph_retrieve_parent_data(self.ops().1, &mut size, 0) };
        if (size as usize) < size_of::<LongFrame>() {
            return None;
        }
        // SAFETY: The pointer is null, or points to data of this index in the kernel's table, of at
        // least that size and aligned to words. It exists until the call returns, which is after
        // this. Members may have any value.
        unsafe {
            FrameRef::at(data, self.tag)?;
            data.cast::<LongFrame>()
                .as_ref()
                .map(|long| long.word.read_once())
        }
    }

    /// Returns the call that is `up` levels above the innermost one, if this hook traces it.
    pub fn caller(&self, up: i32) -> Option<Caller<'_>> {
        let frame = self.frame(up)?;
        // SAFETY: Walks the shadow stack of the current task, which does not change, by the type
        // invariant.
        let entry = unsafe { ktrace_call_ftrace_graph_get_ret_stack(self.task.as_ptr(), up) };
        // SAFETY: The pointer is null, or points to an entry of that stack, which exists until the
        // call returns.
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
        // SAFETY: The word consists of these two halves, which are aligned to their size, and
        // exists as long as `whole`.
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
        // SAFETY: The current task is alive, and this reads one aligned word of it.
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
