// SPDX-License-Identifier: GPL-2.0
/*
 * What the call graph needs of the kernel's headers: callbacks whose prototypes
 * must be exact, and static inlines.
 *
 * Most of it runs inside a traced function, so this file is built without
 * ftrace's call at function entry (see Kbuild).
 */
#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "compact.h"
#include "fgraph.h"
#include "members.h"
#include "shim.h"

/* Defined by shim.c. */
void *ktrace_call_fgraph_reserve_data(int idx, int size);

/*
 * The shortest way of a call: nothing is to be done but to keep a frame, which the
 * return finds again and which tells how long the call took. It is most of what a
 * call costs that is not recorded, and what each has to pay for that is. Whatever
 * is not as usual goes to Rust, which does all of it; so what is asked for here may
 * be more than there is reason to, but never less.
 */

/*
 * A function of its own keeps what little it needs in registers, and is gone on to
 * without a frame, where the compiler may do that.
 */
#ifdef CONFIG_FRAME_POINTER
#define ktrace_stage __always_inline
#else
#define ktrace_stage noinline
#endif

#define KTRACE_MULT_SHIFT 22

/* Modulo 2^32. */
static __always_inline u32 ktrace_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static __always_inline bool ktrace_hash_is_empty(void **hash)
{
	/* One that was replaced is freed after a grace period. */
	return !*(unsigned long *)(READ_ONCE(*hash) + KTRACE_ftrace_hash_count);
}

/* The hook's word of the current task. */
static __always_inline unsigned long *ktrace_task_word(struct ktrace_graph *graph,
						       struct task_struct *task)
{
	return (void *)task->ret_stack + graph->word_at;
}

/* Whether nothing is special with the current task, and its word. */
static __always_inline bool ktrace_is_settled(struct ktrace_graph *graph,
					      struct task_struct *task, unsigned long *state)
{
	/* Only then is it known where the word is. */
	unsigned long settled = smp_load_acquire(&graph->settled);

	*state = READ_ONCE(*ktrace_task_word(graph, task));
	return (*state & graph->usual.special) == settled;
}

/* Keeps a frame with a call. What is on the stack is little, and so is what is kept there. */
static ktrace_stage int ktrace_graph_keep(struct ktrace_graph *graph)
{
	struct ktrace_frame *frame;
	unsigned long *word;

	frame = ktrace_call_fgraph_reserve_data(graph->ops.idx, sizeof(*frame));
	if (unlikely(!frame)) {
		ktrace_graph_full(graph);
		return 0;
	}
	frame->switches = ktrace_switches(current);
	WRITE_ONCE(frame->begun, ktrace_counter_here());
	WRITE_ONCE(frame->tag_flags, graph->tag_flags);
	/* Now that an interrupt finds the frame; what it has noted meanwhile is not lost. */
	word = ktrace_task_word(graph, current);
	WRITE_ONCE(*word, READ_ONCE(*word) | graph->usual.opens);
	return 1;
}

static int notrace ktrace_graph_entry(struct ftrace_graph_ent *call,
				      struct fgraph_ops *ops,
				      struct ftrace_regs *fregs)
{
	struct ktrace_graph *graph = container_of(ops, struct ktrace_graph, ops);
	const struct ktrace_usual *usual = &graph->usual;
	struct task_struct *task = current;
	u32 depth = call->depth;
	unsigned long state;

	/* Preemption is off. */
	if (!(__this_cpu_read(ktrace_gate) & graph->bit))
		return 0;
	if (unlikely(!ktrace_is_settled(graph, task, &state)))
		goto unusual;
	if (!ktrace_hash_is_empty(graph->graph_hash) ||
	    !ktrace_hash_is_empty(graph->graph_notrace_hash))
		goto unusual;
	/* Of the kernel's, 0 is no limit. */
	if (depth >= READ_ONCE(*usual->below) || depth > READ_ONCE(*graph->max_depth) - 1)
		goto unusual;
	if (state & usual->unwritten && !usual->adds_up && !READ_ONCE(*usual->least_ns))
		goto unusual;
	return ktrace_graph_keep(graph);

unusual:
	return ktrace_graph_called(graph, task, call->func, call->depth, fregs);
}

