// SPDX-License-Identifier: GPL-2.0

//! Hooks on calls and returns, for a tracer that is current in a trace array.
//!
//! C headers: `include/linux/ftrace.h` (`struct fgraph_ops`), `kernel/trace/trace.h`.
//!
//! The user selects the functions in the trace array's own files, as in
//! [`super::hook::ftrace_ops`]. The kernel itself applies these files and `set_ftrace_pid`. This
//! module reads `set_graph_function`, `set_graph_notrace` and `max_graph_depth`.
//!
//! # Frames
//!
//! The kernel has a shadow stack for each task, with a frame for each open call that is traced,
//! including calls of interrupts on top of the task. A hook may add its own frame to a call
//! ([`CurrentCall::reserve_frame`]), and finds it again when the call returns, on any CPU and at
//! any time. Until then, the frames of the callers are accessible too.
//!
//! When a hook is removed, its frames remain on the stacks of sleeping tasks. The kernel calls no
//! hook for them, unless another hook has got the same index (`fgraph_ops::idx`). So each frame has
//! a tag of its hook. The return of the call removes the tag, so that old data in newly reserved
//! space is not taken for a frame.
//!
//! # Time
//!
//! The start time of a call in its frame is a value of the CPU's counter, which is valid as long as
//! the call stays on the CPU, and much cheaper to read than the clock. Before its task loses the
//! CPU, the hook is called ([`GraphHook::sched_out`]) and may save in the frames of all open calls
//! what it needs later; from then on these calls are timed by the clock
//! ([`FrameRef::save_off_cpu`]). Most calls return before that.
//!
//! # Fast path
//!
//! Most calls need only a frame before they return, and most returns find the frame on top of the
//! shadow stack. Both are handled in `fgraph.c`, inlined into the kernel's callbacks, under the
//! conditions of [`GraphHook::fast_path`]. All other calls and returns are handled here, on the
//! slow path. The conditions in C are at least as strict as those in Rust, so a call on one path
//! may return on the other.
//!
//! The C side learns from the kernel's own functions where the kernel has put a frame and the task
//! data word, at the first call that takes the slow path. The word on top of the shadow stack has
//! the type and the owner of the data below it, and is compared each time. From then on, the C side
//! itself reserves frames, as `fgraph_reserve_data()` does, if the shadow stack ends in the same
//! word as before that function was called, and leaves the word there that the function left. If it
//! ends in another word, or is nearly full, the kernel's function is called.
//!
//! # Context
//!
//! Callbacks run in any context, NMI included, with preemption off and under the kernel's recursion
//! guard (`function_graph_enter_regs()`, `__ftrace_return_to_handler()`). A traced interrupt uses
//! the same shadow stack, but restores it.

mod active_calls;
mod bind;
mod call_watch;
mod clock;
mod current_call;
mod fast_path;
mod frame;
mod graph_hook;
mod hook;
mod markers;
mod settings;
mod tag;
mod task_word;

pub use active_calls::{
    Caller,
    Open, //
};
pub use bind::{
    bind_graph_hook,
    dispatch_add,
    dispatch_call,
    dispatch_fast_entry,
    dispatch_return, //
};
pub use call_watch::{
    BegunCall,
    CallWatch,
    CallWatcher, //
};
pub use clock::{
    ClockPair,
    CounterTime, //
};
pub use current_call::{
    CurrentCall,
    Return, //
};
pub use fast_path::{
    FastPathConfig,
    When, //
};
pub use frame::FrameRef;
pub use graph_hook::GraphHook;
pub use hook::{
    before_record,
    current_ends,
    current_leaves,
    for_each_hook,
    BoundGraphHook,
    GraphRegistration,
    Hooks, //
};
pub use markers::MarkerWatch;
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
pub use task_word::TaskWord;
