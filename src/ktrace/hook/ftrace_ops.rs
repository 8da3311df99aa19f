// SPDX-License-Identifier: GPL-2.0

//! Hooks on function entry, for a tracer that is current in a trace array.
//!
//! C headers: `include/linux/ftrace.h`, `include/linux/trace_recursion.h`.
//!
//! The user selects the functions in the trace array's own `set_ftrace_filter` and
//! `set_ftrace_notrace`, and the tasks in its `set_ftrace_pid`. The kernel applies these files to
//! an `ftrace_ops` that belongs to the trace array:
//!
//! * In the top trace array, any `ftrace_ops` can share the filter of these files
//!   (`ftrace_ops_set_global_filter()`), so the hook has its own.
//! * The files of an instance apply to the one `ftrace_ops` that the kernel made for the instance.
//!   It is used by the current tracer of the instance, so the hook sets its callback.

use core::ptr::addr_of_mut;

use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Release, //
        },
        Arc, //
    },
};

use super::stack_depth::Stack;
use crate::ktrace::{
    array::trace_array::TraceArray,
    compact::writer::Packer,
    private::{
        abi,
        callbacks::ktrace_recursed_t,
        symbols::{
            this_module,
            Data,
            Resolved, //
        },
    },
    record::context::Context,
    sync::{
        atomic::AtomicPtr,
        published::PreemptionOff,
        quiesce,
        read_once::ReadOnce, //
    },
    task::{
        trace_mask,
        Task, //
    },
};

type Func = abi::ftrace_func_t;

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn register_ftrace_function(ops: *mut abi::ftrace_ops) -> c_int;
    fn unregister_ftrace_function(ops: *mut abi::ftrace_ops) -> c_int;
    fn ftrace_ops_set_global_filter(ops: *mut abi::ftrace_ops);
    fn ktrace_set_recursed(recursed: ktrace_recursed_t) -> c_int;
    fn ktrace_slot_function(slot: c_uint) -> Func;
    pub(in crate::ktrace) fn ktrace_current() -> *mut kernel::bindings::task_struct;
    pub(in crate::ktrace) fn ktrace_argument(fregs: *mut c_void, n: c_uint) -> c_ulong;
    fn ktrace_preempt_depth() -> c_int;
    fn ktrace_stack_pointer(fregs: *mut c_void) -> c_ulong;
    fn ktrace_call_ftrace_graph_ret_addr(
        task: *mut kernel::bindings::task_struct,
        idx: *mut c_int,
        ret: c_ulong,
        retp: *mut c_ulong,
    ) -> c_ulong;
}

/// The operations of a hook on function entry.
pub trait FunctionHook: Send + Sync + Sized + 'static {
    /// Handles the call of a function by a task that the trace mask selects. Any context, NMI
    /// included; must not sleep, allocate, print or take a lock. Not re-entered in the same
    /// context.
    fn entry(&self, call: &FunctionCall<'_>);

    /// Counts a call that is not reported, because it was made while another call was handled. Any
    /// context, as for [`entry`](Self::entry).
    fn recursed(&self);
}

/// Returns how often the code that calls a traced function has disabled preemption, without what
/// ftrace has disabled. Only for callbacks, in the context of a task. `None` if it is not known,
/// because an interrupt that is not counted yet has come during another callback.
#[inline]
pub fn preempt_depth(_: PreemptionOff<'_>) -> Option<u32> {
    // SAFETY: Reads state of the current task and of this CPU; preemption is off.
    u32::try_from(unsafe { ktrace_preempt_depth() }).ok()
}

/// The call of a function.
///
/// # Invariants
///
/// `fregs` is what ftrace passed, and valid until the hook returns. The recursion bit is held, and
/// preemption is off.
pub struct FunctionCall<'a> {
    /// Address of the call to ftrace, at the beginning of the function.
    pub ip: usize,
    parent_ip: usize,
    fregs: *mut c_void,
    tr: &'a TraceArray,
    /// The context of the traced function, without the hook's own part of it.
    pub context: Context,
}

