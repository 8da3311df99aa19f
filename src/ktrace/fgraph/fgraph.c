// SPDX-License-Identifier: GPL-2.0
/*
 * Call graph: callbacks whose prototypes must be exact, static inlines of the kernel's headers, and
 * the fast path.
 *
 * Most of it runs inside a traced function, so this file is built without ftrace's call at function
 * entry (see Kbuild).
 */
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "../compact/compact.h"
#include "../helpers.h"
#include "../record/context.h"
#include "../task/trace_mask.h"
#include "fgraph.h"
#include "members.h"

/*
 * Fast path of a call: only a frame is needed, which the return finds again and which has the time
 * of the call. This is most of the cost of a call that is not recorded, and part of the cost of
 * each recorded call. All other calls take the slow path in Rust, which handles every case. So the
 * conditions here may be stricter than necessary, but never weaker.
 */

/*
 * A function that is not inlined has the few values that it needs in registers, and is entered by a
 * tail call, without a stack frame unless each function has one.
 */
#if defined(CONFIG_FRAME_POINTER) && defined(CONFIG_X86)
#define ktrace_stage __always_inline
#else
#define ktrace_stage noinline
#endif

#define KTRACE_MULT_SHIFT 22

/* FTRACE_PID_TRACE in kernel/trace/trace.h: the CPU's current task is traced. */
#define KTRACE_PID_TRACE (-2)

/* The number of context switches of a task, modulo 2^32. */
static __always_inline u32 ktrace_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* Returns the hook's task data word, once its location is known. */
static __always_inline unsigned long *ktrace_task_word(const struct ktrace_layout *layout,
						       struct task_struct *task)
{
	return (void *)task->ret_stack + layout->task_data_off;
}

/*
 * Returns the lower half of a task data word, which has the flags. The upper half is a count that
 * an interrupt may raise at any moment. The halves are read and written separately: a read of both
 * would have to wait for a store to one of them.
 */
static __always_inline u32 *ktrace_word_flags(unsigned long *word)
{
	BUILD_BUG_ON(IS_ENABLED(CONFIG_CPU_BIG_ENDIAN));
	return (u32 *)word;
}

static __always_inline unsigned long ktrace_read_flags(unsigned long *word)
{
	return READ_ONCE(*ktrace_word_flags(word));
}

static __always_inline u32 ktrace_read_count(unsigned long *word)
{
	return READ_ONCE(ktrace_word_flags(word)[1]);
}

/* Sets flags. Interrupts leave the flags as they are, or set such bits too. */
static __always_inline void ktrace_set_in_word(unsigned long *word, unsigned long bits)
{
	barrier();
	*ktrace_word_flags(word) |= bits;
	barrier();
}

/* Sets the flags to @state without @bits. */
static __always_inline void ktrace_clear_in_word(unsigned long *word, unsigned long state,
						 unsigned long bits)
{
	WRITE_ONCE(*ktrace_word_flags(word), state & ~bits);
}

/*
 * Returns the start of a task's shadow stack. x86 has few registers, so that reading it again is
 * cheaper than keeping it.
 */
static __always_inline unsigned long *ktrace_shadow_stack(struct task_struct *task)
{
#ifdef CONFIG_X86
	return READ_ONCE(task->ret_stack);
#else
	return task->ret_stack;
#endif
}

/* Ends the fast path of a packed call: records of interrupts must be committed. */
static noinline __cold notrace void ktrace_call_written(struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
}

/* Ends the fast path of a packed call that a reader may have missed. */
static noinline __cold notrace void ktrace_call_rewrite(struct ktrace_pack *pack, u64 kind,
							unsigned long func, int depth, u64 ns)
{
	ktrace_pack_catch_up(pack);
	ktrace_pack_rewrite_call(pack, kind, func, depth, ns);
	barrier();
	pack->busy = 0;
}

/*
 * Packs the entry of a call, @ns after its beginning, at counter value @now. Returns false if Rust
 * has to write it.
 */
