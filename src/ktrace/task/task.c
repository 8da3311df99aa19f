// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on tracepoints in the life of a task, with the prototypes that the kernel
 * calls them with. Their data is the table of callbacks.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "../callbacks.h"
#include "../helpers.h"
#include "../private/probes.h"
#include "trace_mask.h"

static void notrace ktrace_probe_switch(void *data, bool preempt,
					struct task_struct *prev,
					struct task_struct *next,
					unsigned int prev_state)
{
	ktrace_switched(this_cpu_ptr(&ktrace_mask.wanted), preempt, prev, next, prev_state);
}

static void notrace ktrace_probe_newtask(void *data, struct task_struct *task,
					 u64 clone_flags)
{
	const struct ktrace_task_callbacks *callbacks = data;

	callbacks->new_task(current, task);
}

static void notrace ktrace_probe_rename(void *data, struct task_struct *task,
					const char *comm)
{
	const struct ktrace_task_callbacks *callbacks = data;

	callbacks->rename(task, comm);
}

static void notrace ktrace_probe_prepare_exec(void *data, struct task_struct *task,
					      struct linux_binprm *bprm)
{
	const struct ktrace_task_callbacks *callbacks = data;

	callbacks->prepare_exec(task);
}

static void notrace ktrace_probe_exec(void *data, struct task_struct *task,
				      pid_t old_pid, struct linux_binprm *bprm)
{
	const struct ktrace_task_callbacks *callbacks = data;

	callbacks->exec(task, old_pid);
}

static void notrace ktrace_probe_free(void *data, struct task_struct *task)
{
	const struct ktrace_task_callbacks *callbacks = data;

	callbacks->free(task);
}

static struct ktrace_probe ktrace_task_probes[] = {
	{ "sched_process_free", ktrace_probe_free },
	{ "sched_process_exec", ktrace_probe_exec, KTRACE_RANK_MASK },
	{ "sched_prepare_exec", ktrace_probe_prepare_exec },
	{ "task_rename", ktrace_probe_rename, KTRACE_RANK_MASK },
	{ "task_newtask", ktrace_probe_newtask },
	{ "sched_switch", ktrace_probe_switch },
};

/* For the work. */
static const struct ktrace_task_callbacks *ktrace_task_callbacks;

static void ktrace_reclaim_run(struct work_struct *work)
{
	ktrace_task_callbacks->reclaim();
}

static DECLARE_WORK(ktrace_reclaim_work, ktrace_reclaim_run);

void ktrace_reclaim_later(void)
{
	queue_work(system_long_wq, &ktrace_reclaim_work);
}

const char *ktrace_find_task_probes(void)
{
	return ktrace_find_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));
}

int ktrace_attach_task_probes(const struct ktrace_task_callbacks *callbacks)
{
	int ret = ktrace_set_callbacks(&ktrace_task_callbacks, callbacks);

	if (ret)
		return ret;
	ret = ktrace_attach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes), callbacks);
	if (ret)
		cancel_work_sync(&ktrace_reclaim_work);
	return ret;
}

void ktrace_detach_task_probes(void)
{
	ktrace_detach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes),
			     ktrace_task_callbacks);
	/* The work is queued by probes, by itself, and by the callers that detach the probes. */
	cancel_work_sync(&ktrace_reclaim_work);
}

void ktrace_visit_tasks(void *visitor)
{
	struct task_struct *process, *thread;

	rcu_read_lock();
	/* for_each_thread() refers to a lock that is not exported. */
	for_each_process(process)
		list_for_each_entry_rcu(thread, &process->signal->thread_head,
					thread_node)
			ktrace_visit_task(visitor, thread);
	rcu_read_unlock();
}
