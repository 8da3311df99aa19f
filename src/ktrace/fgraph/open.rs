// SPDX-License-Identifier: GPL-2.0

//! The calls that are open in a task: what a hook is shown of them.

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

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_learn(graph: *mut Shared, frame: *mut c_void, word: *mut c_ulong);
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
    frame::{
        FrameRef,
        Stored, //
    },
    usual::Shared,
};
use crate::ktrace::{
    abi,
    ftrace_ops::MAX_ARGS,
    once::Once,
    records::Context,
    task::Task,
    trace_array::TraceArray, //
};

/// The calls that are open in the current task, of which a hook sees its own.
///
/// # Invariants
///
/// Preemption is off, `task` is the current one, `shared` is that of a hook that is registered or was
/// just now, and the shadow stack of the current task holds still but for interrupts, which leave it
/// as they find it.
pub struct Open<'a> {
    shared: NonNull<Shared>,
    task: Task<'a>,
    tag: u32,
    tr: &'a TraceArray,
    depth: i32,
}

impl<'a> Open<'a> {
    /// # Safety
    ///
    /// What the invariants say; the innermost call is so deep.
    #[inline(always)]
    pub(super) unsafe fn new(
        shared: NonNull<Shared>,
        task: Task<'a>,
        tag: u32,
        tr: &'a TraceArray,
        depth: i32,
    ) -> Self {
        // INVARIANT: By the precondition.
        Self {
            shared,
            task,
            tag,
            tr,
            depth,
        }
    }

    /// The same once more, for a path that is rarely taken: what is handed on by reference has to lie
    /// in memory, and the usual path does not pay for that.
    #[inline(always)]
    pub fn again(&self) -> Self {
        // INVARIANT: As that of `self`.
        Self {
            shared: self.shared,
            task: self.task,
            tag: self.tag,
            tr: self.tr,
            depth: self.depth,
        }
    }

    /// The hook as the kernel knows it, and its place in the kernel's table.
    #[inline]
    fn ops(&self) -> (*mut abi::fgraph_ops, c_int) {
        // SAFETY: Alive, by the invariant; the place stays as long as it is registered.
        unsafe {
            let ops = addr_of_mut!((*self.shared.as_ptr()).ops);
            (ops, (*ops).idx)
        }
    }

    /// Lets calls take the shortest way from now on, the kernel having placed a frame.
    #[inline]
    fn learn(&self, stored: NonNull<Stored>) {
        // SAFETY: Alive, by the invariant. The frame is of a call that just begins, and the word that of the
        // current task; what is learned from them is written in C.
        unsafe {
            if Shared::is_unsettled(self.shared) {
                let word = ktrace_call_fgraph_get_task_var(self.ops().0);
                ktrace_graph_learn(self.shared.as_ptr(), stored.as_ptr().cast(), word);
            }
        }
    }

