// SPDX-License-Identifier: GPL-2.0

//! Hooks on the entry of functions, for a tracer that is current in a trace array.
//!
//! C headers: `include/linux/ftrace.h`, `include/linux/trace_recursion.h`.
//!
//! Which functions are hooked is for the user to say, in the trace array's own `set_ftrace_filter`
//! and `set_ftrace_notrace`; for which tasks, in its `set_ftrace_pid`. The kernel applies all three
//! to an `ftrace_ops` that it knows to belong to the trace array:
//!
//! * In the top trace array any `ftrace_ops` can share the filter of those files
//!   (`ftrace_ops_set_global_filter()`), so the hook has one of its own.
//! * An instance's files act on the one `ftrace_ops` that the kernel made for the instance, and the
//!   tracer that is current there is the one to use it, so the hook gives it its callback.

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

use super::{
    abi,
    atomic::AtomicPtr,
    compact::packer::Packer,
    fgraph,
    gate,
    once::Once,
    records::Context,
    symbols::{
        this_module,
        Data,
        Resolved, //
    },
    task,
    trace_array::TraceArray, //
};

type Func = abi::ftrace_func_t;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn register_ftrace_function(ops: *mut abi::ftrace_ops) -> c_int;
    fn unregister_ftrace_function(ops: *mut abi::ftrace_ops) -> c_int;
    fn ftrace_ops_set_global_filter(ops: *mut abi::ftrace_ops);
    fn ktrace_slot_function(slot: c_uint) -> Func;
    fn ktrace_current() -> *mut kernel::bindings::task_struct;
    fn ktrace_argument(fregs: *mut c_void, n: c_uint) -> c_ulong;
    fn ktrace_stack_pointer(fregs: *mut c_void) -> c_ulong;
    fn ktrace_call_ftrace_graph_ret_addr(
        task: *mut kernel::bindings::task_struct,
        idx: *mut c_int,
        ret: c_ulong,
        retp: *mut c_ulong,
    ) -> c_ulong;
}

/// How many arguments of a call can be read: those that are passed in registers
/// (`FTRACE_REGS_MAX_ARGS`).
pub const MAX_ARGS: usize = if cfg!(CONFIG_ARM64) { 8 } else { 6 };

/// What is done when a hooked function is called.
pub trait FunctionHook: Send + Sync + Sized + 'static {
    /// A function is called by a task that the gate lets through. Any context, NMI included; may
    /// not sleep, allocate, print or take a lock. Not re-entered in the same context.
    fn called(&self, call: &Call<'_>);

    /// A call was not reported, since it came out of the handling of another one.
    fn recursed(&self);
}

/// The call of a function.
///
/// # Invariants
///
/// `fregs` is what ftrace passed, and valid until the hook returns. The recursion bit is held and
/// preemption is off.
pub struct Call<'a> {
    /// Where the call to ftrace stands, at the beginning of the function.
    pub ip: usize,
    parent_ip: usize,
    fregs: *mut c_void,
    tr: &'a TraceArray,
    /// The context of the traced function, less the hook's own part of it.
    pub context: Context,
}

impl<'a> Call<'a> {
    /// The trace array that the hook serves.
    #[inline]
    pub fn tr(&self) -> &'a TraceArray {
        self.tr
    }

    /// The same once more, for a path that is rarely taken: what is handed on by reference has to lie
    /// in memory, and the usual path does not pay for that.
    #[inline]
    pub fn again(&self) -> Self {
        // INVARIANT: As that of `self`.
        Self {
            ip: self.ip,
            parent_ip: self.parent_ip,
            fregs: self.fregs,
            tr: self.tr,
            context: self.context,
        }
    }

    /// Where the function will return to. If a graph tracer has put itself in that place, what it
    /// has replaced.
    #[inline]
    pub fn parent_ip(&self) -> usize {
        if self.parent_ip != Data::ReturnToHandler.address() {
            return self.parent_ip;
        }
        true_parent_ip(self.parent_ip, self.fregs)
    }

    /// Argument number `n`, as the register holds it; 0 if `n` is not below [`MAX_ARGS`].
    #[inline]
    pub fn argument(&self, n: usize) -> usize {
        // SAFETY: Reads from the registers, which are valid by the invariant.
        unsafe { ktrace_argument(self.fregs, n as c_uint) as usize }
    }
}

