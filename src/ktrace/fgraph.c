// SPDX-License-Identifier: GPL-2.0
/*
 * What the call graph needs of the kernel's headers: callbacks whose prototypes
 * must be exact, and static inlines.
 *
 * Most of it runs inside a traced function, so this file is built without
 * ftrace's call at function entry (see Kbuild).
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "compact.h"
#include "fgraph.h"
#include "members.h"
#include "shim.h"

/* Defined by symbols.c. */
void *ktrace_call_fgraph_reserve_data(int idx, int size);
void *ktrace_call_fgraph_retrieve_parent_data(int idx, int *size, int depth);

/*
 * The shortest way of a call: nothing is to be done but to keep a frame, which the
 * return finds again and which tells how long the call took. It is most of what a
 * call costs that is not recorded, and what each has to pay for that is. Whatever
 * is not as usual goes to Rust, which does all of it; so what is asked for here may
 * be more than there is reason to, but never less.
 */

/*
 * A function of its own keeps what little it needs in registers, and is gone on to
 * without a frame, unless every function has one.
 */
#if defined(CONFIG_FRAME_POINTER) && defined(CONFIG_X86)
#define ktrace_stage __always_inline
#else
#define ktrace_stage noinline
#endif

#define KTRACE_MULT_SHIFT 22

/* FTRACE_PID_TRACE in kernel/trace/trace.h: the CPU's current task is traced. */
#define KTRACE_PID_TRACE (-2)

/* How much of the shadow stack a frame takes, with the word that tells what it is. */
#define KTRACE_FRAME_WORDS (sizeof(struct ktrace_frame) / sizeof(long) + 1)

/*
 * Words of the shadow stack that are not ours to give: those of all hooks at its end,
 * of which this hook's may be the last, a call, and a frame. The kernel's function
 * finds out how many there are when it gets so near.
 */
#define KTRACE_ROOM_WORDS (16 + 16 + (long)KTRACE_FRAME_WORDS)

/* Modulo 2^32. */
static __always_inline u32 ktrace_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* The hook's word of a task, once it is known where that is. */
static __always_inline unsigned long *ktrace_task_word(const struct ktrace_place *place,
						       struct task_struct *task)
{
	return (void *)task->ret_stack + place->word_at;
}

/*
 * Its lower half, which has flags. The upper one is a count that an interrupt may raise
 * at any moment. Each is read and written by itself: to read both at once would have to
 * wait for a store to one of them.
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

/* Interrupts leave the flags as they find them, or set such bits as well. */
static __always_inline void ktrace_set_in_word(unsigned long *word, unsigned long bits)
{
	barrier();
	*ktrace_word_flags(word) |= bits;
	barrier();
}

/* Sets the flags to what they were, without some. */
static __always_inline void ktrace_clear_in_word(unsigned long *word, unsigned long state,
						 unsigned long bits)
{
	WRITE_ONCE(*ktrace_word_flags(word), state & ~bits);
}

/*
 * Where a task's shadow stack begins. With the few registers of x86 it is cheaper to
 * read that anew than to keep it.
 */
static __always_inline unsigned long *ktrace_shadow_stack(struct task_struct *task)
{
#ifdef CONFIG_X86
	return READ_ONCE(task->ret_stack);
#else
	return task->ret_stack;
#endif
}

/*
 * Takes words of the shadow stack, which ends at `at`, and where it will again after
 * any interrupt. One instruction on x86.
 */
static __always_inline void ktrace_take_words(struct task_struct *task, unsigned long at,
					      unsigned long words)
{
#ifdef CONFIG_X86
	task->curr_ret_stack += words;
#else
	WRITE_ONCE(task->curr_ret_stack, at + words);
#endif
}

/*
 * Takes the words of a frame at the end of the shadow stack, as the kernel's function
 * does, the last of which tells what they are. Interrupts that come before that is
 * there twice may write over it.
 */
static __always_inline void ktrace_take_frame(struct task_struct *task, unsigned long at,
					      unsigned long *end, unsigned long top)
{
	WRITE_ONCE(end[KTRACE_FRAME_WORDS - 1], top);
	barrier();
	ktrace_take_words(task, at, KTRACE_FRAME_WORDS);
	barrier();
	WRITE_ONCE(end[KTRACE_FRAME_WORDS - 1], top);
}

