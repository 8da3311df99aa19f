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
//! compared each time.
//!
//! # Context
//!
//! Callbacks come in any context, NMI too, with preemption off and under the kernel's own guard
//! against recursion (`function_graph_enter_regs()`, `__ftrace_return_to_handler()`). An interrupt
//! that is traced works on the same shadow stack, but leaves it as it was.

use core::{
    mem::size_of,
    ops::Deref,
    ptr::{
        addr_of_mut,
        null,
        null_mut,
        NonNull, //
    },
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
    abi,
    compact::{
        counter,
        packer::Packer,
        word::MULT_SHIFT, //
    },
    ftrace_ops::MAX_ARGS,
    gate,
    once::Once,
    records::Context,
    symbols::{
        Data,
        Resolved, //
    },
    task::Task,
    trace_array::TraceArray, //
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_graph_init(graph: *mut Shared);
    fn ktrace_graph_learn(graph: *mut Shared, frame: *mut c_void, word: *mut c_ulong);
    fn ktrace_graph_synchronize();
    fn ktrace_return_value(fregs: *mut c_void) -> c_ulong;
    fn ktrace_in_hardirq() -> bool;
    fn ktrace_preempt_disable();
    fn ktrace_preempt_enable();
    fn ktrace_context() -> c_uint;
    fn ktrace_counter_mult() -> u32;
    fn ktrace_current() -> *mut kernel::bindings::task_struct;
    fn ktrace_argument(fregs: *mut c_void, n: c_uint) -> c_ulong;
    fn ktrace_call_sched_clock_noinstr() -> u64;
    fn ktrace_call_register_ftrace_graph(ops: *mut abi::fgraph_ops) -> c_int;
    fn ktrace_call_unregister_ftrace_graph(ops: *mut abi::fgraph_ops);
    fn ktrace_call_fgraph_init_ops(ops: *mut abi::ftrace_ops, from: *mut abi::ftrace_ops);
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
    fn ktrace_call_ftrace_lookup_ip(hash: *mut abi::ftrace_hash, ip: c_ulong) -> *mut c_void;
}

/// The clock that the call graph's times are of, in ns: that of `trace_clock_local()`, less its care for
/// preemption. For callbacks; any context.
#[inline]
pub fn clock_ns() -> u64 {
    // SAFETY: Reads this CPU's clock, which takes preemption to be off, as it is in callbacks.
    unsafe { ktrace_call_sched_clock_noinstr() }
}

/// What calls are timed by as long as they keep their CPU: a counter that costs little to read, or the clock
/// where there is none to be relied on.
///
/// A counter goes on, or begins anew, while the machine is suspended, which a task that runs does not live to
/// see: of a call that loses its CPU, the hook notes the clock's time then ([`FrameRef::note`]).
struct Timer {
    /// How many ns a count is, times 2^[`MULT_SHIFT`]; zero before the first hook.
    mult: Atomic<u32>,
    is_clock: Atomic<bool>,
}

static TIMER: Timer = Timer {
    mult: Atomic::new(1 << MULT_SHIFT),
    is_clock: Atomic::new(true),
};

impl Timer {
    /// Finds out which it is. The answer changes if the kernel gives the counter up, between hooks.
    fn choose(&self) {
        // SAFETY: Looks at what the kernel has found out.
        let mult = unsafe { ktrace_counter_mult() };
        self.is_clock.write_once(mult == 0);
        self.mult.write_once(match mult {
            0 => 1 << MULT_SHIFT,
            mult => mult,
        });
    }