impl<'a> FunctionCall<'a> {
    /// Returns the trace array of the hook.
    #[inline]
    pub fn tr(&self) -> &'a TraceArray {
        self.tr
    }

    /// Returns a copy for the slow path, which takes a reference: with a reference to `self`, the
    /// fast path would have to keep `self` in memory.
    #[inline]
    pub fn reborrow(&self) -> Self {
        // INVARIANT: All values are those of `self`, for which the invariants hold.
        Self {
            ip: self.ip,
            parent_ip: self.parent_ip,
            fregs: self.fregs,
            tr: self.tr,
            context: self.context,
        }
    }

    /// Returns the return address of the function. If a graph tracer has replaced it, returns the
    /// original one.
    #[inline]
    pub fn parent_ip(&self) -> usize {
        if self.parent_ip != Data::ReturnToHandler.address() {
            return self.parent_ip;
        }
        true_parent_ip(self.parent_ip, self.fregs)
    }

    /// Returns the current task.
    #[inline]
    pub fn task(&self) -> Task<'_> {
        // SAFETY: The current task is alive as long as it runs, which it does until the callback
        // returns, by the type invariant.
        unsafe { Task::from_raw(ktrace_current()) }
    }

    /// Returns the stack of the current task.
    #[inline]
    pub fn stack(&self) -> Option<Stack<'_>> {
        // SAFETY: By the type invariant, `fregs` is what ftrace passed, and the callback returns
        // after `self` is dropped.
        unsafe { Stack::new(self.fregs) }
    }

    /// Returns the evidence that preemption is off.
    #[inline]
    pub fn preemption_off(&self) -> PreemptionOff<'_> {
        // SAFETY: Preemption is off until the callback returns, by the type invariant.
        unsafe { PreemptionOff::new() }
    }

    /// Returns argument number `n`, as the register holds it; 0 if `n` is not below
    /// [`MAX_ARGS`](crate::ktrace::record::context::MAX_ARGS).
    #[inline]
    pub fn argument(&self, n: usize) -> usize {
        // SAFETY: Reads from the registers, which are valid by the type invariant.
        unsafe { ktrace_argument(self.fregs, n as c_uint) as usize }
    }
}

/// Returns the original return address of the call to which `fregs` belongs, if a graph tracer has
/// replaced it by `parent_ip`.
#[cold]
fn true_parent_ip(parent_ip: usize, fregs: *mut c_void) -> usize {
    let mut index = 0;
    // SAFETY: Searches the shadow stack of the current task for the entry of this stack location,
    // as the kernel's function tracer does. `fregs` is what ftrace passed, since the caller has it
    // from a `FunctionCall`.
    unsafe {
        ktrace_call_ftrace_graph_ret_addr(
            ktrace_current(),
            &mut index,
            parent_ip as c_ulong,
            ktrace_stack_pointer(fregs) as *mut c_ulong,
        ) as usize
    }
}

/// The state of a slot for its entry function.
#[doc(hidden)]
pub struct FunctionSlot<F> {
    hook: AtomicPtr<F>,
    tr: AtomicPtr<abi::trace_array>,
}

impl<F> FunctionSlot<F> {
    /// Creates a slot without a hook.
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self {
            hook: AtomicPtr::null(),
            tr: AtomicPtr::null(),
        }
    }
}

/// Access to the slots of a hook type; implemented by [`bind_function_hook!`].
///
/// # Safety
///
/// `slots()` must return the same static each time, to which only [`FunctionRegistration`] writes.
pub unsafe trait BoundFunctionHook: FunctionHook {
    #[doc(hidden)]
    fn slots() -> &'static [FunctionSlot<Self>; trace_mask::SLOTS as usize];
}

enum Ops {
    /// The hook's own ops, for the top trace array.
    Own(KBox<abi::ftrace_ops>),
    /// The ops of an instance, and its previous callback.
    OfInstance(*mut abi::ftrace_ops, Func),
}

impl Ops {
    fn as_ptr(&mut self) -> *mut abi::ftrace_ops {
        match self {
            Ops::Own(ops) => &mut **ops,
            Ops::OfInstance(ops, _) => *ops,
        }
    }
}

/// A registered hook.
///
/// # Invariants
///
/// Until drop, slot `slot` holds a pointer to the value of `state` and a pointer to the trace
/// array, which exists by the contract of [`FunctionRegistration::new`]. `ops` is registered with
/// ftrace if `is_registered`.
pub struct FunctionRegistration<F: BoundFunctionHook> {
    slot: u32,
    ops: Ops,
    state: Arc<F>,
    is_registered: bool,
}

// SAFETY: Owns an `ftrace_ops`, or is the only user of the one of a trace array. Neither is bound
// to a thread.
unsafe impl<F: BoundFunctionHook> Send for FunctionRegistration<F> {}