static noinline notrace bool ktrace_graph_pack_entry(struct ktrace_pack __percpu *packs,
						     unsigned long func, int depth, u64 now, u64 ns)
{
	struct ktrace_pack *pack = raw_cpu_ptr(packs);

	/* With PREEMPT_RT, preempt_count() does not count softirqs. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy))
		return false;
	/* Any value but 0; this one is in a register. */
	pack->busy = func;
	barrier();
	switch (ktrace_pack_add_call_whole(pack, KTRACE_BEGIN, func, depth, now, ns)) {
	case KTRACE_PACK_WRITTEN:
		break;
	case KTRACE_PACK_WRITTEN_COMMIT_PENDING:
		ktrace_call_written(pack);
		return true;
	case KTRACE_PACK_MAYBE_MISSED:
		ktrace_call_rewrite(pack, KTRACE_BEGIN, func, depth, ns);
		return true;
	case KTRACE_PACK_FALLBACK_COMMIT_PENDING:
		ktrace_call_written(pack);
		return false;
	case KTRACE_PACK_FALLBACK:
		barrier();
		pack->busy = 0;
		return false;
	}
	barrier();
	pack->busy = 0;
	return true;
}

/*
 * Writes the missing entry of the caller of a call at depth @depth that just begins, for which no
 * data is on the shadow stack yet: it ends at @end. Returns false if Rust has to do it. Only for a
 * caller whose own callers have their entries.
 */
static __always_inline bool ktrace_graph_write_caller(struct ktrace_graph *graph,
						      struct task_struct *task,
						      const struct ktrace_layout *layout,
						      unsigned long *end, u32 depth)
{
	struct ktrace_pack __percpu *packs = READ_ONCE(graph->packs);
	u64 kept = ktrace_switches(task) | graph->tag, now, counts;
	struct ktrace_frame *frame;

	/* Below this call is the data of its caller, if the caller has any. */
	end -= KTRACE_ENTRY_WORDS;
	if (!packs || !depth || end[-1] != layout->data_word)
		return false;
	frame = (struct ktrace_frame *)(end - 1) - 1;
	/* An interrupt that comes after this finds the entry written. */
	if (cmpxchg_local(&frame->kept, kept, kept | graph->fast_path.written) != kept)
		return false;
	now = ktrace_counter_here();
	counts = now - READ_ONCE(frame->begun);
	if (likely(!(counts >> 32)) &&
	    ktrace_graph_pack_entry(packs, READ_ONCE(frame->off_cpu[0]), depth - 1, now,
				    counts * graph->mult >> KTRACE_MULT_SHIFT))
		return true;
	WRITE_ONCE(frame->kept, kept);
	return false;
}

/* Packs the entry of a call that begins now, or leaves it to Rust. */
static noinline notrace int ktrace_graph_packed_entry(struct ftrace_graph_ent *call,
						      struct ktrace_graph *graph,
						      struct ftrace_regs *fregs,
						      struct task_struct *task,
						      struct ktrace_frame *frame)
{
	struct ktrace_pack __percpu *packs = READ_ONCE(graph->packs);

	if (packs && ktrace_graph_pack_entry(packs, call->func, call->depth,
					     READ_ONCE(frame->begun), 0))
		return 1;
	return ktrace_graph_fast_entry(call, graph, fregs, task, frame);
}

/*
 * Begins a frame, and writes the entry of the call if @when says so. If that fails, the call is not
 * traced: no return is written without its entry.
 */
static __always_inline int ktrace_begin(struct ftrace_graph_ent *call, struct ktrace_graph *graph,
					struct ftrace_regs *fregs, struct task_struct *task,
					struct ktrace_frame *frame, unsigned long *word, u32 when)
{
	const struct ktrace_fast_path *config = &graph->fast_path;

	WRITE_ONCE(frame->begun, ktrace_counter_here());
	if (when == KTRACE_IF_LONG) {
		WRITE_ONCE(frame->kept, ktrace_switches(task) | graph->tag);
		ktrace_set_in_word(word, config->set_if_long);
		return 1;
	}
	if (when == KTRACE_IF_NEEDED) {
		WRITE_ONCE(frame->off_cpu[0], call->func);
		WRITE_ONCE(frame->kept, ktrace_switches(task) | graph->tag);
		ktrace_set_in_word(word, config->set_if_needed);
		return 1;
	}
	WRITE_ONCE(frame->kept, ktrace_switches(task) | graph->tag | config->written);
	/* From here on, an interrupt finds the frame. */
	ktrace_set_in_word(word, config->set_at_call);
	if (when == KTRACE_AT_CALL_PACKED)
		return ktrace_graph_packed_entry(call, graph, fregs, task, frame);
	return ktrace_graph_fast_entry(call, graph, fregs, task, frame);
}