/* What is left to be done behind a leaf that was packed, which may take longer. */
static noinline __cold notrace void ktrace_leaf_written(struct ktrace_pack *pack,
							const struct ftrace_graph_ret *ret, u64 ns)
{
	void *buffer = ktrace_pack_buffer(pack);
	void *part = KTRACE_MEMBER(void **, buffer, KTRACE_trace_buffer_buffers)[pack->cpu];

	ktrace_pack_catch_up(buffer);
	if (KTRACE_MEMBER(void *, part, KTRACE_ring_buffer_per_cpu_reader_page) == pack->page)
		ktrace_pack_doubted_leaf(pack, ret->func, ret->depth, ns);
	barrier();
	pack->busy = 0;
}

/* The same where the pack was closed meanwhile. */
static noinline __cold notrace void ktrace_leaf_closed(struct ktrace_graph *graph,
						       const struct ftrace_graph_ret *ret,
						       struct ftrace_regs *fregs, u64 ns,
						       struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(ktrace_pack_buffer(pack));
	barrier();
	pack->busy = 0;
	ktrace_graph_ended(graph, current, ret, fregs, ns, 0);
}

/* Packs a leaf by the shortest way, or leaves it to Rust. All calls are the last thing that is done. */
static ktrace_stage void ktrace_graph_leaf(struct ktrace_graph *graph,
					   const struct ftrace_graph_ret *ret,
					   struct ftrace_regs *fregs, u64 ns,
					   struct ktrace_pack __percpu *packs)
{
	struct ktrace_pack *pack = raw_cpu_ptr(packs);

	/* With RT, softirqs are counted elsewhere. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy || ret->overrun))
		return ktrace_graph_ended(graph, current, ret, fregs, ns, 0);
	/* Anything but 0; this is at hand. */
	pack->busy = ret->func;
	barrier();
	switch (ktrace_pack_add_leaf(pack, ret->func, ret->depth, ns)) {
	case KTRACE_PACK_WRITTEN:
		break;
	case KTRACE_PACK_WRITTEN_BUT:
		return ktrace_leaf_written(pack, ret, ns);
	case KTRACE_PACK_CLOSED:
		return ktrace_leaf_closed(graph, ret, fregs, ns, pack);
	case KTRACE_PACK_OTHER:
		barrier();
		pack->busy = 0;
		return ktrace_graph_ended(graph, current, ret, fregs, ns, 0);
	}
	barrier();
	pack->busy = 0;
}

/* A call has taken so long, on its CPU all the while. */
static ktrace_stage void ktrace_graph_timed(struct ktrace_graph *graph,
					    const struct ftrace_graph_ret *ret,
					    struct ftrace_regs *fregs, u64 total_ns, u32 written)
{
	const struct ktrace_usual *usual = &graph->usual;
	unsigned long *word = ktrace_task_word(graph, current);
	unsigned long state = READ_ONCE(*word);
	u64 least_ns = READ_ONCE(*usual->least_ns);
	struct ktrace_pack __percpu *packs;
	u32 adds_up = usual->adds_up;

	if (least_ns || adds_up) {
		/* Whether the callers are written is for the next one to find out. */
		WRITE_ONCE(*word, state | usual->unwritten);
		if (adds_up)
			ktrace_graph_added(graph, raw_smp_processor_id(), ret->func, total_ns);
		else if (unlikely(written || total_ns >= least_ns))
			ktrace_graph_long(graph, current, ret, fregs, total_ns, written);
		return;
	}
	WRITE_ONCE(*word, state & ~usual->unwritten);
	if (!written) {
		packs = READ_ONCE(graph->packs);
		if (unlikely(!(state & usual->unwritten)))
			return ktrace_graph_doubted(graph, current, ret, fregs, total_ns);
		if (packs)
			return ktrace_graph_leaf(graph, ret, fregs, total_ns, packs);
	}
	ktrace_graph_ended(graph, current, ret, fregs, total_ns, written);
}

static void notrace ktrace_graph_return(struct ftrace_graph_ret *ret,
					struct fgraph_ops *ops,
					struct ftrace_regs *fregs)
{
	struct ktrace_graph *graph = container_of(ops, struct ktrace_graph, ops);
	struct task_struct *task = current;
	struct ktrace_frame *frame;
	unsigned long state, *end;
	u64 counts;
	u32 flags;