/// Where a call will return to, if a graph tracer has put `parent_ip` in that place; for the one that
/// `fregs` is about.
#[cold]
fn true_parent_ip(parent_ip: usize, fregs: *mut c_void) -> usize {
    let mut index = 0;
    // SAFETY: Walks the shadow stack of the current task for the entry that belongs to this place
    // on its stack, as the kernel's own function tracer does in this situation; `fregs` is what
    // ftrace passed, as the caller has it from a `Call`.
    unsafe {
        ktrace_call_ftrace_graph_ret_addr(
            ktrace_current(),
            &mut index,
            parent_ip as c_ulong,
            ktrace_stack_pointer(fregs) as *mut c_ulong,
        ) as usize
    }
}

/// What an entry function finds under its number.
#[doc(hidden)]
pub struct Slot<F> {
    hook: AtomicPtr<F>,
    tr: AtomicPtr<abi::trace_array>,
}

impl<F> Slot<F> {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self {
            hook: AtomicPtr::null(),
            tr: AtomicPtr::null(),
        }
    }
}

/// Made by [`bind_function_hook!`].
///
/// # Safety
///
/// `slots()` must return the same static each time, which nobody but [`Hook`] writes.
pub unsafe trait Bound: FunctionHook {
    #[doc(hidden)]
    fn slots() -> &'static [Slot<Self>; gate::SLOTS as usize];
}

enum Ops {
    /// The hook's own, for the top trace array.
    Own(KBox<abi::ftrace_ops>),
    /// That of an instance, and the callback that it had before.
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
/// Until drop: slot `slot` holds a pointer to what `state` refers to and to the trace array, which
/// is kept alive by the contract of [`Hook::new`]; `ops` is registered with ftrace if `is_registered`.
pub struct Hook<F: Bound> {
    slot: u32,
    ops: Ops,
    state: Arc<F>,
    is_registered: bool,
}

// SAFETY: Owns an `ftrace_ops`, or has the use of the trace array's, which belong to no thread.
unsafe impl<F: Bound> Send for Hook<F> {}

impl<F: Bound> Hook<F> {
    /// Hooks the functions that the trace array's filter selects. `state` is called for tasks whose
    /// bit `slot` is set in the gate. May sleep.
    ///
    /// For [`super::tracer::Tracer::init`], which is given `tr` and must drop the hook in `reset`:
    /// as long as the tracer is current, the trace array cannot go away.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range, `EBUSY` if it is taken; those of
    /// `register_ftrace_function()`.
    pub fn new(_: Resolved, tr: &TraceArray, slot: u32, state: Arc<F>) -> Result<Self> {
        let entry = F::slots().get(slot as usize).ok_or(EINVAL)?;
        if !entry.hook.load(Acquire).is_null() {
            return Err(EBUSY);
        }
        // SAFETY: Looks up a table; the slot is in range.
        let func = unsafe { ktrace_slot_function(slot) };
        let mut ops = Self::prepare(tr, func)?;
        entry.tr.store(tr.as_ptr(), Release);
        entry.hook.store(Arc::as_ptr(&state).cast_mut(), Release);
        // SAFETY: A prepared `ftrace_ops` that stays where it is until it is unregistered. The
        // callback finds its state in the slot, which was filled before.
        let registered = to_result(unsafe { register_ftrace_function(ops.as_ptr()) });
        // INVARIANT: Established above, if registering succeeded.
        let this = Self {
            slot,
            ops,
            state,
            is_registered: registered.is_ok(),
        };
        registered.map(|()| this)
    }