/* Begins a call whose frame the kernel's function reserves. */
static noinline notrace int ktrace_graph_reserve(struct ftrace_graph_ent *call,
					      struct ktrace_graph *graph,
					      struct ftrace_regs *fregs, u32 when)
{
	struct task_struct *task = current;
	struct ktrace_frame *frame;

	frame = ktrace_call_fgraph_reserve_data(graph->ops.idx, sizeof(*frame));
	if (unlikely(!frame)) {
		graph->overrun(graph);
		return 0;
	}
	return ktrace_begin(call, graph, fregs, task, frame,
			    ktrace_task_word(graph->layout, task), when);
}

/*
 * Returns whether a frame can be reserved at @end as the kernel's function does: the shadow stack
 * ends in the same word as when that function was observed, and has enough room. @at is the number
 * of words before @end.
 */
static __always_inline bool ktrace_has_room(const struct ktrace_layout *layout,
					    const unsigned long *end, unsigned long at)
{
	return likely(at < layout->min_free && end[-1] == layout->entry_word);
}

/* Handles a call whose caller's entry must be written first. */
static noinline notrace int ktrace_graph_begin_callee(struct ftrace_graph_ent *call,
						      struct ktrace_graph *graph,
						      struct ftrace_regs *fregs)
{
	const struct ktrace_layout *layout = READ_ONCE(graph->layout);
	const struct ktrace_fast_path *config = &graph->fast_path;
	struct task_struct *task = current;
	unsigned long *word = ktrace_task_word(layout, task);
	unsigned long at = (u32)task->curr_ret_stack;
	unsigned long *end = ktrace_shadow_stack(task) + at;

	if (READ_ONCE(*config->when) != KTRACE_IF_NEEDED ||
	    ktrace_read_flags(word) & config->unwritten_callers ||
	    !ktrace_has_room(layout, end, at) ||
	    !ktrace_graph_write_caller(graph, task, layout, end, call->depth))
		return ktrace_graph_slow_entry(call, graph, fregs, task);
	ktrace_take_frame(task, at, end, layout->data_word);
	return ktrace_begin(call, graph, fregs, task, (struct ktrace_frame *)end, word,
			    KTRACE_IF_NEEDED);
}

/* Handles a call of a traced task. All calls are tail calls. */
static ktrace_stage notrace int ktrace_graph_begin(struct ftrace_graph_ent *call,
						   struct ktrace_graph *graph,
						   struct ftrace_regs *fregs)
{
	const struct ktrace_fast_path *config = &graph->fast_path;
	struct task_struct *task = current;
	unsigned long *word, *end, top, at;
	const struct ktrace_layout *layout;
	u32 state, depth, when;

	layout = READ_ONCE(graph->layout);
	word = ktrace_task_word(layout, task);
	state = ktrace_read_flags(word);
	if (unlikely((state & config->slow_mask) != layout->slow_value))
		goto slow;
	depth = call->depth;
	/* 0 means no limit in the kernel's variable, and wraps around here. */
	if (depth >= READ_ONCE(*config->max_depth) || depth > READ_ONCE(*graph->max_depth) - 1)
		goto slow;
	when = READ_ONCE(*config->when);
	if (state & (u32)config->unwritten && when != KTRACE_IF_LONG)
		return ktrace_graph_begin_callee(call, graph, fregs);
	at = (u32)task->curr_ret_stack;
	end = ktrace_shadow_stack(task) + at;
	/* Prevents the compiler from computing this sum for each use. */
	OPTIMIZER_HIDE_VAR(end);
	top = layout->data_word;
	if (!ktrace_has_room(layout, end, at))
		return ktrace_graph_reserve(call, graph, fregs, when);
	ktrace_take_frame(task, at, end, top);
	return ktrace_begin(call, graph, fregs, task, (struct ktrace_frame *)end, word, when);

slow:
	return ktrace_graph_slow_entry(call, graph, fregs, task);
}