    /// How many ns a count is, in the same unit; zero if it is not the counter.
    fn counter_mult(&self) -> u32 {
        match self.is_clock.read_once() {
            true => 0,
            false => self.mult.read_once(),
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        match self.is_clock.read_once() {
            true => clock_ns(),
            false => counter::read(),
        }
    }

    #[inline]
    fn ns(&self, counts: u64) -> u64 {
        let mult = u128::from(self.mult.read_once());
        (u128::from(counts).wrapping_mul(mult) >> MULT_SHIFT) as u64
    }
}

/// A point in time, by what times calls.
#[derive(Clone, Copy)]
pub struct Moment(u64);

impl Moment {
    /// Now. For callbacks; any context.
    #[inline]
    pub fn now() -> Self {
        Self(TIMER.now())
    }
}

/// Room for bits that a hook may set in a frame later, [`FrameRef::set`]: the lowest so many.
const FLAG_BITS: u32 = 8;

/// Of a frame's time: it is the clock's, and what goes with it is noted.
const NOTED: u64 = 1 << 63;

/// A frame as it lies on the shadow stack.
#[repr(C)]
struct Stored {
    /// When the call began: a [`Moment`], or [`NOTED`] and ns of [`clock_ns`].
    begun: Atomic<u64>,
    /// What is noted.
    words: [Atomic<u64>; 2],
    /// What was kept.
    half: u32,
    /// The tag of the hook, and the flags below it.
    tag_flags: Atomic<u32>,
}

/// The frame of an open call.
///
/// # Invariants
///
/// Points to a `Stored` on the shadow stack of the current task, of a call that has not returned.
/// Interrupts on top of the task may set flags, and nothing else.
#[derive(Clone, Copy)]
pub struct FrameRef<'a>(&'a Stored);

