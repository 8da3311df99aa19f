// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on tracepoints in the life of a task, with the prototypes that the kernel
 * calls them with, and the functions that attach these and other probes. task.rs
 * documents the calls to Rust.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "shim.h"

static void notrace ktrace_probe_switch(void *data, bool preempt,
					struct task_struct *prev,
					struct task_struct *next,
					unsigned int prev_state)
{
	ktrace_switched(this_cpu_ptr(&ktrace_gate.wanted), preempt, prev, next, prev_state);
}

static void notrace ktrace_probe_newtask(void *data, struct task_struct *task,
					 u64 clone_flags)
{
	ktrace_new_task(current, task);
}

static void notrace ktrace_probe_rename(void *data, struct task_struct *task,
					const char *comm)
{
	ktrace_rename_task(task, comm);
}

static void notrace ktrace_probe_prepare_exec(void *data, struct task_struct *task,
					      struct linux_binprm *bprm)
{
	ktrace_prepare_exec_task(task);
}

static void notrace ktrace_probe_exec(void *data, struct task_struct *task,
				      pid_t old_pid, struct linux_binprm *bprm)
{
	ktrace_exec_task(task, old_pid);
}

static void notrace ktrace_probe_free(void *data, struct task_struct *task)
{
	ktrace_free_task(task);
}

static struct ktrace_probe ktrace_task_probes[] = {
	{ "sched_process_free", ktrace_probe_free },
	{ "sched_process_exec", ktrace_probe_exec, KTRACE_RANK_GATE },
	{ "sched_prepare_exec", ktrace_probe_prepare_exec },
	{ "task_rename", ktrace_probe_rename, KTRACE_RANK_GATE },
	{ "task_newtask", ktrace_probe_newtask },
	{ "sched_switch", ktrace_probe_switch },
};

static void ktrace_settle_run(struct work_struct *work)
{
	ktrace_settle_tasks();
}

static DECLARE_WORK(ktrace_settle_work, ktrace_settle_run);

void ktrace_settle_later(void)
{
	queue_work(system_long_wq, &ktrace_settle_work);
}

static void ktrace_reclaim_run(struct work_struct *work)
{
	ktrace_reclaim_tasks();
}

static DECLARE_WORK(ktrace_reclaim_work, ktrace_reclaim_run);

void ktrace_reclaim_later(void)
{
	queue_work(system_long_wq, &ktrace_reclaim_work);
}

/* Waits until all tracepoint probes that run now have returned. */
void ktrace_synchronize_probes(void)
{
	tracepoint_synchronize_unregister();
}

static void ktrace_cancel_task_work(void)
{
	cancel_work_sync(&ktrace_settle_work);
	cancel_work_sync(&ktrace_reclaim_work);
}

const char *ktrace_find_task_probes(void)
{
	return ktrace_find_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));
}

int ktrace_attach_task_probes(void)
{
	int ret = ktrace_attach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));

	if (ret)
		ktrace_cancel_task_work();
	return ret;
}

void ktrace_detach_task_probes(void)
{
	ktrace_detach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));
	/* The work is queued by probes, by itself, and by the callers that detach the probes. */
	ktrace_cancel_task_work();
}

/* Sets of probes on kernel tracepoints */

struct ktrace_search {
	struct ktrace_probe *probes;
	unsigned int nr;
};

static void ktrace_match_probe(struct tracepoint *tp, void *data)
{
	const struct ktrace_search *search = data;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tp->name, search->probes[i].name))
			search->probes[i].tp = tp;
}

/* Finds the tracepoints. Returns the name of one that does not exist, or NULL. */
const char *ktrace_find_probes(struct ktrace_probe *probes, unsigned int nr)
{
	struct ktrace_search search = { .probes = probes, .nr = nr };
	unsigned int i;

	for_each_kernel_tracepoint(ktrace_match_probe, &search);
	for (i = 0; i < nr; i++)
		if (!probes[i].tp)
			return probes[i].name;
	return NULL;
}

void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func, NULL);
	tracepoint_synchronize_unregister();
}

/* Attaches all probes or none. */
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		if (probes[i].rank)
			ret = tracepoint_probe_register_prio(probes[i].tp, probes[i].func,
							     NULL, probes[i].rank);
		else
			ret = tracepoint_probe_register(probes[i].tp, probes[i].func, NULL);
		if (ret) {
			ktrace_detach_probes(probes, i);
			return ret;
		}
	}
	return 0;
}

/* Probes on comm changes, for any number of users, each with a different address. */
static void notrace ktrace_probe_name(void *user, struct task_struct *task,
				      const char *comm)
{
	ktrace_name_of_changes(task);
}

static struct ktrace_probe ktrace_name_probe = { "task_rename", ktrace_probe_name };

const char *ktrace_find_name_probe(void)
{
	return ktrace_find_probes(&ktrace_name_probe, 1);
}

int ktrace_attach_name_probe(void *user)
{
	return tracepoint_probe_register(ktrace_name_probe.tp, ktrace_name_probe.func, user);
}

void ktrace_detach_name_probe(void *user)
{
	tracepoint_probe_unregister(ktrace_name_probe.tp, ktrace_name_probe.func, user);
	tracepoint_synchronize_unregister();
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
