// SPDX-License-Identifier: GPL-2.0

//! Hooks on calls and returns, for a tracer that is current in a trace array.
//!
//! C headers: `include/linux/ftrace.h` (`struct fgraph_ops`), `kernel/trace/trace.h`.
//!
//! Which functions are hooked is for the user to say, in the trace array's own files, as in
//! [`super::ftrace_ops`]; the kernel applies them, and `set_ftrace_pid`, by itself.
//! `set_graph_function`, `set_graph_notrace` and `max_graph_depth` are asked here.
//!
//! # Frames
//!
//! The kernel keeps a shadow stack for each task: a frame for each open call that anybody traces,
//! interrupts on top of the task included. A hook may keep a frame of its own with a call
//! ([`Call::keep`]), and finds it again when the call returns, on whatever CPU and however late. The
//! frames of the callers are within reach all the while.
//!
//! A hook that is gone leaves its frames behind on the stacks of tasks that sleep. The kernel calls
//! nobody for them, unless another hook has come to the same place (`fgraph_ops::idx`), so each
//! frame carries a tag of the hook that made it. Its return takes the tag away, so that what is left
//! of a frame below a place that is taken anew is nobody's.
//!
//! # Time
//!
//! A frame says when its call began by a counter of the CPU, which is good for as long as the call
//! stays there and costs a fraction of the clock. When its task is about to lose the CPU, the hook
//! is told ([`GraphHook::leaves`]) and may note in the frames of all open calls what it needs of
//! them later; from then on they are timed by the clock ([`FrameRef::note`]). Most calls are over
//! before that.
//!
//! # The usual way
//!
//! Most calls need nothing else before they return, and most returns find the frame on top of the
//! shadow stack. Both are done in `fgraph.c`, inlined into the kernel's callbacks, by what
//! [`GraphHook::usual`] says; whatever is not as it says comes here. The C side asks for no less than the
//! Rust side does, so that a call which took the one way may return by the other.
//!
//! Where the kernel has put a frame and the task's word, it learns from the kernel's own functions, from the
//! first call that comes here. What lies on top of the shadow stack tells what it is, and whose, and is
//! compared each time. From then on it reserves frames itself, as `fgraph_reserve_data()` does, where the shadow
//! stack ends in the very word that it ended in before that function was called, and leaves it in the word that
//! it was left in; wherever it ends in another, or is nearly full, the kernel's function is called.
//!
//! # Context
//!
//! Callbacks come in any context, NMI too, with preemption off and under the kernel's own guard
//! against recursion (`function_graph_enter_regs()`, `__ftrace_return_to_handler()`). An interrupt
//! that is traced works on the same shadow stack, but leaves it as it was.

mod bind;
mod frame;
mod hook;
mod open;
mod settings;
mod tag;
mod timer;
mod usual;

pub use bind::{
    bind_graph_hook,
    dispatch_add,
    dispatch_began,
    dispatch_call,
    dispatch_full,
    dispatch_return, //
};
pub use frame::FrameRef;
pub use hook::{
    current_ends,
    current_interposes,
    current_leaves,
    for_each_hook,
    synchronize,
    Bound,
    Hook,
    Hooks, //
};
pub use open::{
    Call,
    Caller,
    Open,
    Return,
    TaskWord, //
};
pub use settings::{
    copy_graph_functions,
    drop_graph_functions,
    has_graph_functions,
    in_graph_function,
    in_graph_notrace,
    in_hardirq,
    max_graph_depth,
    tracing_thresh_ns, //
};
pub use tag::SHORT_BITS as SHORT_TAG_BITS;
pub use timer::{
    clock_ns,
    Both,
    Moment, //
};
pub use usual::{
    Usual,
    When, //
};

use crate::ktrace::records::Context;

/// What is done when a hooked function is called and when it returns.
pub trait GraphHook: Send + Sync + Sized + 'static {
    /// A function is called by a task that the gate lets through. True if its return is to be
    /// told too. Any context; may not sleep, allocate, print or take a lock.
    fn called(&self, call: &Call<'_>) -> bool;

    /// A call returns whose beginning this has returned true for. As above.
    fn returned(&self, ret: &Return<'_>);

    /// Which calls take the shortest way, if any do, of those that the hook with this tag sees.
    fn usual(&self, _tag: u32) -> Option<Usual<'_>> {
        None
    }

    /// A call begins that takes the shortest way, and its entry is to be written now; `frame` is kept for it. True if
    /// that was done; false drops the call and its frame, and its return is not reported. Context as for
    /// [`GraphHook::called`].
    fn began(&self, _call: &Call<'_>, _frame: FrameRef<'_>) -> bool {
        false
    }

    /// A call returns that took the shortest way, after so many ns, and did not lose the CPU, which is
    /// `cpu`; [`Usual::adds_up`] is set. Context as for [`GraphHook::returned`], here and below.
    fn added(&self, _cpu: usize, _func: usize, _total_ns: u64) {}

    /// Such a call returns, its return is to be written, and its entry, if that is not `written`; those of its callers are.
    fn ended(&self, _ret: &Return<'_>, _total_ns: u64, _written: bool) {}

    /// Such a call returns whose entry is not written, nor need those of its callers be. It takes as long as
    /// [`Usual::least_ns`], if there is a limit.
    fn late(&self, _ret: &Return<'_>, _total_ns: u64) {}

    /// A call that takes the shortest way finds the shadow stack full. As above.
    fn stack_full(&self) {}

    /// The current task is about to lose its CPU. With interrupts off.
    fn leaves(&self, task: &Open<'_>);

    /// A record that is no event is about to be written in the current task, in that context ([`super::markers`]).
    /// Context as for [`GraphHook::called`].
    fn interposed(&self, task: &Open<'_>, context: Context);

    /// The current task is about to end, and will not return from the calls that are open.
    fn ends(&self, task: &Open<'_>);
}
