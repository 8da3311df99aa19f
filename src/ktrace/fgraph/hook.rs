// SPDX-License-Identifier: GPL-2.0

//! Registers and unregisters hooks, and finds the registered ones.

use core::ptr::{
    addr_of_mut,
    drop_in_place,
    null_mut,
    NonNull, //
};

use kernel::{
    error::to_result,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc, //
    },
};

use super::{
    active_calls::Open,
    clock::TIMER,
    fast_path::GraphHookForC,
    frame::{
        FLAG_BITS,
        TAG_OPEN, //
    },
    graph_hook::GraphHook,
    settings::has_any_functions,
    tag, //
};
use crate::ktrace::hook::ftrace_ops::ktrace_current;
use crate::ktrace::record::context::ktrace_preempt_disable;
use crate::ktrace::record::context::ktrace_preempt_enable;
use crate::ktrace::{
    array::trace_array::TraceArray,
    compact::writer::Packer,
    private::{
        abi,
        callbacks::ktrace_graph,
        symbols::Resolved, //
    },
    record::context::Context,
    sync::{
        atomic::AtomicPtr,
        read_once::ReadOnce, //
    },
    task::{
        trace_mask,
        Task, //
    },
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_init(graph: *mut GraphHookForC);
    fn ktrace_graph_is_listed(graph: *mut GraphHookForC) -> bool;
    fn ktrace_graph_random() -> u32;
    fn ktrace_graph_set_chosen(graph: *mut GraphHookForC, are_chosen: bool);
    fn ktrace_graph_synchronize();
    fn ktrace_call_register_ftrace_graph(ops: *mut abi::fgraph_ops) -> c_int;
    fn ktrace_call_unregister_ftrace_graph(ops: *mut abi::fgraph_ops);
    fn ktrace_call_fgraph_init_ops(ops: *mut abi::ftrace_ops, from: *mut abi::ftrace_ops);
}

/// A hook, as the callbacks find it.
#[doc(hidden)]
#[repr(C)]
pub struct Inner<G> {
    // First, so that a pointer to it is a pointer to the `Inner`.
    shared: GraphHookForC,
    tag: u32,
    tr: *mut abi::trace_array,
    pub(super) state: Arc<G>,
}

impl<G> Inner<G> {
    /// Returns the open calls of the current task; the innermost one has depth `depth`.
    ///
    /// # Safety
    ///
    /// The hook must be registered, about to be registered, or just unregistered. `task` must be
    /// the current one, and have a shadow stack. Preemption must be off for the lifetime of the
    /// result.
    #[inline(always)]
    pub(super) unsafe fn open(
        &self,
        task: *mut kernel::bindings::task_struct,
        depth: i32,
    ) -> Open<'_> {
        // SAFETY: `task` is the current one, so it is alive. The trace array is alive as long as
        // the hook.
        let (task, tr) = unsafe { (Task::from_raw(task), TraceArray::from_raw(self.tr)) };
        // SAFETY: The caller guarantees what the invariants of `Open` say.
        unsafe { Open::new(NonNull::from(&self.shared), task, self.tag, tr, depth) }
    }
}

/// The number of the next hook, 0 before the first one. The first number is random, because the
/// shadow stacks of tasks may still have data of hooks of a module that was loaded before, and
/// these had numbers too.
static NEXT: Atomic<u32> = Atomic::new(0);

/// Returns a new tag. May be called concurrently.
fn next_tag() -> u32 {
    if NEXT.load(Relaxed) == 0 {
        // SAFETY: `ktrace_graph_random()` may be called in any context.
        let first = unsafe { ktrace_graph_random() };
        // If another task was first, its number is used.
        let _ = NEXT.cmpxchg(0, first, Relaxed);
    }
    TAG_OPEN | tag::of_number(NEXT.fetch_add(1, Relaxed)) & (TAG_OPEN - 1)
}

/// A registered hook.
///
/// # Invariants
///
/// Until drop, `inner` is from [`KBox::into_raw`], is registered with the kernel, and its `tr` is
/// alive by the contract of [`GraphRegistration::new`].
pub struct GraphRegistration<G: BoundGraphHook> {
    inner: NonNull<Inner<G>>,
    slot: u32,
}

