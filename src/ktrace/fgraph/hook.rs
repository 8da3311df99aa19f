// SPDX-License-Identifier: GPL-2.0

//! Hooks from when they are registered until they are gone.

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
    frame::{
        FLAG_BITS,
        TAG_OPEN, //
    },
    open::Open,
    settings::has_any_functions,
    tag,
    timer::TIMER,
    usual::Shared,
    GraphHook, //
};
use crate::ktrace::{
    abi,
    atomic::AtomicPtr,
    compact::packer::Packer,
    gate,
    once::Once,
    records::Context,
    symbols::Resolved,
    task::Task,
    trace_array::TraceArray, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_init(graph: *mut Shared);
    fn ktrace_graph_is_listed(graph: *mut Shared) -> bool;
    fn ktrace_graph_random() -> u32;
    fn ktrace_graph_set_chosen(graph: *mut Shared, are_chosen: bool);
    fn ktrace_graph_synchronize();
    fn ktrace_preempt_disable();
    fn ktrace_preempt_enable();
    fn ktrace_current() -> *mut kernel::bindings::task_struct;
    fn ktrace_call_register_ftrace_graph(ops: *mut abi::fgraph_ops) -> c_int;
    fn ktrace_call_unregister_ftrace_graph(ops: *mut abi::fgraph_ops);
    fn ktrace_call_fgraph_init_ops(ops: *mut abi::ftrace_ops, from: *mut abi::ftrace_ops);
}

/// A hook where the callbacks find it.
#[doc(hidden)]
#[repr(C)]
pub struct Inner<G> {
    // First, so that the one can be found from the other.
    shared: Shared,
    tag: u32,
    tr: *mut abi::trace_array,
    pub(super) state: Arc<G>,
}

impl<G> Inner<G> {
    /// The calls that are open in the current task, the innermost of which is so deep.
    ///
    /// # Safety
    ///
    /// The hook is registered, or about to be, or was until now; `task` is the current one, with preemption off as long as the result lives, and has a
    /// shadow stack.
    #[inline(always)]
    pub(super) unsafe fn open(
        &self,
        task: *mut kernel::bindings::task_struct,
        depth: i32,
    ) -> Open<'_> {
        // SAFETY: Alive, by the precondition; the trace array is as long as the hook is.
        let (task, tr) = unsafe { (Task::from_raw(task), TraceArray::from_raw(self.tr)) };
        // SAFETY: By the precondition.
        unsafe { Open::new(NonNull::from(&self.shared), task, self.tag, tr, depth) }
    }
}

/// What hooks are numbered by; 0: from anywhere. On the shadow stacks of tasks there is still what the
/// hooks of a module have left that was loaded before this one, and whose hooks had numbers as well.
static NEXT: Atomic<u32> = Atomic::new(0);

/// The tag of another hook. May be called by several at a time.
fn next_tag() -> u32 {
    if NEXT.load(Relaxed) == 0 {
        // SAFETY: May be called in any context.
        let first = unsafe { ktrace_graph_random() };
        // Who comes later takes what another one has set.
        let _ = NEXT.cmpxchg(0, first, Relaxed);
    }
    TAG_OPEN | tag::of_number(NEXT.fetch_add(1, Relaxed)) & (TAG_OPEN - 1)
}

/// A registered hook.
///
/// # Invariants
///
/// Until drop, `inner` came from [`KBox::into_raw`], is registered with the kernel, and its `tr` is
/// kept alive by the contract of [`Hook::new`].
pub struct Hook<G: Bound> {
    inner: NonNull<Inner<G>>,
    slot: u32,
}

// SAFETY: Owns an `Inner`, which belongs to no thread.
unsafe impl<G: Bound> Send for Hook<G> {}

/// Made by [`super::bind_graph_hook!`].
///
/// # Safety
///
/// The C side's callbacks must lead to [`super::dispatch_call`] and [`super::dispatch_return`] of this type, and
/// `hooks()` must return the same static each time, which nobody but [`Hook`] writes.
pub unsafe trait Bound: GraphHook {
    #[doc(hidden)]
    fn hooks() -> &'static Hooks<Self>;
}

/// The hooks there are, by their slots.
pub type Hooks<G> = [AtomicPtr<Inner<G>>; gate::SLOTS as usize];