    /// The trace array that the hook serves.
    #[inline]
    pub fn tr(&self) -> &'a TraceArray {
        self.tr
    }

    /// A number that tells the hook from others that were there before it, but for one in 2^23.
    #[inline]
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Whether the current task is traced by this hook at this moment: by the filter of the trace array, and by
    /// `set_ftrace_pid`. It may have been when an open call began, and not be now.
    #[inline]
    pub fn is_task_traced(&self) -> bool {
        // SAFETY: The hook is alive, by the invariant; looks at the current task, with preemption off.
        unsafe { ktrace_graph_task_is_in(self.shared.as_ptr()) }
    }

    /// The current task.
    #[inline]
    pub fn task(&self) -> Task<'a> {
        self.task
    }

    /// How deep the innermost call is; 0 is the outermost one.
    #[inline]
    pub fn depth(&self) -> i32 {
        self.depth
    }

    /// The frame of the call that is `up` levels above the innermost.
    #[inline]
    pub fn kept(&self, up: i32) -> Option<FrameRef<'_>> {
        let mut size = 0;
        // SAFETY: Walks the shadow stack of the current task, by the invariant.
        let data = unsafe { ktrace_call_fgraph_retrieve_parent_data(self.ops().1, &mut size, up) };
        if (size as usize) < size_of::<Stored>() {
            return None;
        }
        // SAFETY: Null, or data of this place in the kernel's table, of that size and aligned to words; it
        // stays until the call returns, which is after this.
        unsafe { FrameRef::at(data, self.tag) }
    }

    /// The call that is `up` levels above the innermost one, if this hook traces it.
    pub fn caller(&self, up: i32) -> Option<Caller<'_>> {
        let frame = self.kept(up)?;
        // SAFETY: Walks the shadow stack of the current task, by the invariant.
        let entry = unsafe { ktrace_call_ftrace_graph_get_ret_stack(self.task.as_ptr(), up) };
        // SAFETY: Null, or an entry of that stack, which stays until the call returns.
        let func = unsafe { entry.as_ref() }?.func as usize;
        Some(Caller {
            frame,
            func,
            depth: self.depth.wrapping_sub(up),
        })
    }

    /// The task dies in the calls that are open: who is given its shadow stack next is not to find them there, as
    /// an interrupt would that comes before a call of that task has put its own in the same place.
    #[cold]
    pub(super) fn disown(&self) {
        for frame in (0..=self.depth).filter_map(|up| self.kept(up)) {
            frame.disown();
        }
    }

    /// What the current task has for this hook. Before it is first set it is zero, or what another
    /// hook has left there: see [`Open::tag`].
    #[inline]
    pub fn task_word(&self) -> TaskWord<'_> {
        // SAFETY: The current task has a shadow stack, where the kernel keeps a word for each hook.
        let word = unsafe { ktrace_call_fgraph_get_task_var(self.ops().0) };
        // SAFETY: As above; as long as the shadow stack, which a task keeps until it ends. Only the
        // task itself, and interrupts on top of it, come to it.
        let whole = unsafe { &*word.cast::<Atomic<usize>>() };
        // SAFETY: Its two halves, aligned to their size.
        let [flags, count] = unsafe { &*word.cast::<[Atomic<u32>; 2]>() };
        TaskWord {
            whole,
            flags,
            count,
        }
    }

    /// How many calls of the current task have found its shadow stack full, ever.
    #[inline]
    pub fn overrun(&self) -> u32 {
        // SAFETY: One word of the current task, which is alive.
        unsafe { (&raw const (*self.task.as_ptr()).trace_overrun.counter).read_volatile() as u32 }
    }

    /// The context, less the hook's own part of it.
    #[inline]
    pub fn context(&self) -> Context {
        // SAFETY: Looks at this CPU and task. Preemption was turned off once for the hook, by the
        // invariant, and the function allows for just that.
        let packed = unsafe { ktrace_context() };
        Context::new(packed, self.task.pid())
    }
}

/// An open call that is not the innermost one.
pub struct Caller<'a> {
    /// Its frame, if it is traced by the same hook.
    pub frame: FrameRef<'a>,
    /// The function.
    pub func: usize,
    /// How deep it is.
    pub depth: i32,
}

/// A word of the current task: flags in the lower half, and in the upper one a count that only goes
/// up. See [`Open::task_word`].
///
/// The halves are written one by one, here and in C, so that flags which are set never take back
/// what an interrupt has counted at that moment.
pub struct TaskWord<'a> {
    whole: &'a Atomic<usize>,
    flags: &'a Atomic<u32>,
    count: &'a Atomic<u32>,
}

/// The flags are in the first half, and the lower one.
const _: () = assert!(cfg!(target_endian = "little") && usize::BITS == 2 * u32::BITS);

