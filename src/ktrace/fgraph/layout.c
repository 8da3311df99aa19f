// SPDX-License-Identifier: GPL-2.0
/*
 * Observes where the kernel puts data on shadow stacks, and enables the fast path of fgraph.c,
 * which relies on that.
 *
 * Some of it runs inside a traced function, so this file is built without ftrace's call at function
 * entry (see Kbuild).
 */
#include <linux/irq_work.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "../helpers.h"
#include "fgraph.h"

/*
 * Words at the end of the shadow stack that the fast path leaves free: the task data words of all
 * hooks, of which this hook's may be the last, a call, and a frame. So close to the end, the
 * kernel's function checks how much room there is.
 */
#define KTRACE_ROOM_WORDS (16 + 16 + (long)KTRACE_FRAME_WORDS)

/*
 * Selects the layout that calls use. While functions are chosen one by one, it is the first one,
 * with which all calls take the slow path.
 */
static void ktrace_graph_choose(struct ktrace_graph *graph)
{
	/* The detected values are visible once this is 2. */
	bool fast = smp_load_acquire(&graph->detected) == 2 && !READ_ONCE(graph->are_chosen);

	/* Readers depend on the address. */
	smp_store_release(&graph->layout, &graph->layouts[fast]);
}

static void ktrace_graph_report_slow(struct irq_work *work)
{
	pr_warn(KBUILD_MODNAME
		": self-test: a frame is not found: calls cost more with this kernel\n");
}

static DEFINE_IRQ_WORK(ktrace_graph_slow, ktrace_graph_report_slow);

/*
 * Returns whether the kernel finds a frame that the fast path has reserved. For this test, that
 * frame replaces one that the kernel has just reserved.
 */
static bool notrace ktrace_graph_frame_is_found(struct ktrace_graph *graph, unsigned long *frame)
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
 * Observes where the kernel has put a frame that it was just asked for, and the current task's data
 * word. From then on, the fast path looks for frames there, and reserves them there. The words on
 * the shadow stack describe their type and the distance to their call, so other data is never taken
 * for a frame: with a kernel that works in another way, calls cost more, but are recorded
 * correctly.
 */
void ktrace_graph_detect_layout(struct ktrace_graph *graph, void *frame, unsigned long *word)
{
	unsigned long *end = current->ret_stack + current->curr_ret_stack;
	unsigned long word_off = (void *)word - (void *)current->ret_stack;
	struct ktrace_layout *layout = &graph->layouts[1];

	if (!graph->mult || frame != end - KTRACE_FRAME_WORDS)
		return;
	/*
	 * Several tasks may come here at the same time, each with its own shadow stack. One of them
	 * continues.
	 */
	if (READ_ONCE(graph->detected) || cmpxchg(&graph->detected, 0, 1))
		return;
	if (!ktrace_graph_frame_is_found(graph, frame)) {
		/* Locks that a console needs may be held here. */
		irq_work_queue(&ktrace_graph_slow);
		return;
	}
	WRITE_ONCE(layout->task_data_off, word_off);
	WRITE_ONCE(layout->entry_word, *((unsigned long *)frame - 1));
	WRITE_ONCE(layout->data_word, end[-1]);
	WRITE_ONCE(layout->min_free, max((long)(word_off / sizeof(long)) - KTRACE_ROOM_WORDS, 0L));
	/* Pairs with ktrace_graph_choose(), which may run on another CPU. */
	smp_store_release(&graph->detected, 2);
	ktrace_graph_choose(graph);
}

/* Enables the fast path, or disables it while functions are chosen one by one. */
void ktrace_graph_set_chosen(struct ktrace_graph *graph, bool are_chosen)
{
	WRITE_ONCE(graph->are_chosen, are_chosen);
	ktrace_graph_choose(graph);
}

/* Waits until no callback runs any more, nor what one has queued. May sleep. */
void ktrace_graph_synchronize(void)
{
	ktrace_synchronize();
	irq_work_sync(&ktrace_graph_slow);
}