/* Handles a call while a switch is not complete: the current task may be the previous one. */
static noinline __cold notrace int ktrace_graph_unsure(struct ftrace_graph_ent *call,
						       struct ktrace_graph *graph,
						       struct ftrace_regs *fregs)
{
	if (!ktrace_mask_check_current(graph->bit))
		return 0;
	return ktrace_graph_slow_entry(call, graph, fregs, current);
}

static int notrace ktrace_graph_entry(struct ftrace_graph_ent *call,
				      struct fgraph_ops *ops,
				      struct ftrace_regs *fregs)
{
	struct ktrace_graph *graph = container_of(ops, struct ktrace_graph, ops);

	/* Preemption is off in callbacks. */
	if (__this_cpu_read(ktrace_mask.sure) & graph->bit)
		return ktrace_graph_begin(call, graph, fregs);
	if (__this_cpu_read(ktrace_mask.wanted) & graph->bit)
		return ktrace_graph_unsure(call, graph, fregs);
	return 0;
}

/* Ends the fast path of a return that was not packed; records of interrupts must be committed. */
static noinline __cold notrace void ktrace_return_closed(const struct ftrace_graph_ret *ret,
							 struct ktrace_graph *graph,
							 struct ftrace_regs *fregs, u64 ns,
							 struct ktrace_pack *pack, u64 written)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	ktrace_graph_fast_ret(ret, graph, fregs, current, ns, written);
}

/*
 * Returns the depth of a call. If calls have found the shadow stack full, it is larger than any
 * depth in a pack: only a record has their number.
 */
static __always_inline u64 ktrace_depth(const struct ftrace_graph_ret *ret)
{
	BUILD_BUG_ON(offsetof(struct ftrace_graph_ret, overrun) !=
		     offsetof(struct ftrace_graph_ret, depth) + sizeof(ret->depth));
	return *(const u64 *)&ret->depth;
}

/* Ends the fast path with the result @end. A call that was not packed continues in Rust. */
static __always_inline void ktrace_return_ended(enum ktrace_pack_end end,
						const struct ftrace_graph_ret *ret,
						struct ktrace_graph *graph,
						struct ftrace_regs *fregs, u64 ns,
						struct ktrace_pack *pack, u64 kind)
{
	switch (end) {
	case KTRACE_PACK_WRITTEN_COMMIT_PENDING:
		return ktrace_call_written(pack);
	case KTRACE_PACK_MAYBE_MISSED:
		return ktrace_call_rewrite(pack, kind, ret->func, ret->depth, ns);
	case KTRACE_PACK_FALLBACK_COMMIT_PENDING:
		return ktrace_return_closed(ret, graph, fregs, ns, pack, kind == KTRACE_RETURN);
	case KTRACE_PACK_WRITTEN:
	case KTRACE_PACK_FALLBACK:
		break;
	}
	barrier();
	pack->busy = 0;
	if (end == KTRACE_PACK_FALLBACK)
		ktrace_graph_fast_ret(ret, graph, fregs, current, ns, kind == KTRACE_RETURN);
}

/*
 * Packs a call that returns, with @kind as in ktrace_pack_add_call(), or leaves it to @whole. All
 * calls are tail calls.
 */
#define KTRACE_PACK_RETURN(name, kind) \
static noinline notrace void name##_whole(const struct ftrace_graph_ret *ret, \
					  struct ktrace_graph *graph, \
					  struct ftrace_regs *fregs, u64 now, u64 ns, \
					  struct ktrace_pack *pack) \
{ \
	ktrace_return_ended(ktrace_pack_add_call_whole(pack, kind, ret->func, \
						       ktrace_depth(ret), now, ns), \
			    ret, graph, fregs, ns, pack, kind); \
} \
\
static ktrace_stage notrace void name(const struct ftrace_graph_ret *ret, \
				      struct ktrace_graph *graph, struct ftrace_regs *fregs, \
				      u64 now, u64 ns, struct ktrace_pack __percpu *packs) \
{ \
	struct ktrace_pack *pack = raw_cpu_ptr(packs); \
	unsigned long func = ret->func; \
	enum ktrace_pack_end end; \
\
	/* With PREEMPT_RT, preempt_count() does not count softirqs. */ \
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy)) \
		return ktrace_graph_fast_ret(ret, graph, fregs, current, ns, \
					     kind == KTRACE_RETURN); \
	/* Any value but 0; this one is in a register. */ \
	pack->busy = func; \
	barrier(); \
	end = ktrace_pack_add_call(pack, kind, func, ktrace_depth(ret), now, ns); \
	if (end == KTRACE_PACK_FALLBACK) \
		return name##_whole(ret, graph, fregs, now, ns, pack); \
	ktrace_return_ended(end, ret, graph, fregs, ns, pack, kind); \
}