    /// Lets functions take the shortest way into packs, as long as the hook is there; or none of them
    /// any more. The packer must be that of the hook's own state.
    pub fn pack_with(&self, packer: impl FnOnce(&F) -> Option<&Packer>) {
        Packer::bind(self.slot, packer(&self.state));
    }

    fn prepare(tr: &TraceArray, func: Func) -> Result<Ops> {
        if tr.is_top() {
            let mut ops = KBox::new(pin_init::zeroed::<abi::ftrace_ops>(), GFP_KERNEL)?;
            ops.func = func;
            ops.private = tr.as_ptr().cast();
            ops.flags = abi::FTRACE_OPS_FL_PID as c_ulong;
            // SAFETY: A fresh `ftrace_ops`, all zero but for what was just set.
            unsafe { ftrace_ops_set_global_filter(&mut *ops) };
            return Ok(Ops::Own(ops));
        }
        // SAFETY: The trace array is alive, and its `ops` is made with it and goes with it.
        let ops = unsafe { (*tr.as_ptr()).ops };
        // SAFETY: As above. The ops is not registered: the tracer that is current registers it, no
        // other is current while this one is being made so, and `trace_types_lock` is held.
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

    /// Whether ftrace may call the hook, though it could not be registered, or not be unregistered: it has died of an
    /// error of its own, which it finds as it changes functions, some of which are left as they were.
    fn is_stuck(&mut self) -> bool {
        // SAFETY: The hook's own, or that of an instance that is alive. Cleared by who registers it in vain, and by
        // who unregisters it, if that has come to anything (`ftrace_startup()`, `ftrace_shutdown()`).
        let flags = unsafe { addr_of_mut!((*self.ops.as_ptr()).flags).read() };
        flags & abi::FTRACE_OPS_FL_ENABLED as c_ulong != 0
    }

    /// Leaves everything as it is that a function may still lead to, and the module where it is, for good, but calls
    /// the hook no more.
    fn abandon(&mut self) {
        pr_err!("ftrace has died, and may call this module for good: it cannot be unloaded\n");
        // SAFETY: In a call of this module.
        unsafe { bindings::__module_get(this_module()) };
        Packer::bind(self.slot, None);
        if let Some(entry) = F::slots().get(self.slot as usize) {
            entry.hook.store(core::ptr::null_mut(), Release);
            // SAFETY: Alive as long as the hook is. Hooks are made and dropped with the lock held.
            unsafe { TraceArray::from_raw(entry.tr.load(Acquire)).keep_for_good() };
        }
        let ops = core::mem::replace(&mut self.ops, Ops::OfInstance(core::ptr::null_mut(), None));
        core::mem::forget(ops);
        core::mem::forget(Arc::clone(&self.state));
    }

    /// Undoes `prepare()` and empties the slot. The ops must not be registered.
    fn dismantle(&mut self) {
        if let Ops::OfInstance(ops, before) = self.ops {
            // SAFETY: The instance is alive and its ops not registered, so nobody reads it.
            unsafe { addr_of_mut!((*ops).func).write(before) };
        }
        Packer::bind(self.slot, None);
        if let Some(entry) = F::slots().get(self.slot as usize) {
            // Not the trace array: who has found the hook looks for that next.
            entry.hook.store(core::ptr::null_mut(), Release);
        }
    }
}

impl<F: Bound> Drop for Hook<F> {
    fn drop(&mut self) {
        if !self.is_registered {
            if self.is_stuck() {
                return self.abandon();
            }
            self.dismantle();
            // The ops may have been on ftrace's list for a moment.
            fgraph::synchronize();
            task::synchronize_tasks();
            return;
        }
        // SAFETY: Registered, as was just asked. The memory of the ops is not the kernel's own, so
        // ftrace takes it for dynamic and waits until no callback runs any more, one that was
        // preempted included (`ftrace_shutdown()`).
        let result = to_result(unsafe { unregister_ftrace_function(self.ops.as_ptr()) });
        if result.is_err() && self.is_stuck() {
            return self.abandon();
        }
        self.dismantle();
    }
}

/// The hook in a slot, with its trace array.
///
/// # Safety
///
/// Only for callbacks of ftrace, and until they return.
#[inline]
unsafe fn hook_of<'a, F: Bound>(slot: u32) -> Option<(&'a F, &'a TraceArray)> {
    let entry = F::slots().get(slot as usize)?;
    // SAFETY: Null, or the state of a hook that is registered, by the invariant of `Hook`; it is
    // not freed before ftrace has seen this callback return.
    let hook = unsafe { entry.hook.read_once().as_ref() }?;
    // SAFETY: As for the hook: alive as long as it is registered.
    Some((hook, unsafe { TraceArray::from_raw(entry.tr.read_once()) }))
}

/// # Safety
///
/// For `ftrace_ops.c`: in a callback of ftrace, with what that was given, under the guard against
/// recursion.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch<F: Bound>(
    slot: u32,
    ip: usize,
    parent_ip: usize,
    fregs: *mut c_void,
    context: Context,
) {
    // SAFETY: By the precondition.
    if let Some((hook, tr)) = unsafe { hook_of::<F>(slot) } {
        // INVARIANT: `fregs` is passed on as it came, and the guard is held, by the precondition.
        hook.called(&Call {
            ip,
            parent_ip,
            fregs,
            tr,
            context,
        });
    }
}