// SAFETY: Owns an `Inner`, which is not bound to a thread.
unsafe impl<G: BoundGraphHook> Send for GraphRegistration<G> {}

/// # Safety
///
/// Only for `fgraph.c`, in the callback for a call: `graph` must belong to a registered
/// [`GraphRegistration`] of this type.
unsafe extern "C" fn overrun<G: BoundGraphHook>(graph: *mut ktrace_graph) {
    // SAFETY: `graph` belongs to a registered hook of this type, as the caller guarantees, and is
    // the first member of `Inner`. The hook is freed only after the callback has returned.
    unsafe { &*graph.cast::<Inner<G>>() }.state.overrun();
}

/// Access to the hooks of a type; implemented by [`super::bind_graph_hook!`].
///
/// # Safety
///
/// The C side's callbacks must call [`super::dispatch_call`] and [`super::dispatch_return`] of this
/// type, and `hooks()` must return the same static each time, to which only [`GraphRegistration`]
/// writes.
pub unsafe trait BoundGraphHook: GraphHook {
    #[doc(hidden)]
    fn hooks() -> &'static Hooks<Self>;
}

/// The present hooks, indexed by slot.
pub type Hooks<G> = [AtomicPtr<Inner<G>>; trace_mask::SLOTS as usize];

impl<G: BoundGraphHook> GraphRegistration<G> {
    /// Registers a hook on the functions that the trace array's filter selects. `state` is called
    /// for tasks whose bit `slot` is set in the trace mask. May sleep.
    ///
    /// For [`crate::ktrace::output::tracer::Tracer::init`], which gets `tr`. The hook must be
    /// dropped in `reset`: as long as the tracer is current, the trace array cannot be removed.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range; `EBUSY` if it is in use; `ENOMEM` if memory is short;
    /// those of `register_ftrace_graph()`: `ENOSPC` if there are 16 users already.
    pub fn new(_: Resolved, tr: &TraceArray, slot: u32, state: Arc<G>) -> Result<Self> {
        let place = G::hooks().get(slot as usize).ok_or(EINVAL)?;
        if !place.load(Acquire).is_null() {
            return Err(EBUSY);
        }
        if HOOKED.read_once() == 0 {
            // Frames of a hook that was removed are not read any more.
            TIMER.choose();
        }
        // SAFETY: The trace array is alive, and its `ops` exists as long as it does.
        let filter = unsafe { (*tr.as_ptr()).ops };
        if filter.is_null() {
            return Err(ENOMEM);
        }
        let tag = next_tag();
        // `fast_path()` refers to parts of `state`, which lives as long as `inner`.
        let shared = GraphHookForC::new(
            state.fast_path(tag),
            slot,
            tag << FLAG_BITS,
            TIMER.counter_mult(),
            Some(overrun::<G>),
        );
        let inner = KBox::new(
            Inner {
                shared,
                tag,
                tr: tr.as_ptr(),
                state,
            },
            GFP_KERNEL,
        )?;
        // It must not move from here on: the kernel links it into lists.
        let inner = KBox::into_raw(inner);
        // Callbacks run while the kernel still changes functions, and `for_each_open()` must find
        // their frames: otherwise a call that loses its CPU then would not be noted.
        publish(place, slot, inner);
        // SAFETY: `inner` is new, and has the layout that the C side expects. The kernel's function
        // makes the hook share the filter of the trace array, which is alive as long as the hook.
        let registered = unsafe {
            let ops = addr_of_mut!((*inner).shared.ops);
            ktrace_graph_init(addr_of_mut!((*inner).shared));
            ktrace_call_fgraph_init_ops(addr_of_mut!((*ops).ops), filter);
            to_result(ktrace_call_register_ftrace_graph(ops))
        };
        if let Err(error) = registered {
            retract(place, slot);
            // SAFETY: The pointer is from `into_raw()`. A callback may have run before the kernel
            // failed, and another task may have found the hook in its place; `free()` waits for
            // both. `trace_types_lock` is held when a tracer is made the current one.
            unsafe { free(inner) };
            return Err(error);
        }
        let inner = NonNull::new(inner).ok_or(EINVAL)?;
        // INVARIANT: Just registered, and from `into_raw()`.
        Ok(Self { inner, slot })
    }