impl<F: BoundFunctionHook> FunctionRegistration<F> {
    /// Registers a hook on the functions that the trace array's filter selects. `state` is called
    /// for tasks whose bit `slot` is set in the trace mask. May sleep.
    ///
    /// For [`crate::ktrace::output::tracer::Tracer::init`], which gets `tr`. The hook must be
    /// dropped in `reset`: as long as the tracer is current, the trace array cannot be removed.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range, `EBUSY` if it is in use; `ENOMEM` if memory is short;
    /// those of `register_ftrace_function()`.
    pub fn new(_: Resolved, tr: &TraceArray, slot: u32, state: Arc<F>) -> Result<Self> {
        let entry = F::slots().get(slot as usize).ok_or(EINVAL)?;
        if !entry.hook.load(Acquire).is_null() {
            return Err(EBUSY);
        }
        // SAFETY: `ktrace_slot_function()` has no preconditions; it looks up a table, which has
        // this slot.
        let func = unsafe { ktrace_slot_function(slot) };
        // SAFETY: `recursed()` has the preconditions of a callback from an entry function.
        to_result(unsafe { ktrace_set_recursed(Some(recursed::<F>)) })?;
        let mut ops = Self::prepare(tr, func)?;
        entry.tr.store(tr.as_ptr(), Release);
        entry.hook.store(Arc::as_ptr(&state).cast_mut(), Release);
        // SAFETY: `ops` is prepared, and its memory does not move before it is unregistered. The
        // callback finds its state in the slot, which was filled before.
        let registered = to_result(unsafe { register_ftrace_function(ops.as_ptr()) });
        // INVARIANT: The slot was filled above, and `is_registered` has the result of registering.
        let this = Self {
            slot,
            ops,
            state,
            is_registered: registered.is_ok(),
        };
        registered.map(|()| this)
    }

    /// Enables the fast path into packs as long as the hook exists, or disables it if `packer`
    /// returns `None`. The packer must be that of the hook's own state.
    pub fn pack_with(&self, packer: impl FnOnce(&F) -> Option<&Packer>) {
        Packer::bind(self.slot, packer(&self.state));
    }

    fn prepare(tr: &TraceArray, func: Func) -> Result<Ops> {
        if tr.is_top() {
            let mut ops = KBox::new(pin_init::zeroed::<abi::ftrace_ops>(), GFP_KERNEL)?;
            ops.func = func;
            ops.private = tr.as_ptr().cast();
            ops.flags = abi::FTRACE_OPS_FL_PID as c_ulong;
            // SAFETY: `ops` is a new `ftrace_ops`, which is all zero except for what was just set.
            unsafe { ftrace_ops_set_global_filter(&mut *ops) };
            return Ok(Ops::Own(ops));
        }
        // SAFETY: The trace array is alive, and its `ops` exists as long as it does.
        let ops = unsafe { (*tr.as_ptr()).ops };
        // SAFETY: The trace array and its `ops` are alive. `ops` is not registered: only the
        // current tracer registers it, no other tracer is current while this one is being made
        // current, and `trace_types_lock` is held.
        let before = unsafe {
            if ops.is_null() {
                return Err(ENOMEM);
            }
            let before = (*ops).func;
            addr_of_mut!((*ops).func).write(func);
            addr_of_mut!((*ops).private).write(tr.as_ptr().cast());
            before
        };
        Ok(Ops::OfInstance(ops, before))
    }

    /// Returns whether ftrace may still call the hook, although it could not be registered, or
    /// could not be unregistered: ftrace has disabled itself after an internal error while it
    /// changed functions, and has left some of them unchanged.
    fn is_stuck(&mut self) -> bool {
        // SAFETY: `ops` is the hook's own, or that of a live instance. The flag is cleared if
        // registering failed (`ftrace_startup()`), and by successful unregistering
        // (`ftrace_shutdown()`).
        let flags = unsafe { addr_of_mut!((*self.ops.as_ptr()).flags).read() };
        flags & abi::FTRACE_OPS_FL_ENABLED as c_ulong != 0
    }

    /// Keeps everything that ftrace may still use, and the module, forever, but disables the hook.
    fn abandon(&mut self) {
        pr_err!("ftrace is disabled after an internal error (ftrace_kill); refusing to unload\n");
        // SAFETY: This module has a reference already, as its code runs for its own tracer.
        unsafe { bindings::__module_get(this_module()) };
        Packer::bind(self.slot, None);
        if let Some(entry) = F::slots().get(self.slot as usize) {
            entry.hook.store(core::ptr::null_mut(), Release);
            // SAFETY: The trace array is alive as long as the hook exists. Hooks are created and
            // dropped with `trace_types_lock` held.
            unsafe { TraceArray::from_raw(entry.tr.load(Acquire)).leak() };
        }
        let ops = core::mem::replace(&mut self.ops, Ops::OfInstance(core::ptr::null_mut(), None));
        core::mem::forget(ops);
        core::mem::forget(Arc::clone(&self.state));
    }

    /// Undoes `prepare()`, and empties the slot. The ops must not be registered.
    fn dismantle(&mut self) {
        if let Ops::OfInstance(ops, before) = self.ops {
            // SAFETY: The instance is alive, and its ops is not registered, so no other code reads
            // it.
            unsafe { addr_of_mut!((*ops).func).write(before) };
        }
        Packer::bind(self.slot, None);
        if let Some(entry) = F::slots().get(self.slot as usize) {
            // The trace array stays: a callback that has read the hook reads it next.
            entry.hook.store(core::ptr::null_mut(), Release);
        }
    }
}

