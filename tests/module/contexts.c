// SPDX-License-Identifier: GPL-2.0
/* Calls a function in each possible context. */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/sysrq.h>
#include <linux/wait.h>

#include "contexts.h"

/* A function that can be traced; ktrace_test_fire() is in Rust. */
noinline void ktrace_test_here(void)
{
	ktrace_test_fire();
	/* Prevents a tail call, here and in callers. */
	barrier();
}

/* A single call site: calls in different contexts differ only in the context. */
static noinline void call(void)
{
	ktrace_test_here();
	/* Prevents a tail call. */
	barrier();
}

static void from_task(void)
{
	call();
}

static void from_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	call();
	local_irq_restore(flags);
}

static void from_bh_off(void)
{
	local_bh_disable();
	call();
	local_bh_enable();
}

static void hardirq_func(struct irq_work *work)
{
	call();
}

static void from_hardirq(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(hardirq_func);

	irq_work_queue(&work);
	irq_work_sync(&work);
}

static void softirq_func(struct tasklet_struct *tasklet)
{
	call();
}

static void from_softirq(void)
{
	static DECLARE_TASKLET(tasklet, softirq_func);

	tasklet_schedule(&tasklet);
	tasklet_unlock_wait(&tasklet);
	tasklet_kill(&tasklet);
}

/*
 * To show what each CPU does, sysrq-l sends NMIs, whose handler calls show_regs(). A
 * kprobe there gets control in the NMI.
 */
static int nmi_func(struct kprobe *probe, struct pt_regs *regs)
{
	if (in_nmi())
		call();
	return 0;
}

static int from_nmi(void)
{
	struct kprobe probe = { .symbol_name = "show_regs", .pre_handler = nmi_func };
	int ret;

	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	handle_sysrq('l');
	unregister_kprobe(&probe);
	return 0;
}

/* Number of writes of "go". */
static unsigned int steps;
static DECLARE_WAIT_QUEUE_HEAD(steps_queue);

static void go(void)
{
	WRITE_ONCE(steps, steps + 1);
	wake_up_all(&steps_queue);
}

/* Longer than a test needs, and shorter than the time after which the kernel reports a lockup. */
#define SPIN_MS 10000

/*
 * Not a context: a task that sleeps until the first "go", then spins with preemption disabled until
 * the second one, so that the test can make changes, and is woken up before it has gone to sleep
 * again.
 */
static void wake_self(void)
{
	unsigned int begin = READ_ONCE(steps);
	unsigned int ms;

	if (wait_event_interruptible(steps_queue, READ_ONCE(steps) != begin))
		return;
	preempt_disable();
	for (ms = 0; ms < SPIN_MS && READ_ONCE(steps) == begin + 1; ms++)
		mdelay(1);
	set_current_state(TASK_INTERRUPTIBLE);
	wake_up_process(current);
	preempt_enable();
}

static const struct {
	const char *name;
	void (*call)(void);
} contexts[] = {
	{ "task", from_task },
	{ "irqs-off", from_irqs_off },
	{ "bh-off", from_bh_off },
	{ "softirq", from_softirq },
	{ "hardirq", from_hardirq },
	{ "woken", wake_self },
	{ "go", go },
};

int ktrace_test_in(const char *context, unsigned long len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		if (len != strlen(contexts[i].name) || strncmp(context, contexts[i].name, len))
			continue;
		contexts[i].call();
		return 0;
	}
	if (len == 3 && !strncmp(context, "nmi", len))
		return from_nmi();
	return -EINVAL;
}