    /// Applies `set_graph_function` and `set_graph_notrace`, as last copied by
    /// [`super::copy_graph_functions`].
    pub fn sync_graph_functions(&self) {
        // SAFETY: `inner` is alive, by the type invariant. Single words are written, which
        // callbacks may read concurrently.
        unsafe {
            let shared = addr_of_mut!((*self.inner.as_ptr()).shared);
            ktrace_graph_set_chosen(shared, has_any_functions());
        }
    }

    /// Enables the fast path into packs for leaves, or disables it if `packer` returns `None`. The
    /// packer must be part of the hook's own state.
    pub fn pack_with(&self, packer: impl FnOnce(&G) -> Option<&Packer>) {
        // SAFETY: `inner` is alive, by the type invariant. The packs exist as long as the packer,
        // which is part of its state.
        let inner = unsafe { self.inner.as_ref() };
        let packs = packer(&inner.state).map_or(null_mut(), Packer::for_calls);
        inner.shared.packs.store(packs, Release);
    }
}

/// Calls `with` with the trace array and the state of each hook. Any context but NMI.
pub fn for_each_hook<G: BoundGraphHook>(mut with: impl FnMut(&TraceArray, &G)) {
    // SAFETY: Preemption may be disabled in any context, also more than once. It is enabled again
    // at the end of this function, which has no other exit.
    unsafe { ktrace_preempt_disable() };
    for place in G::hooks() {
        // SAFETY: The pointer is null or points to a live hook: to free a hook, `retract()` clears
        // its place, and `free()` then waits for all code with preemption off, such as this.
        if let Some(inner) = unsafe { place.load(Acquire).as_ref() } {
            // SAFETY: The trace array is alive as long as the hook.
            with(unsafe { TraceArray::from_raw(inner.tr) }, &inner.state);
        }
    }
    // SAFETY: This ends the section that begins with the `ktrace_preempt_disable()` above.
    unsafe { ktrace_preempt_enable() };
}

/// The slots that have hooks. Each hook adds its bit when it is published, and subtracts it when it
/// is retracted.
static HOOKED: Atomic<u32> = Atomic::new(0);

/// Makes a hook visible, before its callbacks run. Its place is free, as its slot is.
fn publish<G>(place: &AtomicPtr<Inner<G>>, slot: u32, inner: *mut Inner<G>) {
    place.store(inner, Release);
    HOOKED.fetch_add(1u32.wrapping_shl(slot), Relaxed);
}

/// Makes a hook invisible, after its last callback has begun. Code that has found it has finished
/// with it once all code with preemption off has been waited for.
fn retract<G>(place: &AtomicPtr<Inner<G>>, slot: u32) {
    place.store(null_mut(), Release);
    HOOKED.fetch_add(1u32.wrapping_shl(slot).wrapping_neg(), Relaxed);
}

