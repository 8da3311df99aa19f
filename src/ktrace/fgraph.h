/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_FGRAPH_H
#define KTRACE_FGRAPH_H

#include <linux/ftrace.h>
#include <linux/trace_events.h>
#include <linux/types.h>

/* A hook on calls and returns; `Shared` in fgraph.rs. */
struct ktrace_graph {
	struct fgraph_ops ops;
	/* Its bit in the gate. */
	u32 bit;
};

/* Defined in Rust. */
int ktrace_graph_called(struct ktrace_graph *graph, struct task_struct *task,
			unsigned long func, int depth, struct ftrace_regs *fregs);
void ktrace_graph_returned(struct ktrace_graph *graph, struct task_struct *task,
			   unsigned long func, int depth, unsigned int overrun,
			   struct ftrace_regs *fregs);
unsigned int ktrace_print_line(struct trace_iterator *iter);

/* Defined in fgraph.c, called from Rust. */
void ktrace_graph_init(struct ktrace_graph *graph);
void ktrace_graph_synchronize(void);
unsigned long ktrace_return_value(struct ftrace_regs *fregs);
bool ktrace_in_hardirq(void);
void ktrace_preempt_disable(void);
void ktrace_preempt_enable(void);
enum print_line_t ktrace_tracer_print_line(struct trace_iterator *iter);
struct ring_buffer_iter *ktrace_buffer_iter(struct trace_iterator *iter);
unsigned int ktrace_event_text(struct trace_event *event, struct trace_iterator *iter,
			       int flags);
void ktrace_strip_newline(struct trace_seq *seq);

#endif
