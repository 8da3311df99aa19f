// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on the scheduler's tracepoints, with the prototypes that the kernel calls
 * them with. Each only does what Rust cannot: call static inlines, and access members
 * of structs that Rust does not know. Their data is the table of callbacks.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/binfmts.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "../callbacks.h"
#include "../private/probes.h"
#include "sched.h"

u64 ktrace_sched_now(void)
{
	return local_clock();
}

/*
 * Returns a task state as the kernel's own events report it: one bit, or 0. The
 * exit_state counts only if the task will never run again (TASK_DEAD): a task that has
 * set it and then sleeps once more is reported as sleeping.
 */
static unsigned int ktrace_report(unsigned int state, struct task_struct *task)
{
	unsigned int ended = state & TASK_DEAD ? task->exit_state : 0;
	unsigned int index = __task_state_index(state, ended);

	return index ? 1U << (index - 1) : 0;
}

/* The tasks whose switches are reported: bits of the trace mask, or KTRACE_EVERYONE. */
u64 ktrace_sched_followed;

/* Called by the probe that sets the trace mask, with the bits of both tasks. */
void notrace ktrace_on_switch(bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state,
			      u32 prev_bits, u32 next_bits)
{
	u64 followed = READ_ONCE(ktrace_sched_followed);
	unsigned int state = TASK_REPORT_MAX;

	if (!preempt)
		state = ktrace_report(prev_state, prev);
	ktrace_sched_switch(prev, next, state,
			    (prev_bits | KTRACE_EVERYONE) & followed,
			    (next_bits | KTRACE_EVERYONE) & followed, local_clock());
}

/* Reports the context of the waker: that of the innermost interrupt. */
static void notrace ktrace_on_waking(void *data, struct task_struct *task)
{
	unsigned int context = 0;

	if (in_nmi())
		context = 3;
	else if (in_hardirq())
		context = 2;
	else if (in_serving_softirq())
		context = 1;
	ktrace_sched_waking(task, context);
}

static void notrace ktrace_on_wakeup(void *data, struct task_struct *task)
{
	ktrace_sched_wakeup(task, task_cpu(task), false, local_clock());
}

static void notrace ktrace_on_wakeup_new(void *data, struct task_struct *task)
{
	ktrace_on_waking(data, task);
	ktrace_sched_wakeup(task, task_cpu(task), true, local_clock());
}

static void notrace ktrace_on_migrate(void *data, struct task_struct *task, int to)
{
	ktrace_sched_migrate(task, task_cpu(task), to);
}

/* Not sched_process_fork, which does not fire for some threads, such as those of io_uring. */
static void notrace ktrace_on_newtask(void *data, struct task_struct *task, u64 flags)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	callbacks->fork(current, task);
}

static void notrace ktrace_on_prepare_exec(void *data, struct task_struct *task,
					   struct linux_binprm *bprm)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	callbacks->prepare_exec(task);
}

static void notrace ktrace_on_exec(void *data, struct task_struct *task,
				   pid_t old_pid, struct linux_binprm *bprm)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	preempt_disable_notrace();
	callbacks->exec(task, old_pid, bprm->filename);
	preempt_enable_notrace();
}

/* Called before the task's bits of the trace mask may change. */
static void notrace ktrace_before_exec(void *data, struct task_struct *task,
				       pid_t old_pid, struct linux_binprm *bprm)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	callbacks->changes(task);
}

static void notrace ktrace_before_rename(void *data, struct task_struct *task,
					 const char *comm)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	callbacks->changes(task);
}

static void notrace ktrace_on_rename(void *data, struct task_struct *task,
				     const char *comm)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	callbacks->rename(task, comm);
}

static void notrace ktrace_on_exit(void *data, struct task_struct *task,
				   bool group_dead)
{
	const struct ktrace_sched_callbacks *callbacks = data;

	preempt_disable_notrace();
	callbacks->exit(task, group_dead, local_clock());
	preempt_enable_notrace();
}

static struct ktrace_probe ktrace_sched_probes[] = {
	{ "sched_process_exit", ktrace_on_exit },
	{ "task_rename", ktrace_on_rename },
	{ "task_rename", ktrace_before_rename, KTRACE_RANK_BEFORE },
	{ "sched_process_exec", ktrace_on_exec },
	{ "sched_process_exec", ktrace_before_exec, KTRACE_RANK_BEFORE },
	{ "sched_prepare_exec", ktrace_on_prepare_exec },
	{ "task_newtask", ktrace_on_newtask },
	{ "sched_migrate_task", ktrace_on_migrate },
	{ "sched_wakeup_new", ktrace_on_wakeup_new },
	{ "sched_wakeup", ktrace_on_wakeup },
	{ "sched_waking", ktrace_on_waking },
};

const char *ktrace_find_sched_probes(void)
{
	return ktrace_find_probes(ktrace_sched_probes, ARRAY_SIZE(ktrace_sched_probes));
}

/* For what no probe calls. */
static const struct ktrace_sched_callbacks *ktrace_sched_callbacks;

void ktrace_sched_changes(struct task_struct *task)
{
	const struct ktrace_sched_callbacks *callbacks = READ_ONCE(ktrace_sched_callbacks);

	if (callbacks)
		callbacks->changes(task);
}

static void ktrace_sched_reclaim_run(struct work_struct *work)
{
	ktrace_sched_callbacks->reclaim();
}

static DECLARE_WORK(ktrace_sched_reclaim_work, ktrace_sched_reclaim_run);

void ktrace_sched_reclaim_later(void)
{
	queue_work(system_long_wq, &ktrace_sched_reclaim_work);
}

int ktrace_attach_sched_probes(const struct ktrace_sched_callbacks *callbacks)
{
	int ret = ktrace_set_callbacks(&ktrace_sched_callbacks, callbacks);

	if (ret)
		return ret;
	ret = ktrace_attach_probes(ktrace_sched_probes, ARRAY_SIZE(ktrace_sched_probes), callbacks);
	if (ret)
		cancel_work_sync(&ktrace_sched_reclaim_work);
	return ret;
}

void ktrace_detach_sched_probes(void)
{
	/* Another probe calls ktrace_on_switch(); ktrace_detach_probes() waits for it too. */
	WRITE_ONCE(ktrace_sched_followed, 0);
	ktrace_detach_probes(ktrace_sched_probes, ARRAY_SIZE(ktrace_sched_probes),
			     ktrace_sched_callbacks);
	cancel_work_sync(&ktrace_sched_reclaim_work);
}

/*
 * Whether a task seems to be blocked at this moment, and in which state. The task may
 * change its state at any time.
 */
bool ktrace_task_blocked(struct task_struct *task, unsigned int *state)
{
	unsigned int sleeps = READ_ONCE(task->__state);

	*state = ktrace_report(sleeps, task);
	if (sleeps & (TASK_NEW | TASK_DEAD) || READ_ONCE(task->on_cpu))
		return false;
	/* A task may be left on its run queue for a while after it went to sleep. */
	if (READ_ONCE(task->on_rq) && !task->se.sched_delayed)
		return false;
	return sleeps != TASK_WAKING && sleeps != TASK_RUNNING;
}