/* For a call that has no entry, and for one that has. */
KTRACE_PACK_RETURN(ktrace_graph_leaf, KTRACE_LEAF)
KTRACE_PACK_RETURN(ktrace_graph_written, KTRACE_RETURN)

/*
 * Returns whether the kernel first checks its PID files, with a function of its own that it calls
 * before the hook's (fgraph_update_pid_func() in kernel/trace/fgraph.c).
 */
static __always_inline bool ktrace_graph_has_pids(struct ktrace_graph *graph)
{
	return READ_ONCE(graph->ops.entryfunc) != graph->ops.saved_func;
}

/* Returns what that function (fgraph_pid_func()) finds. */
static __always_inline bool ktrace_graph_pid_is_in(struct ktrace_graph *graph)
{
	u8 __percpu *data;
	int pid;

	data = KTRACE_MEMBER(u8 __percpu *, graph->ops.ops.private,
			     KTRACE_trace_array_array_buffer + KTRACE_array_buffer_data);
	pid = KTRACE_MEMBER(int, raw_cpu_ptr(data), KTRACE_trace_array_cpu_ftrace_ignore_pid);
	return pid == KTRACE_PID_TRACE || pid == current->pid;
}

/* Returns whether the hook traces the current task now. For Rust; any context. */
bool ktrace_graph_task_is_in(struct ktrace_graph *graph)
{
	return ktrace_mask_of(current) & graph->bit &&
	       (!ktrace_graph_has_pids(graph) || ktrace_graph_pid_is_in(graph));
}

static noinline notrace void ktrace_graph_return_by_pid(struct ftrace_graph_ret *ret,
							struct ktrace_graph *graph,
							struct ftrace_regs *fregs);

/* Handles a return. @by_pid: the PID files have PIDs; if false, that is not known yet. */
static __always_inline void ktrace_graph_end(struct ftrace_graph_ret *ret,
					     struct ktrace_graph *graph,
					     struct ftrace_regs *fregs, bool by_pid)
{
	const unsigned long unwritten = graph->fast_path.unwritten;
	struct task_struct *task = current;
	u64 now, counts, total_ns, threshold_ns, differs;
	unsigned long state, flags, *word, *end;
	struct ktrace_pack __percpu *packs;
	const struct ktrace_layout *layout;
	struct ktrace_frame *frame;