	if (unlikely(!ktrace_is_settled(graph, task, &state)))
		goto unusual;
	if (unlikely((u32)(state >> 32) != ret->overrun))
		goto unusual;
	/* On top of the shadow stack, if nobody else keeps something there. */
	end = task->ret_stack + task->curr_ret_stack;
	if (unlikely(end[-1] != graph->top))
		goto unusual;
	frame = (struct ktrace_frame *)(end - 1) - 1;
	flags = READ_ONCE(frame->tag_flags);
	flags ^= graph->tag_flags;
	if (unlikely(flags & ~graph->usual.written))
		goto unusual;
	if (unlikely(ktrace_switches(task) != frame->switches))
		goto unusual;
	/* That long, or something is noted and it is not the counter's. */
	counts = ktrace_counter_here() - READ_ONCE(frame->begun);
	if (unlikely(counts >> 32))
		goto unusual;
	/* An interrupt that comes from here on does not take it for open, nor for its own. */
	WRITE_ONCE(frame->tag_flags, 0);
	ktrace_graph_timed(graph, ret, fregs, counts * graph->mult >> KTRACE_MULT_SHIFT, flags);
	return;

unusual:
	ktrace_graph_returned(graph, task, ret, fregs);
}

/*
 * Looks where the kernel has put a frame that it was just asked for, and the word of
 * the current task. From then on that is looked for there first. The words on the
 * shadow stack tell what they are, so that what is there is never taken for
 * something else: a kernel that does it in another way is slower, not wrong.
 */
void ktrace_graph_learn(struct ktrace_graph *graph, void *frame, unsigned long *word)
{
	unsigned long *end = current->ret_stack + current->curr_ret_stack;

	if (!graph->mult || frame != (void *)(end - 1) - sizeof(struct ktrace_frame))
		return;
	/* Others who come here at the same time have found what is right as well. */
	WRITE_ONCE(graph->word_at, (void *)word - (void *)current->ret_stack);
	WRITE_ONCE(graph->top, end[-1]);
	/* Pairs with ktrace_is_settled(). */
	smp_store_release(&graph->settled, graph->settles);
}

/* For Rust to compare with what it has. */
size_t ktrace_graph_size(void)
{
	static_assert(sizeof(struct ktrace_frame) == 32);
	return sizeof(struct ktrace_graph);
}

void ktrace_graph_init(struct ktrace_graph *graph)
{
	graph->ops.entryfunc = ktrace_graph_entry;
	graph->ops.retfunc = ktrace_graph_return;
	graph->ops.private = graph;
}

/*
 * Waits until no callback runs any more. They run with preemption off, where RCU
 * may not be watching: in the idle loop, or on the way into the kernel.
 */
void ktrace_graph_synchronize(void)
{
	synchronize_rcu();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
}

unsigned long ktrace_return_value(struct ftrace_regs *fregs)
{
	return fregs ? ftrace_regs_get_return_value(fregs) : 0;
}

bool ktrace_in_hardirq(void)
{
	return in_hardirq();
}

void ktrace_preempt_disable(void)
{
	preempt_disable_notrace();
}

void ktrace_preempt_enable(void)
{
	preempt_enable_notrace();
}

/* The kernel's type of what it returns is an enum. */
enum print_line_t ktrace_tracer_print_line(struct trace_iterator *iter)
{
	return ktrace_print_line(iter);
}

/* How a `trace` file walks the buffer of the CPU that it is at; a pipe does not. */
struct ring_buffer_iter *ktrace_buffer_iter(struct trace_iterator *iter)
{
	return iter->buffer_iter ? iter->buffer_iter[iter->cpu] : NULL;
}

/* The text of a record as its own kind has it. */
unsigned int ktrace_event_text(struct trace_event *event, struct trace_iterator *iter,
			       int flags)
{
	return event->funcs->trace(iter, flags, event);
}

void ktrace_strip_newline(struct trace_seq *seq)
{
	unsigned int len = seq->seq.len;

	if (len && len <= seq->seq.size && seq->seq.buffer[len - 1] == '\n')
		seq->seq.len--;
}