impl TaskWord<'_> {
    /// The flags.
    #[inline]
    pub fn get(&self) -> u32 {
        self.flags.read_once()
    }

    /// Sets the flags. An interrupt that comes in between a [`TaskWord::get`] and this leaves them
    /// as it finds them, or its change is lost.
    #[inline]
    pub fn set(&self, flags: u32) {
        self.flags.write_once(flags);
    }

    /// Sets both halves if `is_known` is false of the flags; `count` is asked for its half then. If
    /// an interrupt sets them at that moment, they stay as it has set them. Returns the flags.
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

    /// Whether the count is that.
    #[inline]
    pub fn counts(&self, value: u32) -> bool {
        self.count.read_once() == value
    }

    /// Raises the count to `value`, unless an interrupt has raised it further. Returns by how much:
    /// each step is reported once, whoever else raises it.
    #[cold]
    pub fn raise(&self, value: u32) -> u32 {
        let mut before = self.count.read_once();
        loop {
            // They go round.
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
/// As [`Open`], within the callback for the call; `fregs` is what ftrace passed, or null.
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
    /// # Safety
    ///
    /// What the invariants say.
    #[inline(always)]
    pub(super) unsafe fn new(open: Open<'a>, func: usize, fregs: *mut c_void) -> Self {
        // INVARIANT: By the precondition.
        Self { open, func, fregs }
    }

    /// As [`Open::again`].
    #[inline(always)]
    pub fn again(&self) -> Self {
        // INVARIANT: As that of `self`.
        Self {
            open: self.open.again(),
            func: self.func,
            fregs: self.fregs,
        }
    }

    /// Keeps a frame until the call returns, with half a word of the hook's own; to be called once. What times
    /// it begins here. `None` if the shadow stack is full: the hook then has to return false.
    #[inline]
    pub fn keep(&self, half: u32, flags: u32) -> Option<FrameRef<'_>> {
        // SAFETY: Called once within the callback, for the task that runs here.
        let data = unsafe {
            ktrace_call_fgraph_reserve_data(self.open.ops().1, size_of::<Stored>() as c_int)
        };
        let stored = NonNull::new(data.cast::<Stored>())?;
        self.open.learn(stored);
        // SAFETY: As many bytes as were asked for, aligned to words, which stay until the call returns.
        Some(unsafe { FrameRef::begin(stored, half, self.open.tag, flags) })
    }

    /// Argument number `n`, as the register holds it; 0 if `n` is not below [`MAX_ARGS`] or the
    /// registers are not known.
    #[inline]
    pub fn argument(&self, n: usize) -> usize {
        if self.fregs.is_null() || n >= MAX_ARGS {
            return 0;
        }
        // SAFETY: Reads from the registers, which are valid by the invariant.
        unsafe { ktrace_argument(self.fregs, n as c_uint) as usize }
    }

    /// Where the function will return to.
    pub fn return_address(&self) -> usize {
        // SAFETY: Walks the shadow stack of the current task.
        unsafe { ktrace_call_ftrace_graph_top_ret_addr(self.open.task.as_ptr()) as usize }
    }
}

/// The return of a function.
///
/// # Invariants
///
/// As [`Open`], within the callback for the return.
pub struct Return<'a> {
    open: Open<'a>,
    /// The function.
    pub func: usize,
    /// Calls of this task that found the shadow stack full, ever.
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
    /// # Safety
    ///
    /// What the invariants say.
    #[inline(always)]
    pub(super) unsafe fn new(
        open: Open<'a>,
        ret: &abi::ftrace_graph_ret,
        fregs: *mut c_void,
    ) -> Self {
        // INVARIANT: By the precondition.
        Self {
            open,
            func: ret.func,
            overrun: ret.overrun,
            fregs,
        }
    }

    /// As [`Open::again`].
    #[inline(always)]
    pub fn again(&self) -> Self {
        // INVARIANT: As that of `self`.
        Self {
            open: self.open.again(),
            func: self.func,
            overrun: self.overrun,
            fregs: self.fregs,
        }
    }

    /// What was kept when the function was called; once. From then on, an interrupt does not take the call for
    /// open, nor what is left of the frame for one of its own.
    #[inline]
    pub fn kept(&self) -> Option<FrameRef<'_>> {
        let frame = self.open.kept(0)?;
        frame.disown();
        Some(frame)
    }

    /// What the function returns, as the register holds it.
    #[inline]
    pub fn value(&self) -> usize {
        // SAFETY: What ftrace passed, by the invariant, or null.
        unsafe { ktrace_return_value(self.fregs) as usize }
    }
}
