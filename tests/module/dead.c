// SPDX-License-Identifier: GPL-2.0
/*
 * What a call graph of ours leaves on the shadow stack of a task that has died, which
 * the next one may be given as it is: looks through that of one process, when it is
 * about to end and when it has.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "../../src/ktrace/fgraph.h"
#include "../../src/ktrace/shim.h"
#include "contexts.h"

/* As in kernel/trace/fgraph.c: how long shadow stacks are, and the word behind what is kept with a call. */
#define STACK_WORDS	(4096 / sizeof(long))
#define TYPE		GENMASK(11, 10)
#define TYPE_DATA	2
#define WORDS		GENMASK(16, 12)

#define FRAME_WORDS	(sizeof(struct ktrace_frame) / sizeof(long))

static pid_t watched;
static int open_frames[2];
/* Written by the watched task as it exits, read when it is gone. */
static u8 hook_tag[sizeof_field(struct ktrace_frame, tag)];
/* Nobody's any more, but for its own calls: it may be told to be free before it has left its CPU. */
static struct task_struct *released;

/* The frame that ends before that word of the stack, if it is one whose call is open. */
static const struct ktrace_frame *open_frame(const unsigned long *stack, size_t at)
{
	const struct ktrace_frame *frame = (void *)&stack[at - FRAME_WORDS];

	if (FIELD_GET(TYPE, stack[at]) != TYPE_DATA ||
	    FIELD_GET(WORDS, stack[at]) != FRAME_WORDS - 1 || stack[at] >= BIT(24))
		return NULL;
	return frame->is_open ? frame : NULL;
}

/*
 * How many there are with the tag of the hook, which no other hook has: what hooks that are no more
 * have left there, or on the stack of another task that had this memory, says nothing.
 */
static int count_open(const struct task_struct *task)
{
	const unsigned long *stack = (void *)task->ret_stack;
	const struct ktrace_frame *frame;
	int count = 0;
	size_t at;

	if (!stack)
		return -1;
	for (at = FRAME_WORDS; at < STACK_WORDS; at++) {
		frame = open_frame(stack, at);
		if (frame && !memcmp(frame->tag, hook_tag, sizeof(hook_tag)))
			count++;
	}
	return count;
}

/* Whose hook it is: that of the task's outermost call, which is open still. */
static void learn_tag(const struct task_struct *task)
{
	const unsigned long *stack = (void *)task->ret_stack;
	const struct ktrace_frame *frame;
	size_t at;

	memset(hook_tag, 0, sizeof(hook_tag));
	for (at = FRAME_WORDS; stack && at < task->curr_ret_stack; at++) {
		frame = open_frame(stack, at);
		if (frame) {
			memcpy(hook_tag, frame->tag, sizeof(hook_tag));
			return;
		}
	}
}

static void notrace look_at_exit(void *data, struct task_struct *task, bool group_dead)
{
	if (task->pid != READ_ONCE(watched))
		return;
	learn_tag(task);
	WRITE_ONCE(open_frames[0], count_open(task));
}

static void notrace look_at_free(void *data, struct task_struct *task)
{
	if (task->pid == READ_ONCE(watched) && !READ_ONCE(released))
		/* Pairs with look_at_released(): it is held by then. */
		smp_store_release(&released, get_task_struct(task));
}

static void forget_released(void)
{
	struct task_struct *task = xchg(&released, NULL);

	if (task)
		put_task_struct(task);
}

/* Looks at it once it has left its CPU for good, which clears on_cpu last. Files are read and written one at a time. */
static void look_at_released(void)
{
	/* Pairs with look_at_free(). */
	struct task_struct *task = smp_load_acquire(&released);

	/* Pairs with finish_task(): all that was done to its stack is seen. */
	if (!task || smp_load_acquire(&task->on_cpu))
		return;
	if (!(READ_ONCE(task->__state) & TASK_DEAD))
		return;
	WRITE_ONCE(open_frames[1], count_open(task));
	forget_released();
}

static struct ktrace_probe probes[] = {
	{ "sched_process_free", look_at_free },
	{ "sched_process_exit", look_at_exit },
};

/* How many calls are open on its stack, -1 before that is known: at its end, or when it has left its CPU for good. */
int ktrace_test_open_frames(bool gone)
{
	if (gone)
		look_at_released();
	return READ_ONCE(open_frames[gone]);
}

/* Watches that process, or none if it is 0; is watched already: another one from now on. */
int ktrace_test_watch(pid_t pid)
{
	bool attached = watched;

	WRITE_ONCE(open_frames[0], -1);
	WRITE_ONCE(open_frames[1], -1);
	WRITE_ONCE(watched, pid);
	forget_released();
	if (attached == !!pid)
		return 0;
	if (!pid) {
		ktrace_detach_probes(probes, ARRAY_SIZE(probes));
		/* None comes any more. */
		forget_released();
		return 0;
	}
	if (ktrace_find_probes(probes, ARRAY_SIZE(probes)))
		return -ENOENT;
	return ktrace_attach_probes(probes, ARRAY_SIZE(probes));
}
