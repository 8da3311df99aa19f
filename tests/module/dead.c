// SPDX-License-Identifier: GPL-2.0
/*
 * Open calls on the shadow stack of a dead task, which the kernel may reuse for another
 * task without clearing it: counts the open calls of the call graph of one process, before
 * it exits and after its last context switch.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "../../src/ktrace/fgraph/fgraph.h"
#include "../../src/ktrace/helpers.h"
#include "../../src/ktrace/private/probes.h"
#include "contexts.h"

/* As in kernel/trace/fgraph.c: the size of shadow stacks, and the word after the data of a call. */
#define STACK_WORDS	(4096 / sizeof(long))
#define TYPE		GENMASK(11, 10)
#define TYPE_DATA	2
#define WORDS		GENMASK(16, 12)

#define FRAME_WORDS	(sizeof(struct ktrace_frame) / sizeof(long))

static pid_t watched;
static int open_frames[2];
/* Written by the watched task when it exits, read after that. */
static u8 hook_tag[sizeof_field(struct ktrace_frame, tag)];
/*
 * The released task, with a reference: sched_process_free may fire before its last context switch.
 */
static struct task_struct *released;

/* Returns the frame that ends before word @at of the stack, if it belongs to an open call. */
static const struct ktrace_frame *open_frame(const unsigned long *stack, size_t at)
{
	const struct ktrace_frame *frame = (void *)&stack[at - FRAME_WORDS];

	if (FIELD_GET(TYPE, stack[at]) != TYPE_DATA ||
	    FIELD_GET(WORDS, stack[at]) != FRAME_WORDS - 1 || stack[at] >= BIT(24))
		return NULL;
	return frame->is_open ? frame : NULL;
}

/*
 * Returns the number of open frames with the tag of the current hook, which is unique. Frames of
 * earlier hooks, and those that another task left in this memory, are ignored.
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

/* Sets hook_tag to the tag in the frame of the task's outermost open call. */
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
		/* Pairs with look_at_released(): the reference is visible there. */
		smp_store_release(&released, get_task_struct(task));
}

static void forget_released(void)
{
	struct task_struct *task = xchg(&released, NULL);

	if (task)
		put_task_struct(task);
}

/*
 * Counts the open calls after the task's last context switch, which clears on_cpu at its end. Reads
 * and writes of the file are serialized.
 */
static void look_at_released(void)
{
	/* Pairs with look_at_free(). */
	struct task_struct *task = smp_load_acquire(&released);

	/* Pairs with finish_task(): all writes to the stack are visible. */
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

/*
 * Returns the number of open calls at exit, or (@gone) after the last context switch; -1 if it is
 * not known yet.
 */
int ktrace_test_open_frames(bool gone)
{
	if (gone)
		look_at_released();
	return READ_ONCE(open_frames[gone]);
}

/* Watches this process instead of the previous one, or none if @pid is 0. */
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
		ktrace_detach_probes(probes, ARRAY_SIZE(probes), NULL);
		/* There are no more callbacks. */
		forget_released();
		return 0;
	}
	if (ktrace_find_probes(probes, ARRAY_SIZE(probes)))
		return -ENOENT;
	return ktrace_attach_probes(probes, ARRAY_SIZE(probes), NULL);
}