/*
 * Begins a frame, and writes the entry of the call if it is to be written now. If that
 * fails, the call is not traced: no return is ever written without its entry.
 */
static __always_inline int ktrace_begin(struct ftrace_graph_ent *call, struct ktrace_graph *graph,
					struct ftrace_regs *fregs, struct task_struct *task,
					struct ktrace_frame *frame, unsigned long *word, u32 when)
{
	const struct ktrace_usual *usual = &graph->usual;

	WRITE_ONCE(frame->begun, ktrace_counter_here());
	if (when == KTRACE_AT_CALL) {
		WRITE_ONCE(frame->kept, ktrace_switches(task) | graph->tag | usual->written);
		/* An interrupt finds the frame from here on. */
		ktrace_set_in_word(word, usual->opens & ~usual->unwritten);
		return ktrace_graph_began(call, graph, fregs, task, frame);
	}
	WRITE_ONCE(frame->kept, ktrace_switches(task) | graph->tag);
	ktrace_set_in_word(word, usual->opens);
	return 1;
}

/* Keeps a frame with a call where the kernel puts it. */
static noinline notrace int ktrace_graph_keep(struct ftrace_graph_ent *call,
					      struct ktrace_graph *graph,
					      struct ftrace_regs *fregs, u32 when)
{
	struct task_struct *task = current;
	struct ktrace_frame *frame;

	frame = ktrace_call_fgraph_reserve_data(graph->ops.idx, sizeof(*frame));
	if (unlikely(!frame)) {
		ktrace_graph_full(graph);
		return 0;
	}
	return ktrace_begin(call, graph, fregs, task, frame,
			    ktrace_task_word(graph->place, task), when);
}

/* A call of a task that is wanted. */
static ktrace_stage notrace int ktrace_graph_begin(struct ftrace_graph_ent *call,
						   struct ktrace_graph *graph,
						   struct ftrace_regs *fregs)
{
	const struct ktrace_usual *usual = &graph->usual;
	struct task_struct *task = current;
	unsigned long state, *word, *end, top, at;
	const struct ktrace_place *place;
	u32 depth, when;

	place = READ_ONCE(graph->place);
	word = ktrace_task_word(place, task);
	state = ktrace_read_flags(word);
	if (unlikely((state & usual->special) != place->settled))
		goto unusual;
	depth = call->depth;
	/* Of the kernel's, 0 is no limit. */
	if (depth >= READ_ONCE(*usual->below) || depth > READ_ONCE(*graph->max_depth) - 1)
		goto unusual;
	/* Callers whose entries have to be written first. */
	when = READ_ONCE(*usual->when);
	if (state & usual->unwritten && when != KTRACE_IF_LONG)
		goto unusual;
	/*
	 * Reserves a frame as the kernel's function does, if the shadow stack ends in
	 * what it ended in when that function was looked at, and has room enough.
	 */
	at = (u32)task->curr_ret_stack;
	end = ktrace_shadow_stack(task) + at;
	/* Or the compiler adds these up each time. */
	OPTIMIZER_HIDE_VAR(end);
	top = place->top;
	if (unlikely(at >= place->room || end[-1] != place->below))
		return ktrace_graph_keep(call, graph, fregs, when);
	ktrace_take_frame(task, at, end, top);
	return ktrace_begin(call, graph, fregs, task, (struct ktrace_frame *)end, word, when);

unusual:
	return ktrace_graph_called(call, graph, fregs, task);
}

/* The same while it is not sure whether it is that task. */
static noinline __cold notrace int ktrace_graph_unsure(struct ftrace_graph_ent *call,
						       struct ktrace_graph *graph,
						       struct ftrace_regs *fregs)
{
	if (!ktrace_gate_look(graph->bit))
		return 0;
	return ktrace_graph_called(call, graph, fregs, current);
}

static int notrace ktrace_graph_entry(struct ftrace_graph_ent *call,
				      struct fgraph_ops *ops,
				      struct ftrace_regs *fregs)
{
	struct ktrace_graph *graph = container_of(ops, struct ktrace_graph, ops);

