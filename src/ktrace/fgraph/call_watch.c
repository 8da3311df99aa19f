// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks on the calls of a few functions, whatever the filters of a trace array select.
 * call_watch.rs documents them.
 *
 * Runs inside traced functions, so this file is built without ftrace's call at function entry (see
 * Kbuild).
 */
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/slab.h>

#include "../callbacks.h"
#include "../helpers.h"
#include "../task/trace_mask.h"
#include "fgraph.h"

struct ktrace_call_watch {
	struct fgraph_ops ops;
	/* The bit in the trace mask of the tasks whose calls are reported. */
	u32 bit;
	/* Distinguishes the frames of this watch from those of a former one; never 0. */
	u64 tag;
	const struct ktrace_call_callbacks *callbacks;
	const void *data;
};

static bool ktrace_watch_wants_current(const struct ktrace_call_watch *watch)
{
	/* Preemption is off in callbacks. */
	if (__this_cpu_read(ktrace_mask.sure) & watch->bit)
		return true;
	return __this_cpu_read(ktrace_mask.wanted) & watch->bit &&
	       ktrace_mask_check_current(watch->bit);
}

static int notrace ktrace_watch_entry(struct ftrace_graph_ent *call, struct fgraph_ops *ops,
				      struct ftrace_regs *fregs)
{
	struct ktrace_call_watch *watch = container_of(ops, struct ktrace_call_watch, ops);
	struct ktrace_call_frame begun, *frame;

	if (!ktrace_watch_wants_current(watch))
		return 0;
	if (!watch->callbacks->entry(watch->data, &begun))
		return 0;
	frame = ktrace_call_fgraph_reserve_data(ops->idx, sizeof(*frame));
	if (!frame) {
		watch->callbacks->overrun(watch->data);
		return 0;
	}
	*frame = begun;
	frame->tag = watch->tag;
	return 1;
}

static void notrace ktrace_watch_return(struct ftrace_graph_ret *ret, struct fgraph_ops *ops,
					struct ftrace_regs *fregs)
{
	struct ktrace_call_watch *watch = container_of(ops, struct ktrace_call_watch, ops);
	struct ktrace_call_frame *frame;
	int size;

	frame = ktrace_call_fgraph_retrieve_parent_data(ops->idx, &size, 0);
	/* The data may be that of a former hook with the same index. */
	if (!frame || size < sizeof(*frame) || frame->tag != watch->tag)
		return;
	frame->tag = 0;
	watch->callbacks->exit(watch->data, frame, ktrace_return_value(fregs));
}

static atomic64_t ktrace_watch_tags;

/*
 * Frees a watch that was unregistered, or could not be registered: the kernel does not call its
 * functions any more. Returns false if the kernel still has it in its list; then it is kept, with
 * its filter.
 */
static bool ktrace_free_watch(struct ktrace_call_watch *watch)
{
	/* A callback may still run. */
	ktrace_synchronize();
	if (ktrace_ops_are_listed(&watch->ops.ops))
		return false;
	ftrace_free_filter(&watch->ops.ops);
	kfree(watch);
	return true;
}

/*
 * Hooks the functions that @functions selects, a pattern as in set_ftrace_filter that this function
 * may change. Returns an ERR_PTR() on failure. May sleep.
 */
struct ktrace_call_watch *ktrace_watch_calls(char *functions, u32 bit,
					     const struct ktrace_call_callbacks *callbacks,
					     const void *data)
{
	struct ktrace_call_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	int ret;

	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->ops.entryfunc = ktrace_watch_entry;
	watch->ops.retfunc = ktrace_watch_return;
	watch->bit = bit;
	/* A module that was loaded before may have left frames too. */
	if (!atomic64_read(&ktrace_watch_tags))
		atomic64_cmpxchg(&ktrace_watch_tags, 0, (s64)ktrace_graph_random() << 32 | 1);
	watch->tag = atomic64_inc_return(&ktrace_watch_tags);
	watch->callbacks = callbacks;
	watch->data = data;
	ret = ftrace_set_filter(&watch->ops.ops, (void *)functions, strlen(functions), 1);
	if (!ret)
		ret = ktrace_call_register_ftrace_graph(&watch->ops);
	if (!ret)
		return watch;
	ktrace_free_watch(watch);
	return ERR_PTR(ret);
}

/*
 * Removes a watch. When this returns, no callback runs or will run. Returns false if the kernel
 * keeps the hook in its list (ktrace_ops_are_listed()). May sleep.
 */
bool ktrace_unwatch_calls(struct ktrace_call_watch *watch)
{
	ktrace_call_unregister_ftrace_graph(&watch->ops);
	return ktrace_free_watch(watch);
}
