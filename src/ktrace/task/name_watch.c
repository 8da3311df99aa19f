// SPDX-License-Identifier: GPL-2.0
/*
 * A hook that is called after a task was renamed. name_watch.rs documents it.
 *
 * Runs inside a traced function, so this file is built without ftrace's call at function entry (see
 * Kbuild).
 */
#include <linux/ftrace.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "../callbacks.h"
#include "../helpers.h"

/*
 * No recursion guard is needed: only the one function that is hooked leads here, and no callback
 * renames a task.
 */
static void notrace ktrace_on_name_written(unsigned long ip, unsigned long parent_ip,
					   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	const struct ktrace_task_callbacks *callbacks = op->private;

	/*
	 * If there are other hooks on the function, preemption is off. The filters have a lock,
	 * which sleeps on PREEMPT_RT; there, the decision by the reported name has to do.
	 */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !preemptible())
		return;
	callbacks->name_written((struct task_struct *)ftrace_regs_get_argument(fregs, 0));
}

static struct ftrace_ops ktrace_name_ops = {
	.func = ktrace_on_name_written,
};

/*
 * Frees the filter of the hook, which was unregistered, or could not be registered. Returns false
 * if ftrace may still call the hook, because it has disabled itself after an internal error.
 */
static bool ktrace_free_name_filter(void)
{
	if (ktrace_name_ops.flags & FTRACE_OPS_FL_ENABLED)
		return false;
	ftrace_free_filter(&ktrace_name_ops);
	return true;
}

int ktrace_watch_names(const struct ktrace_task_callbacks *callbacks)
{
	unsigned char function[] = "perf_event_comm";
	int ret = ftrace_set_filter(&ktrace_name_ops, function, sizeof(function) - 1, 1);

	if (ret)
		return ret == -EINVAL ? -EOPNOTSUPP : ret;
	ktrace_name_ops.private = (void *)callbacks;
	ret = register_ftrace_function(&ktrace_name_ops);
	if (ret)
		ktrace_free_name_filter();
	else
		/* On arm64, a CPU may still execute the instruction from before the hook. */
		kick_all_cpus_sync();
	return ret;
}

bool ktrace_unwatch_names(void)
{
	unregister_ftrace_function(&ktrace_name_ops);
	return ktrace_free_name_filter();
}
