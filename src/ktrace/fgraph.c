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
#include <linux/trace_events.h>

#include "fgraph.h"
#include "shim.h"

static int notrace ktrace_graph_entry(struct ftrace_graph_ent *call,
				      struct fgraph_ops *ops,
				      struct ftrace_regs *fregs)
{
	struct ktrace_graph *graph = container_of(ops, struct ktrace_graph, ops);

	/* Preemption is off. */
	if (!(__this_cpu_read(ktrace_gate) & graph->bit))
		return 0;
	return ktrace_graph_called(graph, current, call->func, call->depth, fregs);
}

static void notrace ktrace_graph_return(struct ftrace_graph_ret *ret,
					struct fgraph_ops *ops,
					struct ftrace_regs *fregs)
{
	ktrace_graph_returned(container_of(ops, struct ktrace_graph, ops), current, ret->func,
			      ret->depth, ret->overrun, fregs);
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