impl<F: BoundFunctionHook> Drop for FunctionRegistration<F> {
    fn drop(&mut self) {
        if !self.is_registered {
            if self.is_stuck() {
                return self.abandon();
            }
            self.dismantle();
            // ftrace may have had the ops on its list for a moment.
            quiesce::synchronize();
            quiesce::synchronize_tasks();
            return;
        }
        // SAFETY: Registered, as was just checked. The kernel takes an `ftrace_ops` outside its own
        // memory for dynamic, so it waits until no callback runs any more, also no preempted one
        // (`ftrace_shutdown()`).
        let result = to_result(unsafe { unregister_ftrace_function(self.ops.as_ptr()) });
        if result.is_err() && self.is_stuck() {
            return self.abandon();
        }
        self.dismantle();
    }
}

/// Returns the hook in a slot, with its trace array.
///
/// # Safety
///
/// Must be called in a callback of ftrace; the result must not be used after that returns.
#[inline]
unsafe fn hook_of<'a, F: BoundFunctionHook>(slot: u32) -> Option<(&'a F, &'a TraceArray)> {
    let entry = F::slots().get(slot as usize)?;
    // SAFETY: By the invariant of `FunctionRegistration`, the pointer is null or points to the
    // state of a registered hook. It is not freed before ftrace has seen this callback return.
    let hook = unsafe { entry.hook.read_once().as_ref() }?;
    // SAFETY: The trace array is alive as long as the hook is registered, by the invariant of
    // `FunctionRegistration`.
    Some((hook, unsafe { TraceArray::from_raw(entry.tr.read_once()) }))
}

/// Calls the hook of a slot.
///
/// # Safety
///
/// Only for `ftrace_ops.c`: must be called in a callback of ftrace, under the recursion guard, with
/// the arguments of that callback.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch<F: BoundFunctionHook>(
    slot: u32,
    ip: usize,
    parent_ip: usize,
    fregs: *mut c_void,
    context: Context,
) {
    // SAFETY: The caller guarantees that this is a callback of ftrace.
    if let Some((hook, tr)) = unsafe { hook_of::<F>(slot) } {
        // INVARIANT: The caller guarantees that `fregs` is that of the callback and that the
        // recursion guard is held.
        hook.entry(&FunctionCall {
            ip,
            parent_ip,
            fregs,
            tr,
            context,
        });
    }
}

/// Reports recursion to the hook of a slot.
///
/// # Safety
///
/// Only for `ftrace_ops.c`: must be called in a callback of ftrace.
unsafe extern "C" fn recursed<F: BoundFunctionHook>(slot: c_uint) {
    // SAFETY: The caller guarantees that this is a callback of ftrace.
    if let Some((hook, _)) = unsafe { hook_of::<F>(slot) } {
        hook.recursed();
    }
}

/// Selects the one type whose [`FunctionHook`] the entry functions call.
#[macro_export]
macro_rules! bind_function_hook {
    ($hook:ty) => {
        const _: () = {
            use $crate::ktrace::{
                hook::ftrace_ops,
                task::trace_mask, //
            };

            static SLOTS: [ftrace_ops::FunctionSlot<$hook>; trace_mask::SLOTS as usize] =
                [const { ftrace_ops::FunctionSlot::new() }; trace_mask::SLOTS as usize];

            // SAFETY: Always the same static, which is not visible outside this block.
            unsafe impl ftrace_ops::BoundFunctionHook for $hook {
                fn slots() -> &'static [ftrace_ops::FunctionSlot<Self>; trace_mask::SLOTS as usize]
                {
                    &SLOTS
                }
            }

            /// # Safety
            ///
            /// Only for `ftrace_ops.c`: the requirements of [`ftrace_ops::dispatch`].
            #[no_mangle]
            unsafe extern "C" fn ktrace_function_hit(
                slot: ::kernel::ffi::c_uint,
                ip: ::kernel::ffi::c_ulong,
                parent_ip: ::kernel::ffi::c_ulong,
                fregs: *mut ::kernel::ffi::c_void,
                packed: ::kernel::ffi::c_uint,
                pid: ::kernel::ffi::c_int,
            ) {
                // SAFETY: The caller guarantees what `dispatch()` requires.
                unsafe {
                    ftrace_ops::dispatch::<$hook>(
                        slot,
                        ip as usize,
                        parent_ip as usize,
                        fregs,
                        $crate::ktrace::record::context::Context::new(packed, pid),
                    )
                };
            }
        };
    };
}
pub use bind_function_hook;
