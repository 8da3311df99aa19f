// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own cost of features that every tracer needs, for bench/rows. What is written
 * selects one:
 *	function NAME	an empty hook on the entry of the function NAME
 *	record NAME	a hook on its entry that writes 16 bytes to a ring buffer
 *	graph NAME	an empty hook on its entry and return
 *	frame NAME	a hook that stores 32 bytes with the call and finds them at its return
 *	timed NAME	a hook that stores the time of the call and computes its duration
 *	counted NAME	like timed, with the CPU's counter as the clock
 *	elsewhere NAME	a hook on calls of another function, and none on NAME
 *	probe NAME	like elsewhere, and an empty probe on sched_switch
 *	instead NAME	like elsewhere, and an empty hook on the entry of NAME
 *	off		removes the current one
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/time64.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#else
#include <asm/sysreg.h>
#endif

#include "../../src/ktrace/helpers.h"
#include "../../src/ktrace/private/probes.h"
#include "floors.h"

static DEFINE_MUTEX(lock);
static struct trace_buffer *buffer;

static void notrace do_nothing(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

static void notrace do_record(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ring_buffer_event *event;
	unsigned long *data;

	event = ring_buffer_lock_reserve(buffer, 2 * sizeof(*data));
	if (!event)
		return;
	data = ring_buffer_event_data(event);
	data[0] = ip;
	data[1] = parent_ip;
	ring_buffer_unlock_commit(buffer);
}

static int notrace do_call(struct ftrace_graph_ent *call, struct fgraph_ops *ops,
			   struct ftrace_regs *fregs)
{
	return 1;
}

static void notrace do_return(struct ftrace_graph_ret *ret, struct fgraph_ops *ops,
			      struct ftrace_regs *fregs)
{
}

/* The size of a call's frame; see `Stored` in src/ktrace/fgraph/frame.rs. */
struct frame {
	u64 words[4];
};

static int notrace do_keep(struct ftrace_graph_ent *call, struct fgraph_ops *ops,
			   struct ftrace_regs *fregs)
{
	struct frame *frame = ktrace_call_fgraph_reserve_data(ops->idx, sizeof(*frame));

	if (!frame)
		return 0;
	*frame = (struct frame) { .words = { call->func } };
	return 1;
}

static unsigned long found;

static void notrace do_find(struct ftrace_graph_ret *ret, struct fgraph_ops *ops,
			    struct ftrace_regs *fregs)
{
	int size;
	struct frame *frame = ktrace_call_fgraph_retrieve_parent_data(ops->idx, &size, 0);

	if (frame && frame->words[0] == ret->func)
		WRITE_ONCE(found, found + 1);
}

static __always_inline int keep_time(struct fgraph_ops *ops, u64 now)
{
	struct frame *frame = ktrace_call_fgraph_reserve_data(ops->idx, sizeof(*frame));

	if (!frame)
		return 0;
	*frame = (struct frame) { .words = { now } };
	return 1;
}

static __always_inline void look(struct fgraph_ops *ops, u64 now)
{
	int size;
	struct frame *frame = ktrace_call_fgraph_retrieve_parent_data(ops->idx, &size, 0);

	if (frame && now - frame->words[0] > NSEC_PER_SEC)
		WRITE_ONCE(found, found + 1);
}

static int notrace do_keep_time(struct ftrace_graph_ent *call, struct fgraph_ops *ops,
				struct ftrace_regs *fregs)
{
	return keep_time(ops, ktrace_call_sched_clock_noinstr());
}

static void notrace do_look(struct ftrace_graph_ret *ret, struct fgraph_ops *ops,
			    struct ftrace_regs *fregs)
{
	look(ops, ktrace_call_sched_clock_noinstr());
}

static __always_inline u64 counter(void)
{
#ifdef CONFIG_X86
	return rdtsc();
#else
	return read_sysreg(cntvct_el0);
#endif
}

static int notrace do_keep_count(struct ftrace_graph_ent *call, struct fgraph_ops *ops,
				 struct ftrace_regs *fregs)
{
	return keep_time(ops, counter());
}

static void notrace do_look_count(struct ftrace_graph_ret *ret, struct fgraph_ops *ops,
				  struct ftrace_regs *fregs)
{
	look(ops, counter());
}

static void notrace do_nothing_at_switch(void *data, bool preempt, struct task_struct *prev,
					 struct task_struct *next, unsigned int prev_state)
{
}

static struct ktrace_probe probe = { "sched_switch", do_nothing_at_switch };
static struct ftrace_ops nothing = { .func = do_nothing };
static struct ftrace_ops record = { .func = do_record };
static struct fgraph_ops graph = { .entryfunc = do_call, .retfunc = do_return };
static struct fgraph_ops frame = { .entryfunc = do_keep, .retfunc = do_find };
static struct fgraph_ops timed = { .entryfunc = do_keep_time, .retfunc = do_look };
static struct fgraph_ops counted = { .entryfunc = do_keep_count, .retfunc = do_look_count };

static void (*undo)(void);

static void stop_nothing(void)
{
	unregister_ftrace_function(&nothing);
}

static void stop_record(void)
{
	unregister_ftrace_function(&record);
	ring_buffer_free(buffer);
}

static void stop_graph(void)
{
	ktrace_call_unregister_ftrace_graph(&graph);
}

static void stop_frame(void)
{
	ktrace_call_unregister_ftrace_graph(&frame);
}

static void stop_timed(void)
{
	ktrace_call_unregister_ftrace_graph(&timed);
}

static void stop_counted(void)
{
	ktrace_call_unregister_ftrace_graph(&counted);
}

static void stop(void)
{
	if (undo)
		undo();
	undo = NULL;
}

void ktrace_test_no_floor(void)
{
	guard(mutex)(&lock);
	stop();
}

static int start_nothing(char *name, int len)
{
	return ftrace_set_filter(&nothing, name, len, 1) ?:
		register_ftrace_function(&nothing);
}

static void stop_probe(void)
{
	ktrace_detach_probes(&probe, 1, NULL);
	stop_graph();
}

static void stop_instead(void)
{
	stop_nothing();
	stop_graph();
}

static int start_record(char *name, int len)
{
	int ret;

	buffer = ring_buffer_alloc(1 << 20, RB_FL_OVERWRITE);
	if (!buffer)
		return -ENOMEM;
	ret = ftrace_set_filter(&record, name, len, 1) ?:
		register_ftrace_function(&record);
	if (ret)
		ring_buffer_free(buffer);
	return ret;
}

static int start_calls(struct fgraph_ops *ops, char *name, int len)
{
	return ftrace_set_filter(&ops->ops, name, len, 1) ?:
		ktrace_call_register_ftrace_graph(ops);
}

static int start_graph(char *name, int len)
{
	return start_calls(&graph, name, len);
}

static int start_elsewhere(char *name, int len)
{
	/* This function is not called while a switch is measured. */
	char elsewhere[] = "vfs_statx";

	return start_graph(elsewhere, strlen(elsewhere));
}

static int start_probe(char *name, int len)
{
	int ret;

	if (ktrace_find_probes(&probe, 1))
		return -ENOENT;
	ret = start_elsewhere(name, len);
	if (ret)
		return ret;
	ret = ktrace_attach_probes(&probe, 1, NULL);
	if (ret)
		stop_graph();
	return ret;
}

static int start_instead(char *name, int len)
{
	int ret = start_elsewhere(name, len);

	if (ret)
		return ret;
	ret = start_nothing(name, len);
	if (ret)
		stop_graph();
	return ret;
}

static int start_frame(char *name, int len)
{
	return start_calls(&frame, name, len);
}

static int start_timed(char *name, int len)
{
	return start_calls(&timed, name, len);
}

static int start_counted(char *name, int len)
{
	return start_calls(&counted, name, len);
}

static const struct {
	const char *name;
	int (*start)(char *name, int len);
	void (*stop)(void);
} floors[] = {
	{ "function", start_nothing, stop_nothing },
	{ "record", start_record, stop_record },
	{ "graph", start_graph, stop_graph },
	{ "frame", start_frame, stop_frame },
	{ "timed", start_timed, stop_timed },
	{ "counted", start_counted, stop_counted },
	{ "elsewhere", start_elsewhere, stop_graph },
	{ "probe", start_probe, stop_probe },
	{ "instead", start_instead, stop_instead },
};

/* Selects one of them, in place of the current one. */
int ktrace_test_floor(const char *which, unsigned long len, const char *function,
		      unsigned long function_len)
{
	char name[64];
	unsigned int i;
	int ret;

	guard(mutex)(&lock);
	stop();
	if (function_len >= sizeof(name))
		return -EINVAL;
	memcpy(name, function, function_len);
	name[function_len] = 0;
	for (i = 0; i < ARRAY_SIZE(floors); i++) {
		if (strlen(floors[i].name) != len || memcmp(which, floors[i].name, len))
			continue;
		ret = floors[i].start(name, function_len);
		if (!ret)
			undo = floors[i].stop;
		return ret;
	}
	return -EINVAL;
}