impl FrameRef<'_> {
    /// What was kept.
    #[inline]
    pub fn kept(&self) -> u32 {
        self.0.half
    }

    /// How long the call has taken, in ns, if nothing was noted.
    #[inline]
    pub fn unnoted_ns(&self, now: Moment) -> Option<u64> {
        let begun = self.0.begun.read_once();
        (begun & NOTED == 0).then(|| TIMER.ns(now.0.saturating_sub(begun)))
    }

    /// How long it has taken, in ns, noted or not.
    pub fn elapsed_ns(&self) -> u64 {
        match self.unnoted_ns(Moment::now()) {
            Some(ns) => ns,
            None => clock_ns().saturating_sub(self.0.begun.read_once() & !NOTED),
        }
    }

    /// Whether something is noted.
    #[inline]
    pub fn is_noted(&self) -> bool {
        self.0.begun.read_once() & NOTED != 0
    }

    /// What is noted, if anything is.
    pub fn noted(&self) -> Option<[u64; 2]> {
        let [one, other] = &self.0.words;
        self.is_noted()
            .then(|| [one.read_once(), other.read_once()])
    }

    /// Notes two words, and by the clock when the call began. To be called while the task has not lost its CPU
    /// since the call began, by the task itself with interrupts off.
    pub fn note(&self, words: [u64; 2]) {
        let Some(ns) = self.unnoted_ns(Moment::now()) else {
            return;
        };
        for (place, word) in self.0.words.iter().zip(words) {
            place.write_once(word);
        }
        // An NMI finds the one or the other.
        self.0
            .begun
            .write_once(clock_ns().saturating_sub(ns) | NOTED);
    }

    /// Whether that flag is set.
    #[inline]
    pub fn is_set(&self, flag: u32) -> bool {
        self.0.tag_flags.read_once() & flag != 0
    }

    /// Sets a flag, one of the lowest eight bits. True if it was not set: nobody else is told so.
    #[inline]
    pub fn set(&self, flag: u32) -> bool {
        let flag = flag & ((1 << FLAG_BITS) - 1);
        let mut old = self.0.tag_flags.read_once();
        while old & flag == 0 {
            match self.0.tag_flags.cmpxchg(old, old | flag, Relaxed) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
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

    /// A call returns that took the shortest way, after so many ns, and did not lose the CPU, which is
    /// `cpu`; [`Usual::adds_up`] is set. As above.
    fn added(&self, _cpu: usize, _func: usize, _total_ns: u64) {}

    /// The same where it is not; there is a limit ([`Usual::least_ns`]), which it reaches, or its beginning is
    /// written.
    fn long(&self, _ret: &Return<'_>, _total_ns: u64, _written: bool) {}

    /// The same where there is no limit.
    fn ended(&self, _ret: &Return<'_>, _total_ns: u64, _written: bool) {}

    /// The same where its beginning is not written, and [`Usual::unwritten`] was not set: nobody knows whether
    /// those of its callers are.
    fn doubted(&self, _ret: &Return<'_>, _total_ns: u64) {}

    /// A call that takes the shortest way finds the shadow stack full. As above.
    fn stack_full(&self) {}

    /// The current task is about to lose its CPU. With interrupts off.
    fn leaves(&self, task: &Open<'_>);

    /// The current task is about to end, and will not return from the calls that are open.
    fn ends(&self, task: &Open<'_>);
}

/// Which calls need nothing but to be timed, before they return: what [`GraphHook::called`] would do for
/// them is to keep a frame with the number of the task's switches, no flags, and to set bits of the task's
/// word. These take the shortest way, which is in C, inlined into the hook; `fgraph.c` says what it looks at.
/// What is referred to is read at each call.
///
/// The upper half of the task's word is how many calls have found the shadow stack full; a return that
/// finds it different does not take that way.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// Bits of the task's word that tell whether something is special.
    pub special: usize,
    /// How these are set when nothing is.
    pub settled: usize,
    /// Bits that such a call sets.
    pub opens: usize,
    /// The one of these that says that there may be callers to be written: if it is set, and there is no
    /// threshold, the call is not a usual one; nor is the return, if it is not. It is cleared when something
    /// was written.
    pub unwritten: usize,
    /// The flag of a frame that says that its beginning is written.
    pub written: u32,
    /// Calls that are less deep than this, as far as the hook is concerned.
    pub below: &'a Atomic<u32>,
    /// What is shorter, in ns, is not written, nor told; 0 is no limit.
    pub least_ns: &'a Atomic<u64>,
    /// All is told, however short, and callers do not matter.
    pub adds_up: bool,
}

/// The same for C; `struct ktrace_usual` in `fgraph.h`.
#[repr(C)]
struct UsualPointers {
    special: usize,
    opens: usize,
    unwritten: usize,
    below: *const Atomic<u32>,
    least_ns: *const Atomic<u64>,
    written: u32,
    adds_up: u32,
}

impl UsualPointers {
    const NONE: Self = Self {
        special: 0,
        opens: 0,
        unwritten: 0,
        below: null(),
        least_ns: null(),
        written: 0,
        adds_up: 0,
    };

    fn new(usual: &Usual<'_>) -> Self {
        Self {
            special: usual.special,
            opens: usual.opens,
            unwritten: usual.unwritten,
            below: usual.below,
            least_ns: usual.least_ns,
            written: usual.written,
            adds_up: u32::from(usual.adds_up),
        }
    }
}

/// What no word of a task is like.
const UNSETTLED: usize = usize::MAX;

/// What the C side shares with this; `struct ktrace_graph` in `fgraph.h`.
#[repr(C)]
struct Shared {
    ops: abi::fgraph_ops,
    usual: UsualPointers,
    graph_hash: *const c_void,
    graph_notrace_hash: *const c_void,
    max_depth: *const c_void,
    settles: usize,
    settled: usize,
    word_at: usize,
    top: usize,
    packs: Atomic<*mut c_void>,
    bit: u32,
    tag_flags: u32,
    mult: u32,
}

/// A hook where the callbacks find it.
#[doc(hidden)]
#[repr(C)]
pub struct Inner<G> {
    // First, so that the one can be found from the other.
    shared: Shared,
    tag: u32,
    tr: *mut abi::trace_array,
    state: Arc<G>,
}

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
    fn learn(&self, stored: *mut Stored) {
        let shared = self.shared.as_ptr();
        // SAFETY: Alive, by the invariant. What others may write meanwhile is read as a whole, and written in
        // C, which the frame of a call that just begins and the word of the current task are for.
        unsafe {
            if (&raw const (*shared).settled).read_volatile() == UNSETTLED {
                let word = ktrace_call_fgraph_get_task_var(self.ops().0);
                ktrace_graph_learn(shared, stored.cast(), word);
            }
        }
    }

    /// The trace array that the hook serves.
    #[inline]
    pub fn tr(&self) -> &'a TraceArray {
        self.tr
    }

    /// A number that tells the hook from others that were there before it, but for one in 2^24.
    #[inline]
    pub fn tag(&self) -> u32 {
        self.tag
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
        let stored = NonNull::new(data.cast::<Stored>())?;
        if (size as usize) < size_of::<Stored>() {
            return None;
        }
        // SAFETY: Data of this place in the kernel's table, of that size and aligned to words; it
        // stays until the call returns, which is after this.
        let stored = unsafe { stored.as_ref() };
        // INVARIANT: As just said.
        (stored.tag_flags.read_once() >> FLAG_BITS == self.tag).then_some(FrameRef(stored))
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

    /// A word of the current task that belongs to this hook. Before it is first set it is zero, or
    /// what another hook has left there: see [`Open::tag`].
    #[inline]
    pub fn task_word(&self) -> TaskWord<'_> {
        // SAFETY: The current task has a shadow stack, where the kernel keeps a word for each hook.
        let word = unsafe { ktrace_call_fgraph_get_task_var(self.ops().0) };
        // SAFETY: As above; as long as the shadow stack, which a task keeps until it ends. Only the
        // task itself, and interrupts on top of it, come to it.
        TaskWord(unsafe { &*word.cast::<Atomic<usize>>() })
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

/// See [`Open::task_word`].
pub struct TaskWord<'a>(&'a Atomic<usize>);

impl TaskWord<'_> {
    /// Its value.
    #[inline]
    pub fn get(&self) -> usize {
        self.0.read_once()
    }

    /// Sets it. An interrupt that comes in between a [`TaskWord::get`] and this leaves the word as
    /// it finds it, or its change is lost.
    #[inline]
    pub fn set(&self, value: usize) {
        self.0.write_once(value);
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

impl Call<'_> {
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
        let stored = NonNull::new(data.cast::<Stored>())?.as_ptr();
        self.open.learn(stored);
        let flags = flags & ((1 << FLAG_BITS) - 1);
        // SAFETY: As many bytes as were asked for, aligned to words, that nobody else looks at
        // before the callback has returned but an interrupt, through `kept()`, which looks at the
        // tag first. The words that are not written are atomics, for which any bits will do, and are not
        // read before they are.
        unsafe {
            (&raw mut (*stored).half).write(half);
            (&raw mut (*stored).begun).write(Atomic::new(TIMER.now()));
            (&raw mut (*stored).tag_flags).write(Atomic::new(self.open.tag << FLAG_BITS | flags));
            // INVARIANT: Just made.
            Some(FrameRef(&*stored))
        }
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

impl Return<'_> {
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
        let flags = frame.0.tag_flags.read_once() & ((1 << FLAG_BITS) - 1);
        frame.0.tag_flags.write_once(flags);
        Some(frame)
    }

    /// What the function returns, as the register holds it.
    #[inline]
    pub fn value(&self) -> usize {
        // SAFETY: What ftrace passed, by the invariant, or null.
        unsafe { ktrace_return_value(self.fregs) as usize }
    }
}

/// Whether `func` is in a hash that the kernel's files fill. `None` if that is empty.
#[inline]
fn is_in(hash: Data, func: usize) -> Option<bool> {
    let place: *const *mut abi::ftrace_hash = hash.as_ptr::<*mut abi::ftrace_hash>();
    // SAFETY: The kernel's variable of that name, which always points to a hash. One that was
    // replaced is not freed before all who have preemption off are through (`ftrace.c`), as the
    // callers of this have.
    unsafe {
        let hash = place.read_volatile();
        if (*hash).count == 0 {
            return None;
        }
        Some(!ktrace_call_ftrace_lookup_ip(hash, func as c_ulong).is_null())
    }
}

/// Whether `func` is in `set_graph_function`; `None` if nothing is. For callbacks.
#[inline]
pub fn in_graph_function(func: usize) -> Option<bool> {
    is_in(Data::GraphHash, func)
}

/// Whether `func` is in `set_graph_notrace`. For callbacks.
#[inline]
pub fn in_graph_notrace(func: usize) -> bool {
    is_in(Data::GraphNotraceHash, func).unwrap_or(false)
}

/// `max_graph_depth`; 0 is no limit.
#[inline]
pub fn max_graph_depth() -> u32 {
    // SAFETY: The kernel's variable of that name.
    unsafe { Data::GraphMaxDepth.as_ptr::<u32>().read_volatile() }
}

/// `tracing_thresh`, in ns; 0 is none.
#[inline]
pub fn tracing_thresh_ns() -> u64 {
    // SAFETY: The kernel's variable of that name.
    unsafe { Data::TracingThresh.as_ptr::<c_ulong>().read_volatile() as u64 }
}

/// Whether this is a hardware interrupt.
#[inline]
pub fn in_hardirq() -> bool {
    // SAFETY: Looks at this CPU's own count.
    unsafe { ktrace_in_hardirq() }
}

/// What the tags of hooks are counted by.
static NEXT_TAG: Atomic<u32> = Atomic::new(1);

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

/// Made by [`bind_graph_hook!`].
///
/// # Safety
///
/// The C side's callbacks must lead to [`dispatch_call`] and [`dispatch_return`] of this type, and
/// `hooks()` must return the same static each time, which nobody but [`Hook`] writes.
pub unsafe trait Bound: GraphHook {
    #[doc(hidden)]
    fn hooks() -> &'static Hooks<Self>;
}

/// The hooks there are, by their slots.
pub type Hooks<G> = [Atomic<*mut Inner<G>>; gate::SLOTS as usize];

impl<G: Bound> Hook<G> {
    /// Hooks the functions that the trace array's filter selects. `state` is called for tasks whose
    /// bit `slot` is set in the gate. May sleep.
    ///
    /// For [`super::tracer::Tracer::init`], which is given `tr` and must drop the hook in `reset`:
    /// as long as the tracer is current, the trace array cannot go away.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the slot is out of range; `ENOMEM`; those of `register_ftrace_graph()`: `ENOSPC`
    /// if there are 16 users already.
    pub fn new(_: Resolved, tr: &TraceArray, slot: u32, state: Arc<G>) -> Result<Self> {
        let place = G::hooks().get(slot as usize).ok_or(EINVAL)?;
        if HOOKED.read_once() == 0 {
            // Of a hook that is gone nobody reads a frame any more.
            TIMER.choose();
        }
        // SAFETY: The trace array is alive, and its `ops` is made with it and goes with it.
        let filter = unsafe { (*tr.as_ptr()).ops };
        if filter.is_null() {
            return Err(ENOMEM);
        }
        let tag = NEXT_TAG.fetch_add(1, Relaxed) & (u32::MAX >> FLAG_BITS);
        let usual = state.usual(tag);
        let shared = Shared {
            ops: abi::fgraph_ops::default(),
            graph_hash: Data::GraphHash.as_ptr::<c_void>(),
            graph_notrace_hash: Data::GraphNotraceHash.as_ptr::<c_void>(),
            max_depth: Data::GraphMaxDepth.as_ptr::<c_void>(),
            settles: usual.map_or(UNSETTLED, |usual| usual.settled),
            settled: UNSETTLED,
            word_at: 0,
            top: 0,
            packs: Atomic::new(null_mut()),
            bit: 1u32.wrapping_shl(slot),
            tag_flags: tag << FLAG_BITS,
            mult: TIMER.counter_mult(),
            // What it points to is part of `state`, which stays as long as this does.
            usual: match &usual {
                Some(usual) => UsualPointers::new(usual),
                None => UsualPointers::NONE,
            },
        };
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
        // SAFETY: A fresh one, of the layout that the C side has. The kernel's own function makes
        // the hook share the filter of the trace array, which is alive as long as the hook.
        let registered = unsafe {
            let ops = addr_of_mut!((*inner).shared.ops);
            ktrace_graph_init(addr_of_mut!((*inner).shared));
            ktrace_call_fgraph_init_ops(addr_of_mut!((*ops).ops), filter);
            to_result(ktrace_call_register_ftrace_graph(ops))
        };
        if let Err(error) = registered {
            // SAFETY: From `into_raw()`; a callback may have run before the kernel gave up.
            unsafe {
                ktrace_graph_synchronize();
                drop(KBox::from_raw(inner));
            }
            return Err(error);
        }
        place.store(inner, Release);
        HOOKED.fetch_add(1u32.wrapping_shl(slot), Relaxed);
        let inner = NonNull::new(inner).ok_or(EINVAL)?;
        // INVARIANT: Just registered.
        Ok(Self { inner, slot })
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

/// Calls `with` with the trace array and the state of each hook. Any context but NMI.
pub fn for_each_hook<G: Bound>(mut with: impl FnMut(&TraceArray, &G)) {
    // SAFETY: Turned on again below.
    unsafe { ktrace_preempt_disable() };
    for place in G::hooks() {
        // SAFETY: Null, or registered: who unregisters clears the place first, and then waits for
        // all who have preemption off.
        if let Some(inner) = unsafe { place.load(Acquire).as_ref() } {
            // SAFETY: Alive as long as the hook is registered.
            with(unsafe { TraceArray::from_raw(inner.tr) }, &inner.state);
        }
    }
    // SAFETY: Turned off above.
    unsafe { ktrace_preempt_enable() };
}

/// The slots that have hooks: each adds its bit, and takes it away again.
static HOOKED: Atomic<u32> = Atomic::new(0);

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
        // SAFETY: Null, or registered: who unregisters clears the place first, and then waits for
        // all who have preemption off.
        let Some(inner) = (unsafe { place.read_once().as_ref() }) else {
            continue;
        };
        let open = Open {
            shared: NonNull::from(&inner.shared),
            // SAFETY: As above.
            task: unsafe { Task::from_raw(task) },
            tag: inner.tag,
            // SAFETY: Alive as long as the hook is registered.
            tr: unsafe { TraceArray::from_raw(inner.tr) },
            depth,
        };
        // INVARIANT: Preemption is off. What is on the stack stays: this runs in its task.
        with(&inner.state, &open);
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

/// Tells all hooks that a task is about to lose its CPU. For the probe on that, which runs in it, with
/// interrupts off.
#[inline]
pub fn current_leaves<G: Bound>() {
    if HOOKED.read_once() != 0 {
        // SAFETY: The scheduler has interrupts off.
        unsafe { for_each_open::<G>(|hook, open| hook.leaves(open)) };
    }
}

impl<G: Bound> Drop for Hook<G> {
    fn drop(&mut self) {
        if let Some(place) = G::hooks().get(self.slot as usize) {
            place.store(core::ptr::null_mut(), Release);
            HOOKED.fetch_add(1u32.wrapping_shl(self.slot).wrapping_neg(), Relaxed);
        }
        // SAFETY: Registered, by the invariant. After the wait no callback runs any more, and none
        // will: the kernel has forgotten about it, open calls included.
        unsafe {
            let ops = addr_of_mut!((*self.inner.as_ptr()).shared.ops);
            ktrace_call_unregister_ftrace_graph(ops);
            ktrace_graph_synchronize();
            drop(KBox::from_raw(self.inner.as_ptr()));
        }
    }
}

/// # Safety
///
/// For `fgraph.c`: `graph` is that of a registered [`Hook`] of this type, `task` the current
/// one, and the others are what the kernel passed to the callback.
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_call<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    func: usize,
    depth: i32,
    fregs: *mut c_void,
) -> bool {
    // SAFETY: By the precondition; `shared` is the first member. Freed only after the callback has
    // returned.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    // INVARIANT: Within the callback: preemption is off, and the call is on the shadow stack.
    inner.state.called(&Call {
        open: Open {
            shared: NonNull::from(&inner.shared),
            // SAFETY: The current task, by the precondition.
            task: unsafe { Task::from_raw(task) },
            tag: inner.tag,
            // SAFETY: Alive as long as the hook is registered.
            tr: unsafe { TraceArray::from_raw(inner.tr) },
            depth,
        },
        func,
        fregs,
    })
}

/// The return that the kernel tells of.
///
/// # Safety
///
/// As for [`dispatch_call`], within the callback for a return.
#[inline(always)]
unsafe fn return_of<'a, G>(
    inner: &'a Inner<G>,
    task: *mut kernel::bindings::task_struct,
    ret: &abi::ftrace_graph_ret,
    fregs: *mut c_void,
) -> Return<'a> {
    // INVARIANT: By the precondition; the call leaves the shadow stack after the callback.
    Return {
        open: Open {
            shared: NonNull::from(&inner.shared),
            // SAFETY: The current task, by the precondition.
            task: unsafe { Task::from_raw(task) },
            tag: inner.tag,
            // SAFETY: Alive as long as the hook is registered.
            tr: unsafe { TraceArray::from_raw(inner.tr) },
            depth: ret.depth,
        },
        func: ret.func,
        overrun: ret.overrun,
        fregs,
    }
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_return<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    ret: *const c_void,
    fregs: *mut c_void,
) {
    // SAFETY: By the precondition.
    unsafe {
        let inner = &*graph.cast::<Inner<G>>();
        let ret = return_of(inner, task, &*ret.cast(), fregs);
        inner.state.returned(&ret);
    }
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_end<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    ret: *const c_void,
    fregs: *mut c_void,
    total_ns: u64,
    written: u32,
) {
    // SAFETY: By the precondition.
    unsafe {
        let inner = &*graph.cast::<Inner<G>>();
        let ret = return_of(inner, task, &*ret.cast(), fregs);
        inner.state.ended(&ret, total_ns, written != 0);
    }
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_long<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    ret: *const c_void,
    fregs: *mut c_void,
    total_ns: u64,
    written: u32,
) {
    // SAFETY: By the precondition.
    unsafe {
        let inner = &*graph.cast::<Inner<G>>();
        let ret = return_of(inner, task, &*ret.cast(), fregs);
        inner.state.long(&ret, total_ns, written != 0);
    }
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_doubt<G: Bound>(
    graph: *mut c_void,
    task: *mut kernel::bindings::task_struct,
    ret: *const c_void,
    fregs: *mut c_void,
    total_ns: u64,
) {
    // SAFETY: By the precondition.
    unsafe {
        let inner = &*graph.cast::<Inner<G>>();
        let ret = return_of(inner, task, &*ret.cast(), fregs);
        inner.state.doubted(&ret, total_ns);
    }
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_add<G: Bound>(graph: *mut c_void, cpu: u32, func: usize, total_ns: u64) {
    // SAFETY: By the precondition.
    let inner = unsafe { &*graph.cast::<Inner<G>>() };
    inner.state.added(cpu as usize, func, total_ns);
}

/// # Safety
///
/// As for [`dispatch_call`].
#[doc(hidden)]
#[inline]
pub unsafe fn dispatch_full<G: Bound>(graph: *mut c_void) {
    // SAFETY: By the precondition.
    unsafe { &*graph.cast::<Inner<G>>() }.state.stack_full();
}

/// Names the one type whose [`GraphHook`] the callbacks call.
#[macro_export]
macro_rules! bind_graph_hook {
    ($hook:ty) => {
        const _: () = {
            use ::kernel::ffi::{
                c_int,
                c_uint,
                c_ulong,
                c_void, //
            };
            use $crate::ktrace::fgraph;

            static HOOKS: fgraph::Hooks<$hook> =
                [const { ::kernel::sync::atomic::Atomic::new(::core::ptr::null_mut()) };
                    $crate::ktrace::gate::SLOTS as usize];

            // SAFETY: The two functions below are what the C side calls; one static, which is not
            // visible outside this block.
            unsafe impl fgraph::Bound for $hook {
                fn hooks() -> &'static fgraph::Hooks<Self> {
                    &HOOKS
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_called(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                func: c_ulong,
                depth: c_int,
                fregs: *mut c_void,
            ) -> c_int {
                // SAFETY: By the precondition.
                c_int::from(unsafe {
                    fgraph::dispatch_call::<$hook>(graph, task, func as usize, depth, fregs)
                })
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_returned(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_return::<$hook>(graph, task, ret, fregs) }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_ended(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
                written: u32,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_end::<$hook>(graph, task, ret, fregs, total_ns, written) }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_long(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
                written: u32,
            ) {
                // SAFETY: By the precondition.
                unsafe {
                    fgraph::dispatch_long::<$hook>(graph, task, ret, fregs, total_ns, written)
                }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook, and what the kernel passed.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_doubted(
                graph: *mut c_void,
                task: *mut ::kernel::bindings::task_struct,
                ret: *const c_void,
                fregs: *mut c_void,
                total_ns: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_doubt::<$hook>(graph, task, ret, fregs, total_ns) }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_added(
                graph: *mut c_void,
                cpu: c_uint,
                func: c_ulong,
                total_ns: u64,
            ) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_add::<$hook>(graph, cpu, func as usize, total_ns) }
            }

            /// # Safety
            ///
            /// For `fgraph.c`: a registered hook.
            #[no_mangle]
            unsafe extern "C" fn ktrace_graph_full(graph: *mut c_void) {
                // SAFETY: By the precondition.
                unsafe { fgraph::dispatch_full::<$hook>(graph) }
            }
        };
    };
}
pub use bind_graph_hook;