/// # Safety
///
/// For `ftrace_ops.c`: in a callback of ftrace.
#[doc(hidden)]
pub unsafe fn dispatch_recursed<F: Bound>(slot: u32) {
    // SAFETY: By the precondition.
    if let Some((hook, _)) = unsafe { hook_of::<F>(slot) } {
        hook.recursed();
    }
}

/// Names the one type whose [`FunctionHook`] the entry functions call.
#[macro_export]
macro_rules! bind_function_hook {
    ($hook:ty) => {
        const _: () = {
            use $crate::ktrace::ftrace_ops;

            static SLOTS: [ftrace_ops::Slot<$hook>; $crate::ktrace::gate::SLOTS as usize] =
                [const { ftrace_ops::Slot::new() }; $crate::ktrace::gate::SLOTS as usize];

            // SAFETY: One static, which is not visible outside this block.
            unsafe impl ftrace_ops::Bound for $hook {
                fn slots(
                ) -> &'static [ftrace_ops::Slot<Self>; $crate::ktrace::gate::SLOTS as usize] {
                    &SLOTS
                }
            }

            /// # Safety
            ///
            /// For `ftrace_ops.c`: as [`ftrace_ops::dispatch`] asks.
            #[no_mangle]
            unsafe extern "C" fn ktrace_function_hit(
                slot: ::kernel::ffi::c_uint,
                ip: ::kernel::ffi::c_ulong,
                parent_ip: ::kernel::ffi::c_ulong,
                fregs: *mut ::kernel::ffi::c_void,
                packed: ::kernel::ffi::c_uint,
                pid: ::kernel::ffi::c_int,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    ftrace_ops::dispatch::<$hook>(
                        slot,
                        ip as usize,
                        parent_ip as usize,
                        fregs,
                        $crate::ktrace::records::Context::new(packed, pid),
                    )
                };
            }

            /// # Safety
            ///
            /// For `ftrace_ops.c`: in a callback of ftrace.
            #[no_mangle]
            unsafe extern "C" fn ktrace_function_recursed(slot: ::kernel::ffi::c_uint) {
                // SAFETY: By the precondition.
                unsafe { ftrace_ops::dispatch_recursed::<$hook>(slot) };
            }
        };
    };
}
pub use bind_function_hook;