impl<G: Bound> Hook<G> {
    /// Hooks the functions that the trace array's filter selects. `state` is called for tasks whose
    /// bit `slot` is set in the gate. May sleep.
    ///
    /// For [`crate::ktrace::tracer::Tracer::init`], which is given `tr` and must drop the hook in `reset`:
    /// as long as the tracer is current, the trace array cannot go away.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range; `EBUSY` if it is taken; `ENOMEM`; those of
    /// `register_ftrace_graph()`: `ENOSPC` if there are 16 users already.
    pub fn new(_: Resolved, tr: &TraceArray, slot: u32, state: Arc<G>) -> Result<Self> {
        let place = G::hooks().get(slot as usize).ok_or(EINVAL)?;
        if !place.load(Acquire).is_null() {
            return Err(EBUSY);
        }
        if HOOKED.read_once() == 0 {
            // Of a hook that is gone nobody reads a frame any more.
            TIMER.choose();
        }
        // SAFETY: The trace array is alive, and its `ops` is made with it and goes with it.
        let filter = unsafe { (*tr.as_ptr()).ops };
        if filter.is_null() {
            return Err(ENOMEM);
        }
        let tag = next_tag();
        // What the usual calls are told by is part of `state`, which stays as long as this does.
        let shared = Shared::new(
            state.usual(tag),
            slot,
            tag << FLAG_BITS,
            TIMER.counter_mult(),
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
        // From here on it stays where it is: the kernel links it into lists.
        let inner = KBox::into_raw(inner);
        // Callbacks come while the kernel still patches functions, and what they leave is to be found by
        // `for_each_open()`: a call that loses its CPU then would not be noted otherwise.
        publish(place, slot, inner);
        // SAFETY: A fresh one, of the layout that the C side has. The kernel's own function makes
        // the hook share the filter of the trace array, which is alive as long as the hook.
        let registered = unsafe {
            let ops = addr_of_mut!((*inner).shared.ops);
            ktrace_graph_init(addr_of_mut!((*inner).shared));
            ktrace_call_fgraph_init_ops(addr_of_mut!((*ops).ops), filter);
            to_result(ktrace_call_register_ftrace_graph(ops))
        };
        if let Err(error) = registered {
            retract(place, slot);
            // SAFETY: From `into_raw()`; a callback may have run before the kernel gave up, and somebody have found
            // it in its place. The lock is held, as it is when a tracer is made the current one.
            unsafe { free(inner) };
            return Err(error);
        }
        let inner = NonNull::new(inner).ok_or(EINVAL)?;
        // INVARIANT: Just registered.
        Ok(Self { inner, slot })
    }

    /// Goes by what `set_graph_function` and `set_graph_notrace` have, after [`super::copy_graph_functions`].
    pub fn see_graph_functions(&self) {
        // SAFETY: Alive, by the invariant; single words, that callbacks may read meanwhile.
        unsafe {
            let shared = addr_of_mut!((*self.inner.as_ptr()).shared);
            ktrace_graph_set_chosen(shared, has_any_functions());
        }
    }

    /// Lets leaves be packed by the shortest way, by what `packer` says, or not. That must be part of the
    /// state.
    pub fn pack_with(&self, packer: impl FnOnce(&G) -> Option<&Packer>) {
        // SAFETY: Alive, by the invariant, and so is what it leads to: the packs stay as long as the packer.
        let inner = unsafe { self.inner.as_ref() };
        let packs = packer(&inner.state).map_or(null_mut(), Packer::for_calls);
        inner.shared.packs.store(packs, Release);
    }
}

/// Waits until no callback runs any more that runs now, nor anything else with preemption off. May sleep.
pub fn synchronize() {
    // SAFETY: In task context, no preconditions.
    unsafe { ktrace_graph_synchronize() }
}

/// Calls `with` with the trace array and the state of each hook. Any context but NMI.
pub fn for_each_hook<G: Bound>(mut with: impl FnMut(&TraceArray, &G)) {
    // SAFETY: Turned on again below.
    unsafe { ktrace_preempt_disable() };
    for place in G::hooks() {
        // SAFETY: Null, or a live hook: who frees one clears the place first, and then waits for all who
        // have preemption off.
        if let Some(inner) = unsafe { place.load(Acquire).as_ref() } {
            // SAFETY: Alive from before the hook is registered until it is gone.
            with(unsafe { TraceArray::from_raw(inner.tr) }, &inner.state);
        }
    }
    // SAFETY: Turned off above.
    unsafe { ktrace_preempt_enable() };
}

/// The slots that have hooks: each adds its bit, and takes it away again.
static HOOKED: Atomic<u32> = Atomic::new(0);

/// Lets a hook be found, before callbacks of it run. Its place is free, as its slot is.
fn publish<G>(place: &AtomicPtr<Inner<G>>, slot: u32, inner: *mut Inner<G>) {
    place.store(inner, Release);
    HOOKED.fetch_add(1u32.wrapping_shl(slot), Relaxed);
}

/// Lets it be found no more, after the last callback has begun. Who has found it is done with it when all
/// are through that have preemption off.
fn retract<G>(place: &AtomicPtr<Inner<G>>, slot: u32) {
    place.store(null_mut(), Release);
    HOOKED.fetch_add(1u32.wrapping_shl(slot).wrapping_neg(), Relaxed);
}

/// Calls `with` for each hook, if the current task has open calls. With preemption off.
///
/// # Safety
///
/// Preemption is off.
unsafe fn for_each_open<G: Bound>(mut with: impl FnMut(&G, &Open<'_>)) {
    // SAFETY: Single words of the current task, which is alive.
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
        // SAFETY: Null, or a live hook: who frees one clears the place first, and then waits for all who
        // have preemption off.
        let Some(inner) = (unsafe { place.read_once().as_ref() }) else {
            continue;
        };
        // SAFETY: As above, and preemption is off. What is on the stack stays: this runs in its task.
        let open = unsafe { inner.open(task, depth) };
        with(&inner.state, &open);
    }
}

/// Reports to all hooks that a record which is no event is about to be written in the current task, in that context.
///
/// # Safety
///
/// Preemption is off.
pub unsafe fn current_interposes<G: Bound>(context: u32) {
    if HOOKED.read_once() != 0 {
        // SAFETY: By the precondition.
        unsafe {
            for_each_open::<G>(|hook, open| {
                hook.interposed(open, Context::new(context, open.task().pid()));
            });
        }
    }
}

/// Tells all hooks that the current task is about to end. Task context; for probes.
pub fn current_ends<G: Bound>() {
    // SAFETY: Turned on again below.
    unsafe { ktrace_preempt_disable() };
    // SAFETY: Just turned off.
    unsafe { for_each_open::<G>(|hook, open| hook.ends(open)) };
    // SAFETY: Turned off above.
    unsafe { ktrace_preempt_enable() };
}

/// Tells all hooks that a task is about to lose its CPU, and whether it will never have one again. For the probe
/// on that, which runs in it, with interrupts off.
#[inline]
pub fn current_leaves<G: Bound>(for_good: bool) {
    if HOOKED.read_once() == 0 {
        return;
    }
    // SAFETY: The scheduler has interrupts off.
    unsafe {
        for_each_open::<G>(|hook, open| match for_good {
            true => open.disown(),
            false => hook.leaves(open),
        })
    };
}

/// Frees a hook that was unregistered, or could not be registered, and is found no more; or leaves it where the
/// kernel still has it in its list.
///
/// # Safety
///
/// From [`KBox::into_raw`], and not used after this; `trace_types_lock` is held.
unsafe fn free<G: Bound>(inner: *mut Inner<G>) {
    // SAFETY: Alive, by the precondition. After the wait no callback runs any more that has begun.
    let is_listed = unsafe {
        ktrace_graph_synchronize();
        ktrace_graph_is_listed(addr_of_mut!((*inner).shared))
    };
    if !is_listed {
        // SAFETY: By the precondition; no callback will run: the kernel has forgotten about it, open calls included.
        return drop(unsafe { KBox::from_raw(inner) });
    }
    pr_warn!("the kernel does not let go of a hook on calls, which stays, without being called\n");
    // SAFETY: As above. In the list it is looked at for the filter, which is that of the trace array; and, but for this
    // flag, to have it called for other tasks. The lock is held, by the precondition. The state is not used any more by
    // anybody, for it is not called, and it may hold what others want.
    unsafe {
        *addr_of_mut!((*inner).shared.ops.ops.flags) &= !(abi::FTRACE_OPS_FL_PID as c_ulong);
        TraceArray::from_raw((*inner).tr).keep_for_good();
        drop_in_place(addr_of_mut!((*inner).state));
    }
}

impl<G: Bound> Drop for Hook<G> {
    fn drop(&mut self) {
        // SAFETY: Registered, by the invariant.
        unsafe {
            let ops = addr_of_mut!((*self.inner.as_ptr()).shared.ops);
            ktrace_call_unregister_ftrace_graph(ops);
        }
        if let Some(place) = G::hooks().get(self.slot as usize) {
            retract(place, self.slot);
        }
        // SAFETY: From `into_raw()`, by the invariant; nobody finds it any more. Hooks are made and dropped with the
        // lock held.
        unsafe { free(self.inner.as_ptr()) }
    }
}