	/* Preemption is off. */
	if (__this_cpu_read(ktrace_gate.sure) & graph->bit)
		return ktrace_graph_begin(call, graph, fregs);
	if (__this_cpu_read(ktrace_gate.wanted) & graph->bit)
		return ktrace_graph_unsure(call, graph, fregs);
	return 0;
}

/* What is left to be done behind a leaf that was packed, which may take longer. */
static noinline __cold notrace void ktrace_leaf_written(struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
}

/* The same where a reader may not have seen it. */
static noinline __cold notrace void ktrace_leaf_doubted(struct ktrace_pack *pack,
							const struct ftrace_graph_ret *ret, u64 ns)
{
	ktrace_pack_catch_up(pack);
	ktrace_pack_doubted_leaf(pack, ret->func, ret->depth, ns);
	barrier();
	pack->busy = 0;
}

/* The same where the pack was closed meanwhile. */
static noinline __cold notrace void ktrace_leaf_closed(const struct ftrace_graph_ret *ret,
						       struct ktrace_graph *graph,
						       struct ftrace_regs *fregs, u64 ns,
						       struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	ktrace_graph_ended(ret, graph, fregs, current, ns, 0);
}

/* Packs a leaf by the shortest way, or leaves it to Rust. All calls are the last thing that is done. */
static ktrace_stage void ktrace_graph_leaf(const struct ftrace_graph_ret *ret,
					   struct ktrace_graph *graph,
					   struct ftrace_regs *fregs, u64 now, u64 ns,
					   struct ktrace_pack __percpu *packs)
{
	struct ktrace_pack *pack = raw_cpu_ptr(packs);

	/* With RT, softirqs are counted elsewhere. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy || ret->overrun))
		return ktrace_graph_ended(ret, graph, fregs, current, ns, 0);
	/* Anything but 0; this is at hand. */
	pack->busy = ret->func;
	barrier();
	switch (ktrace_pack_add_leaf(pack, ret->func, ret->depth, now, ns)) {
	case KTRACE_PACK_WRITTEN:
		break;
	case KTRACE_PACK_WRITTEN_BUT:
		return ktrace_leaf_written(pack);
	case KTRACE_PACK_DOUBTED:
		return ktrace_leaf_doubted(pack, ret, ns);
	case KTRACE_PACK_CLOSED:
		return ktrace_leaf_closed(ret, graph, fregs, ns, pack);
	case KTRACE_PACK_OTHER:
		barrier();
		pack->busy = 0;
		return ktrace_graph_ended(ret, graph, fregs, current, ns, 0);
	}
	barrier();
	pack->busy = 0;
}

/*
 * Whether the kernel asks its files of pids first, with a function of its own in front
 * of ours (fgraph_update_pid_func() in kernel/trace/fgraph.c).
 */
static __always_inline bool ktrace_graph_has_pids(struct ktrace_graph *graph)
{
	return READ_ONCE(graph->ops.entryfunc) != graph->ops.saved_func;
}

/* What that function finds (fgraph_pid_func()). */
static __always_inline bool ktrace_graph_pid_is_in(struct ktrace_graph *graph)
{
	u8 __percpu *data;
	int pid;

	data = KTRACE_MEMBER(u8 __percpu *, graph->ops.ops.private,
			     KTRACE_trace_array_array_buffer + KTRACE_array_buffer_data);
	pid = KTRACE_MEMBER(int, raw_cpu_ptr(data), KTRACE_trace_array_cpu_ftrace_ignore_pid);
	return pid == KTRACE_PID_TRACE || pid == current->pid;
}

/* Whether the current task is traced by the hook now. For Rust; any context. */
bool ktrace_graph_task_is_in(struct ktrace_graph *graph)
{
	return ktrace_mask_of(current) & graph->bit &&
	       (!ktrace_graph_has_pids(graph) || ktrace_graph_pid_is_in(graph));
}

static noinline notrace void ktrace_graph_return_by_pid(struct ftrace_graph_ret *ret,
							struct ktrace_graph *graph,
							struct ftrace_regs *fregs);

/* With files of pids, or before it is known whether there are any. */
static __always_inline void ktrace_graph_end(struct ftrace_graph_ret *ret,
					     struct ktrace_graph *graph,
					     struct ftrace_regs *fregs, bool by_pid)
{
	const unsigned long unwritten = graph->usual.unwritten;
	struct task_struct *task = current;
	u64 now, counts, total_ns, least_ns, differs;
	unsigned long state, flags, *word, *end;
	struct ktrace_pack __percpu *packs;
	const struct ktrace_place *place;
	struct ktrace_frame *frame;