/// Calls `with` for each hook, if the current task has open calls.
///
/// # Safety
///
/// Preemption must be off.
unsafe fn for_each_open<G: BoundGraphHook>(mut with: impl FnMut(&G, &Open<'_>)) {
    // SAFETY: The current task is alive, and each of the two members is read as one aligned number.
    let (task, depth) = unsafe {
        let task = ktrace_current();
        let depth = match (*task).ret_stack.is_null() {
            true => -1,
            false => (*task).curr_ret_depth,
        };
        (task, depth)
    };
    if depth < 0 {
        return;
    }
    let mut slots = HOOKED.read_once();
    while slots != 0 {
        let slot = slots.trailing_zeros();
        slots &= slots.wrapping_sub(1);
        let Some(place) = G::hooks().get(slot as usize) else {
            continue;
        };
        // SAFETY: The pointer is null or points to a live hook: to free a hook, `retract()` clears
        // its place, and `free()` then waits for all code with preemption off, such as this.
        let Some(inner) = (unsafe { place.read_once().as_ref() }) else {
            continue;
        };
        // SAFETY: The hook is alive and preemption is off. `task` is the current one, with a shadow
        // stack that only interrupts change while this runs.
        let open = unsafe { inner.open(task, depth) };
        with(&inner.state, &open);
    }
}

/// Reports to all hooks that a record that is not an event is about to be written in the current
/// task, in that context.
///
/// # Safety
///
/// preemption must be off.
pub(super) unsafe extern "C" fn interposed<G: BoundGraphHook>(context: u32) {
    if HOOKED.read_once() != 0 {
        // SAFETY: Preemption is off, as the caller guarantees.
        unsafe {
            for_each_open::<G>(|hook, open| {
                hook.interposed(open, Context::new(context, open.task().pid()));
            });
        }
    }
}

/// Reports to all hooks that a record that is not an event is about to be written in the current
/// task, in this context ([`Context::once`]).
pub fn before_record<G: BoundGraphHook>(context: Context) {
    // SAFETY: `Context::once()` has turned preemption off.
    unsafe { interposed::<G>(context.packed) };
}

/// Reports to all hooks that the current task is about to end. For probes, in task context.
pub fn current_ends<G: BoundGraphHook>() {
    // SAFETY: Preemption may be disabled in any context, also more than once. It is enabled again
    // at the end of this function, which has no other exit.
    unsafe { ktrace_preempt_disable() };
    // SAFETY: `ktrace_preempt_disable()` was called above, so preemption is off.
    unsafe { for_each_open::<G>(|hook, open| hook.task_exit(open)) };
    // SAFETY: This ends the section that begins with the `ktrace_preempt_disable()` above.
    unsafe { ktrace_preempt_enable() };
}

/// Reports to all hooks that the current task is about to lose its CPU. With `is_exit`, it will
/// never run again, and its frames lose their tags. For the probe of `sched_switch`, which runs in
/// that task with interrupts off.
#[inline]
pub fn current_leaves<G: BoundGraphHook>(is_exit: bool) {
    if HOOKED.read_once() == 0 {
        return;
    }
    // SAFETY: The scheduler has disabled interrupts, so preemption is off.
    unsafe {
        for_each_open::<G>(|hook, open| match is_exit {
            true => open.invalidate(),
            false => hook.sched_out(open),
        })
    };
}

/// Frees a hook that was unregistered, or could not be registered, and is not visible any more. If
/// the kernel still has it in its list, keeps it, inactive.
///
/// # Safety
///
/// `inner` must be from [`KBox::into_raw`], and not be used after this. `trace_types_lock` must be
/// held.
unsafe fn free<G: BoundGraphHook>(inner: *mut Inner<G>) {
    // SAFETY: `inner` is alive, as the caller guarantees. After the wait, no callback is still
    // running.
    let is_listed = unsafe {
        ktrace_graph_synchronize();
        ktrace_graph_is_listed(addr_of_mut!((*inner).shared))
    };
    if !is_listed {
        // SAFETY: The pointer is from `into_raw()`, as the caller guarantees. No callback will run:
        // the kernel does not know the hook any more, not for open calls either.
        return drop(unsafe { KBox::from_raw(inner) });
    }
    pr_warn!("failed to unregister fgraph_ops; it stays registered, but is not called\n");
    // SAFETY: `inner` is from `into_raw()`, and stays allocated. The kernel still reads the filter
    // of a listed hook, which is that of the trace array, so that is kept too. With this flag, the
    // kernel would also have the hook called for other tasks. `trace_types_lock` is held, as the
    // caller guarantees. The hook is not called any more, so its state is not used; it is dropped,
    // since it may hold what others need.
    unsafe {
        *addr_of_mut!((*inner).shared.ops.ops.flags) &= !(abi::FTRACE_OPS_FL_PID as c_ulong);
        TraceArray::from_raw((*inner).tr).leak();
        drop_in_place(addr_of_mut!((*inner).state));
    }
}

impl<G: BoundGraphHook> Drop for GraphRegistration<G> {
    fn drop(&mut self) {
        // SAFETY: `inner` is registered, by the type invariant.
        unsafe {
            let ops = addr_of_mut!((*self.inner.as_ptr()).shared.ops);
            ktrace_call_unregister_ftrace_graph(ops);
        }
        if let Some(place) = G::hooks().get(self.slot as usize) {
            retract(place, self.slot);
        }
        // SAFETY: The pointer is from `into_raw()`, by the type invariant, and not visible any
        // more. Hooks are created and dropped with `trace_types_lock` held.
        unsafe { free(self.inner.as_ptr()) }
    }
}