	layout = READ_ONCE(graph->layout);
	word = ktrace_task_word(layout, task);
	state = ktrace_read_flags(word);
	if (unlikely((state & graph->fast_path.slow_mask) != layout->slow_value))
		goto slow;
	if (unlikely(ktrace_read_count(word) != ret->overrun))
		goto slow;
	/* The frame is on top of the shadow stack, unless another hook has data there. */
	end = task->ret_stack + (u32)task->curr_ret_stack;
	if (unlikely(end[-1] != layout->data_word))
		goto slow;
	frame = (struct ktrace_frame *)(end - 1) - 1;
	/* Compares the tag and the number of switches. Of the flags, only `written` may be set. */
	differs = READ_ONCE(frame->kept) ^ (ktrace_switches(task) | graph->tag);
	if (differs) {
		if (unlikely(differs & ~graph->fast_path.written))
			goto slow;
	} else {
		/*
		 * A filter may have changed during the call. If the entry is written, the return is
		 * written too; otherwise nothing is.
		 */
		if (unlikely(!(__this_cpu_read(ktrace_mask.sure) & graph->bit)))
			goto slow;
		if (!by_pid && unlikely(ktrace_graph_has_pids(graph)))
			return ktrace_graph_return_by_pid(ret, graph, fregs);
		if (by_pid && !ktrace_graph_pid_is_in(graph))
			goto slow;
	}
	/*
	 * The call took too long for this calculation, or its start is noted as a time of the
	 * clock.
	 */
	now = ktrace_counter_here();
	counts = now - READ_ONCE(frame->begun);
	if (unlikely(counts >> 32))
		goto slow;
	/*
	 * From here on, an interrupt does not take this call for an open one, nor the frame for its
	 * own. An interrupt before this may have written the entry.
	 */
	WRITE_ONCE(frame->is_open, 0);
	barrier();
	/* The task did not lose its CPU. */
	total_ns = counts * graph->mult >> KTRACE_MULT_SHIFT;
	flags = READ_ONCE(frame->flags);
	if (flags) {
		/* The entry is written, and so are those of the callers. */
		state = ktrace_read_flags(word);
		if (unlikely(state & unwritten))
			ktrace_clear_in_word(word, state, unwritten);
		packs = READ_ONCE(graph->packs);
		if (packs)
			return ktrace_graph_written(ret, graph, fregs, now, total_ns, packs);
		return ktrace_graph_fast_ret(ret, graph, fregs, task, total_ns, 1);
	}
	/* No entry is ever written in this mode, so `unwritten` does not matter. */
	if (graph->fast_path.profile)
		return ktrace_graph_fast_ret_profile(ret, graph, total_ns, raw_smp_processor_id());
	threshold_ns = READ_ONCE(*graph->fast_path.threshold_ns);
	if (threshold_ns) {
		/*
		 * The next call that needs to know finds out whether the entries of the callers are
		 * written.
		 */
		ktrace_set_in_word(word, unwritten);
		if (unlikely(total_ns >= threshold_ns))
			ktrace_graph_fast_ret_late(ret, graph, fregs, task, total_ns);
		return;
	}
	state = ktrace_read_flags(word);
	ktrace_clear_in_word(word, state, unwritten);
	/* If there was a threshold, entries of the callers may be missing as well. */
	if (unlikely(!(state & unwritten)))
		return ktrace_graph_fast_ret_late(ret, graph, fregs, task, total_ns);
	packs = READ_ONCE(graph->packs);
	if (packs)
		return ktrace_graph_leaf(ret, graph, fregs, now, total_ns, packs);
	return ktrace_graph_fast_ret(ret, graph, fregs, task, total_ns, 0);

slow:
	ktrace_graph_slow_ret(ret, graph, fregs, task);
}

static noinline notrace void ktrace_graph_return_by_pid(struct ftrace_graph_ret *ret,
							struct ktrace_graph *graph,
							struct ftrace_regs *fregs)
{
	ktrace_graph_end(ret, graph, fregs, true);
}

static void notrace ktrace_graph_return(struct ftrace_graph_ret *ret,
					struct fgraph_ops *ops,
					struct ftrace_regs *fregs)
{
	ktrace_graph_end(ret, container_of(ops, struct ktrace_graph, ops), fregs, false);
}

/*
 * Returns whether the kernel still has a hook in its list that was unregistered, or could not be
 * registered: ftrace_shutdown_subops() puts it back if there is no memory to compute the functions
 * that are hooked without it, and unregister_ftrace_graph() does not report that. A hook that was
 * removed for good has a poisoned pointer.
 */
bool ktrace_ops_are_listed(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED && ops->list.next != LIST_POISON1;
}

bool ktrace_graph_is_listed(struct ktrace_graph *graph)
{
	return ktrace_ops_are_listed(&graph->ops.ops);
}

u32 ktrace_graph_random(void)
{
	return get_random_u32();
}

void ktrace_graph_init(struct ktrace_graph *graph)
{
	graph->ops.entryfunc = ktrace_graph_entry;
	graph->ops.retfunc = ktrace_graph_return;
	graph->ops.private = graph;
	graph->layout = &graph->layouts[0];
}

unsigned long ktrace_return_value(struct ftrace_regs *fregs)
{
	return fregs ? ftrace_regs_get_return_value(fregs) : 0;
}
