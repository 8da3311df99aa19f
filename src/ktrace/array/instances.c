// SPDX-License-Identifier: GPL-2.0
/*
 * Detects changes in the kernel's tracing of which the kernel notifies no module: an
 * instance is created or removed, an event is enabled, `set_graph_function` is
 * written. instances.rs documents what happens then.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "../helpers.h"

/* Defined in symbols.c. */
int ktrace_call_task_work_add(struct task_struct *task, struct callback_head *work,
			      enum task_work_notify_mode mode);

/*
 * Task work that runs before the system call that caused it returns, but after it has
 * released its locks. For kernel threads, and if all slots are in use, a workqueue
 * runs it soon after. It is queued in the handler of a kprobe, which may do no more
 * than an NMI handler.
 */
static struct callback_head ktrace_works[32];
static unsigned long ktrace_work_bitmap;
static atomic_t ktrace_works_pending = ATOMIC_INIT(0);

/* Changes since ktrace_take_changes() was last called: KTRACE_CHANGED_* in helpers.h. */
static atomic_t ktrace_changed = ATOMIC_INIT(0);

/* The task whose work is queued and will handle the changes. */
static struct task_struct *ktrace_looks;

u32 ktrace_take_changes(void)
{
	WRITE_ONCE(ktrace_looks, NULL);
	return atomic_xchg(&ktrace_changed, 0);
}

static ktrace_instances_changed_t ktrace_instances_changed;

static void ktrace_run_work(struct work_struct *unused)
{
	ktrace_instances_changed();
}
static DECLARE_WORK(ktrace_work, ktrace_run_work);

static void ktrace_queue_work(struct irq_work *unused)
{
	schedule_work(&ktrace_work);
}
static DEFINE_IRQ_WORK(ktrace_irq_work, ktrace_queue_work);

static void ktrace_run_task_work(struct callback_head *head)
{
	clear_bit(head - ktrace_works, &ktrace_work_bitmap);
	ktrace_instances_changed();
	atomic_dec(&ktrace_works_pending);
}

static void ktrace_defer(void)
{
	unsigned int i;

	if (current->flags & PF_KTHREAD)
		goto soon;
	for (i = 0; i < ARRAY_SIZE(ktrace_works); i++) {
		if (test_and_set_bit(i, &ktrace_work_bitmap))
			continue;
		init_task_work(&ktrace_works[i], ktrace_run_task_work);
		atomic_inc(&ktrace_works_pending);
		if (!ktrace_call_task_work_add(current, &ktrace_works[i], TWA_NMI_CURRENT))
			return;
		atomic_dec(&ktrace_works_pending);
		clear_bit(i, &ktrace_work_bitmap);
		break;
	}
soon:
	irq_work_queue(&ktrace_irq_work);
}

/* One system call may enable all events; its task needs only one work item. */
static void ktrace_note(u32 what)
{
	if (atomic_fetch_or(what, &ktrace_changed) & what && READ_ONCE(ktrace_looks) == current)
		return;
	WRITE_ONCE(ktrace_looks, current);
	ktrace_defer();
}

/*
 * Whether the probes are registered. Cleared before they are unregistered, followed by a
 * grace period, after which ktrace_look_at_instances() defers no more work.
 */
static bool ktrace_watching;

/*
 * Has the instances checked again before this system call returns. The probes miss
 * instances that are created while kprobes are turned off (debugfs, kprobes/enabled),
 * and there is no notification when they are turned on again, so this is called when
 * the module is used.
 */
void ktrace_look_at_instances(void)
{
	/* Preemption is off, as in the probes, so that synchronize_rcu() waits for this too. */
	preempt_disable();
	if (READ_ONCE(ktrace_watching))
		ktrace_note(KTRACE_CHANGED_INSTANCES);
	preempt_enable();
}

static int ktrace_on_instances(struct kprobe *probe, struct pt_regs *regs)
{
	ktrace_note(KTRACE_CHANGED_INSTANCES);
	return 0;
}

static int ktrace_on_events(struct kprobe *probe, struct pt_regs *regs)
{
	ktrace_note(KTRACE_CHANGED_EVENTS);
	return 0;
}

static int ktrace_on_functions(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	ktrace_note(KTRACE_CHANGED_FUNCTIONS);
	return 0;
}

static struct kprobe ktrace_instance_add_kp = {
	.symbol_name = "ftrace_init_tracefs",
	.pre_handler = ktrace_on_instances,
};

static struct kprobe ktrace_instance_del_kp = {
	.symbol_name = "ftrace_destroy_function_files",
	.pre_handler = ktrace_on_instances,
};

static struct kprobe ktrace_event_enable_kp = {
	.symbol_name = "__ftrace_event_enable_disable",
	.pre_handler = ktrace_on_events,
};

static struct kprobe *ktrace_watch[] = {
	&ktrace_instance_add_kp,
	&ktrace_instance_del_kp,
	&ktrace_event_enable_kp,
};

/* Writes to `set_graph_function` and `set_graph_notrace` take effect at close(). */
static struct kretprobe ktrace_closes = {
	.kp.symbol_name = "ftrace_graph_release",
	.handler = ktrace_on_functions,
	.maxactive = 64,
};

int ktrace_watch_instances(ktrace_instances_changed_t changed)
{
	int ret = ktrace_set_callbacks(&ktrace_instances_changed, changed);

	if (ret)
		return ret;
	ret = register_kprobes(ktrace_watch, ARRAY_SIZE(ktrace_watch));
	if (ret)
		return ret;
	ret = register_kretprobe(&ktrace_closes);
	if (ret)
		unregister_kprobes(ktrace_watch, ARRAY_SIZE(ktrace_watch));
	WRITE_ONCE(ktrace_watching, !ret);
	return ret;
}

void ktrace_unwatch_instances(void)
{
	WRITE_ONCE(ktrace_watching, false);
	synchronize_rcu();
	unregister_kretprobe(&ktrace_closes);
	unregister_kprobes(ktrace_watch, ARRAY_SIZE(ktrace_watch));
	/* Tasks that hit a probe may not have run their task work yet. */
	while (atomic_read(&ktrace_works_pending))
		schedule_timeout_uninterruptible(1);
	irq_work_sync(&ktrace_irq_work);
	cancel_work_sync(&ktrace_work);
	/* A task may have been preempted in the last instructions of the callback. */
	synchronize_rcu_tasks();
}
