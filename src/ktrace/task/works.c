// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on work items. works.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/preempt.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "../callbacks.h"
#include "../helpers.h"
#include "../private/probes.h"

static const struct ktrace_work_callbacks *ktrace_work_callbacks;

struct pool_workqueue;

/* Called with a lock of the workqueue held and interrupts off. */
static void notrace ktrace_on_queue_work(void *data, int req_cpu, struct pool_workqueue *pwq,
					 struct work_struct *work)
{
	ktrace_work_callbacks->queued((unsigned long)work, in_task());
}

static void notrace ktrace_on_execute_start(void *data, struct work_struct *work)
{
	ktrace_work_callbacks->started((unsigned long)work);
}

static void notrace ktrace_on_execute_end(void *data, struct work_struct *work,
					  work_func_t function)
{
	ktrace_work_callbacks->ended((unsigned long)work, (unsigned long)function);
}

static struct ktrace_probe ktrace_work_probes[] = {
	{ "workqueue_execute_end", ktrace_on_execute_end },
	{ "workqueue_execute_start", ktrace_on_execute_start },
	{ "workqueue_queue_work", ktrace_on_queue_work },
};

int ktrace_watch_works(const struct ktrace_work_callbacks *callbacks)
{
	int ret = ktrace_set_callbacks(&ktrace_work_callbacks, callbacks);

	if (ret)
		return ret;
	if (ktrace_find_probes(ktrace_work_probes, ARRAY_SIZE(ktrace_work_probes)))
		return -EOPNOTSUPP;
	return ktrace_attach_probes(ktrace_work_probes, ARRAY_SIZE(ktrace_work_probes), NULL);
}

void ktrace_unwatch_works(void)
{
	ktrace_detach_probes(ktrace_work_probes, ARRAY_SIZE(ktrace_work_probes), NULL);
}