	place = READ_ONCE(graph->place);
	word = ktrace_task_word(place, task);
	state = ktrace_read_flags(word);
	if (unlikely((state & graph->usual.special) != place->settled))
		goto unusual;
	if (unlikely(ktrace_read_count(word) != ret->overrun))
		goto unusual;
	/* On top of the shadow stack, if nobody else keeps something there. */
	end = task->ret_stack + (u32)task->curr_ret_stack;
	if (unlikely(end[-1] != place->top))
		goto unusual;
	frame = (struct ktrace_frame *)(end - 1) - 1;
	/* Its tag, and as many switches as now; of flags it may have the one that its entry is written. */
	differs = READ_ONCE(frame->kept) ^ (ktrace_switches(task) | graph->tag);
	if (differs) {
		if (unlikely(differs & ~graph->usual.written))
			goto unusual;
	} else {
		/*
		 * A filter may have changed while the call was open: what is written
		 * ends, the rest is left out.
		 */
		if (unlikely(!(__this_cpu_read(ktrace_gate.sure) & graph->bit)))
			goto unusual;
		if (!by_pid && unlikely(ktrace_graph_has_pids(graph)))
			return ktrace_graph_return_by_pid(ret, graph, fregs);
		if (by_pid && !ktrace_graph_pid_is_in(graph))
			goto unusual;
	}
	/* That long, or something is noted and it is not the counter's. */
	now = ktrace_counter_here();
	counts = now - READ_ONCE(frame->begun);
	if (unlikely(counts >> 32))
		goto unusual;
	/*
	 * An interrupt that comes from here on does not take it for open, nor for its own.
	 * One that came before may have written its entry.
	 */
	WRITE_ONCE(frame->is_open, 0);
	barrier();
	/* On its CPU all the while. */
	total_ns = counts * graph->mult >> KTRACE_MULT_SHIFT;
	flags = READ_ONCE(frame->flags);
	if (flags) {
		/* And so are those of its callers. */
		state = ktrace_read_flags(word);
		if (unlikely(state & unwritten))
			ktrace_clear_in_word(word, state, unwritten);
		return ktrace_graph_ended(ret, graph, fregs, task, total_ns, 1);
	}
	/* Nothing is ever written of these, so it does not matter what is not. */
	if (graph->usual.adds_up)
		return ktrace_graph_added(ret, graph, total_ns, raw_smp_processor_id());
	least_ns = READ_ONCE(*graph->usual.least_ns);
	if (least_ns) {
		/* Whether the callers are written is for the next one to find out. */
		ktrace_set_in_word(word, unwritten);
		if (unlikely(total_ns >= least_ns))
			ktrace_graph_late(ret, graph, fregs, task, total_ns);
		return;
	}
	state = ktrace_read_flags(word);
	ktrace_clear_in_word(word, state, unwritten);
	/* Its callers may not be written either, if there was a threshold. */
	if (unlikely(!(state & unwritten)))
		return ktrace_graph_late(ret, graph, fregs, task, total_ns);
	packs = READ_ONCE(graph->packs);
	if (packs)
		return ktrace_graph_leaf(ret, graph, fregs, now, total_ns, packs);
	return ktrace_graph_ended(ret, graph, fregs, task, total_ns, 0);

unusual:
	ktrace_graph_returned(ret, graph, fregs, task);
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

/* With functions that are chosen one by one, nothing is as usual. */
static void ktrace_graph_choose(struct ktrace_graph *graph)
{
	/* What was learned is there when this says so. */
	bool usual = smp_load_acquire(&graph->learned) == 2 && !READ_ONCE(graph->are_chosen);

	/* Readers go on from the address. */
	smp_store_release(&graph->place, &graph->places[usual]);
}

static void ktrace_graph_report_slow(struct irq_work *work)
{
	pr_warn(KBUILD_MODNAME
		": self-test: a frame is not found: calls cost more with this kernel\n");
}

static DEFINE_IRQ_WORK(ktrace_graph_slow, ktrace_graph_report_slow);

/*
 * Whether the kernel finds a frame that was put there by the shortest way, tried in the
 * place of one that it has put there itself.
 */
static bool notrace ktrace_graph_finds(struct ktrace_graph *graph, unsigned long *frame)
{
	unsigned long top = frame[KTRACE_FRAME_WORDS - 1];
	unsigned long at = frame - current->ret_stack;
	struct task_struct *task = current;
	int size = 0;
	void *found;

	WRITE_ONCE(task->curr_ret_stack, at);
	barrier();
	WRITE_ONCE(frame[KTRACE_FRAME_WORDS - 1], 0);
	ktrace_take_frame(task, at, frame, top);
	found = ktrace_call_fgraph_retrieve_parent_data(graph->ops.idx + ktrace_is_broken('5'),
							&size, 0);
	return found == frame && size == sizeof(struct ktrace_frame) &&
	       task->curr_ret_stack == at + KTRACE_FRAME_WORDS;
}

/*
 * Looks where the kernel has put a frame that it was just asked for, and the word of
 * the current task. From then on that is looked for there first, and put there. The
 * words on the shadow stack tell what they are and how far it is to the call that they
 * belong to, so that what is there is never taken for something else: with a kernel that
 * does it in another way calls cost more, and are not wrong.
 */
void ktrace_graph_learn(struct ktrace_graph *graph, void *frame, unsigned long *word)
{
	unsigned long *end = current->ret_stack + current->curr_ret_stack;
	unsigned long word_at = (void *)word - (void *)current->ret_stack;
	struct ktrace_place *place = &graph->places[1];

	if (!graph->mult || frame != end - KTRACE_FRAME_WORDS)
		return;
	/* Of several that come here at the same time, each with a stack of its own, one is believed. */
	if (READ_ONCE(graph->learned) || cmpxchg(&graph->learned, 0, 1))
		return;
	if (!ktrace_graph_finds(graph, frame)) {
		/* Locks that a console needs may be held here. */
		irq_work_queue(&ktrace_graph_slow);
		return;
	}
	WRITE_ONCE(place->word_at, word_at);
	WRITE_ONCE(place->below, *((unsigned long *)frame - 1));
	WRITE_ONCE(place->top, end[-1]);
	WRITE_ONCE(place->room, max((long)(word_at / sizeof(long)) - KTRACE_ROOM_WORDS, 0L));
	/* For ktrace_graph_choose(), which may run elsewhere. */
	smp_store_release(&graph->learned, 2);
	ktrace_graph_choose(graph);
}

/* Lets calls take the shortest way, or none, while functions are chosen one by one. */
void ktrace_graph_set_chosen(struct ktrace_graph *graph, bool are_chosen)
{
	WRITE_ONCE(graph->are_chosen, are_chosen);
	ktrace_graph_choose(graph);
}

/*
 * Whether the kernel has a hook in its list still, that was unregistered, or could not
 * be registered: ftrace_shutdown_subops() puts it back if there is no memory to tell
 * which functions are hooked without it, which unregister_ftrace_graph() does not tell
 * of. One that was taken from the list for good has a pointer that leads nowhere.
 */
bool ktrace_graph_is_listed(struct ktrace_graph *graph)
{
	const struct ftrace_ops *ops = &graph->ops.ops;

	return ops->flags & FTRACE_OPS_FL_ENABLED && ops->list.next != LIST_POISON1;
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
	graph->place = &graph->places[0];
}

/*
 * Waits until no callback runs any more. They run with preemption off. Where RCU
 * does not watch, in the idle loop or on the way into the kernel, nothing is
 * traced on architectures that want such code to be noinstr, as ours do; there,
 * the rude form waits for nobody, and is for others.
 *
 * A CPU that comes or goes is traced for some steps before RCU waits for it, or
 * after: whoever brings it up or down holds the lock until it is through. Not to be
 * called with that lock held.
 */
void ktrace_graph_synchronize(void)
{
	cpus_read_lock();
	cpus_read_unlock();
	synchronize_rcu();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
	irq_work_sync(&ktrace_graph_slow);
}

unsigned long ktrace_return_value(struct ftrace_regs *fregs)
{
	return fregs ? ftrace_regs_get_return_value(fregs) : 0;
}
