// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that C calls by name if a module does not bind the hooks of their kind:
 * bind_graph_hook!() and the other macros define functions of the same names, which replace these.
 * Rust can register only hooks that are bound, so these are never called.
 */
#include "helpers.h"
#include "event/event.h"
#include "fgraph/fgraph.h"
#include "task/sched.h"
#include "task/trace_mask.h"

/* bind_function_hook!() */
void __weak ktrace_function_hit(unsigned int slot, unsigned long ip, unsigned long parent_ip,
				struct ftrace_regs *fregs, unsigned int context, pid_t pid)
{
}

/* bind_graph_hook!() */
int __weak ktrace_graph_slow_entry(const struct ftrace_graph_ent *call, struct ktrace_graph *graph,
				   struct ftrace_regs *fregs, struct task_struct *task)
{
	return 0;
}

int __weak ktrace_graph_fast_entry(const struct ftrace_graph_ent *call, struct ktrace_graph *graph,
				   struct ftrace_regs *fregs, struct task_struct *task,
				   struct ktrace_frame *frame)
{
	return 0;
}

void __weak ktrace_graph_slow_ret(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
				  struct ftrace_regs *fregs, struct task_struct *task)
{
}

void __weak ktrace_graph_fast_ret(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
				  struct ftrace_regs *fregs, struct task_struct *task,
				  u64 total_ns, u64 written)
{
}

void __weak ktrace_graph_fast_ret_late(const struct ftrace_graph_ret *ret,
				       struct ktrace_graph *graph, struct ftrace_regs *fregs,
				       struct task_struct *task, u64 total_ns)
{
}

void __weak ktrace_graph_fast_ret_profile(const struct ftrace_graph_ret *ret,
					  struct ktrace_graph *graph, u64 total_ns,
					  unsigned int cpu)
{
}

/* bind_task_hooks!() */
u32 __weak ktrace_mask_of(struct task_struct *task)
{
	return 0;
}

u32 __weak ktrace_idle_mask(unsigned int cpu)
{
	return 0;
}

void __weak ktrace_switched(u32 *mask, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
}

/* bind_sched_hooks!() */
void __weak ktrace_sched_switch(struct task_struct *prev, struct task_struct *next,
				unsigned int state, bool of_prev, bool of_next, u64 now)
{
}

void __weak ktrace_sched_waking(struct task_struct *task, unsigned int context)
{
}

void __weak ktrace_sched_wakeup(struct task_struct *task, unsigned int cpu, bool is_new,
				u64 now)
{
}

void __weak ktrace_sched_migrate(struct task_struct *task, unsigned int from,
				 unsigned int to)
{
}
