// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with a known call structure and known durations, which tests of the call graph trace.
 * `tree WHAT [NUMBER]` in the file `fire` calls one of them.
 *
 *	root N		root calls branch twice, which calls leaf twice, for N * 100 us and
 *			N * 200 us each, then sleep(N)
 *	burn US		root_burn calls leaf, which computes for US
 *	sleep MS	root_sleep calls sleep, which sleeps for MS
 *	naps N		root_naps calls sleep N times, for 10 ms each
 *	wake MS		root_wake calls sleep, which sleeps for MS, then branch
 *	hold MS		root_hold holds the lock for MS
 *	lock		root_lock calls take, which waits for the lock
 *	printk N	printk calls __trace_puts()
 *	move CPU	root_move calls move, which ends on another CPU
 *	tail		root_tail calls tail, which makes a tail call of leaf
 *	deep N		root_deep calls itself, N levels deep
 *	value N		root_value returns N
 *	irq		root_irq is interrupted, and in_irq is called
 *	irqs-off US	root_irqs_off calls leaf twice, for US each, with interrupts off
 *	preempt-off US	root_preempt_off does so with preemption off, and is interrupted before and
 *			in between; in_irq calls leaf twice, for US each
 *	irqs-apart MS	root_irqs_apart calls leaf twice with interrupts off, and computes for MS in
 *			between, with preemption off
 *	stack US	root_stack calls big, which has 1500 bytes of variables and calls leaf,
 *			for US
 *	naps-apart MS	root_naps_apart calls leaf twice with preemption off, and sleeps for MS in
 *			between
 *	softirq US	root_softirq runs a softirq, in which in_softirq calls leaf for US
 *	softirq-later US
 *			root_softirq_later sleeps until ksoftirqd has run such a softirq
 *	irq-nap US	root_irq_nap is interrupted by in_irq, which calls leaf twice, for US each,
 *			then it sleeps
 *	irq-elsewhere US
 *			root_irq_elsewhere calls await with interrupts off, which computes as long
 *			as an interrupt of another CPU does, for US
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "contexts.h"
#include "tree.h"

static DEFINE_MUTEX(tree_mutex);

/* Prevents tail calls. */
#define STAY() barrier()

noinline int tree_leaf(long us)
{
	u64 end = ktime_get_ns() + us * NSEC_PER_USEC;

	do
		cpu_relax();
	while (ktime_get_ns() < end);
	STAY();
	return 0;
}

noinline int tree_branch(long us)
{
	tree_leaf(us);
	tree_leaf(us);
	STAY();
	return 0;
}

noinline int tree_sleep(long ms)
{
	usleep_range(ms * 1000, ms * 1000 + 50);
	STAY();
	return 0;
}

noinline int tree_take(void)
{
	mutex_lock(&tree_mutex);
	STAY();
	return 0;
}

noinline int tree_move(long cpu)
{
	int ret = set_cpus_allowed_ptr(current, cpumask_of(cpu));

	STAY();
	return ret;
}

noinline int tree_tail(long us)
{
	STAY();
	return tree_leaf(us);
}

/* How long the next interrupt calls leaf. */
static long tree_irq_us;

noinline void tree_in_irq(struct irq_work *work)
{
	if (tree_irq_us) {
		tree_leaf(tree_irq_us);
		tree_leaf(tree_irq_us);
	}
	STAY();
}

noinline int tree_root(long n)
{
	tree_branch(n * 100);
	tree_branch(n * 200);
	tree_sleep(n);
	STAY();
	return 0;
}

noinline int tree_root_burn(long n)
{
	tree_leaf(n);
	STAY();
	return 0;
}

noinline int tree_root_sleep(long n)
{
	tree_sleep(n);
	STAY();
	return 0;
}

noinline int tree_root_naps(long n)
{
	while (n-- > 0)
		tree_sleep(10);
	STAY();
	return 0;
}

noinline int tree_root_wake(long n)
{
	tree_sleep(n);
	tree_branch(1);
	STAY();
	return 0;
}

noinline int tree_root_hold(long n)
{
	mutex_lock(&tree_mutex);
	msleep(n);
	mutex_unlock(&tree_mutex);
	STAY();
	return 0;
}

noinline int tree_root_lock(long n)
{
	tree_take();
	mutex_unlock(&tree_mutex);
	STAY();
	return 0;
}

noinline int tree_root_move(long n)
{
	int ret;

	if (n < 0 || n >= nr_cpu_ids || !cpu_online(n))
		return -EINVAL;
	ret = tree_move(n);
	STAY();
	return ret;
}

noinline int tree_root_tail(long n)
{
	tree_tail(n);
	STAY();
	return 0;
}

noinline int tree_root_deep(long n)
{
	int ret = 0;

	if (n > 1)
		ret = tree_root_deep(n - 1);
	STAY();
	return ret;
}

noinline int tree_root_value(long n)
{
	STAY();
	return n;
}

static __always_inline void tree_interrupt(void)
{
	static struct irq_work work = IRQ_WORK_INIT_HARD(tree_in_irq);

	irq_work_queue(&work);
	while (irq_work_is_busy(&work))
		cpu_relax();
}

noinline int tree_root_irq(long n)
{
	tree_interrupt();
	STAY();
	return 0;
}

noinline int tree_root_irqs_off(long us)
{
	unsigned long flags;

	local_irq_save(flags);
	tree_leaf(us);
	tree_leaf(us);
	local_irq_restore(flags);
	STAY();
	return 0;
}

noinline int tree_root_preempt_off(long us)
{
	preempt_disable();
	tree_irq_us = us;
	tree_interrupt();
	tree_leaf(us);
	tree_irq_us = 0;
	tree_interrupt();
	tree_leaf(us);
	preempt_enable();
	STAY();
	return 0;
}

static __always_inline void tree_leaf_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	tree_leaf(10);
	local_irq_restore(flags);
}

noinline int tree_root_irqs_apart(long ms)
{
	u64 end;

	preempt_disable();
	tree_leaf_irqs_off();
	end = ktime_get_ns() + ms * NSEC_PER_MSEC;
	while (ktime_get_ns() < end)
		cpu_relax();
	tree_leaf_irqs_off();
	preempt_enable();
	STAY();
	return 0;
}

static __always_inline void tree_leaf_preempt_off(void)
{
	preempt_disable();
	tree_leaf(10);
	preempt_enable();
}

noinline int tree_root_naps_apart(long ms)
{
	tree_leaf_preempt_off();
	msleep(ms);
	tree_leaf_preempt_off();
	STAY();
	return 0;
}

noinline int tree_big(long us)
{
	char place[1500];

	memset(place, us, sizeof(place));
	barrier_data(place);
	tree_leaf(us);
	barrier_data(place);
	return place[0];
}

noinline int tree_root_stack(long us)
{
	tree_big(us);
	STAY();
	return 0;
}

/* How long the next softirq calls leaf. */
static long tree_softirq_us;

noinline void tree_in_softirq(struct tasklet_struct *tasklet)
{
	tree_leaf(tree_softirq_us);
	STAY();
}

noinline int tree_root_softirq(long us)
{
	static DECLARE_TASKLET(tasklet, tree_in_softirq);

	tree_softirq_us = us;
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_unlock_wait(&tasklet);
	STAY();
	return 0;
}

noinline int tree_root_softirq_later(long us)
{
	static DECLARE_TASKLET(tasklet, tree_in_softirq);

	tree_softirq_us = us;
	/* The kernel leaves softirqs to ksoftirqd that are raised outside of interrupts. */
	tasklet_schedule(&tasklet);
	tasklet_kill(&tasklet);
	STAY();
	return 0;
}

noinline int tree_root_irq_nap(long us)
{
	preempt_disable();
	tree_irq_us = us;
	tree_interrupt();
	tree_irq_us = 0;
	preempt_enable();
	msleep(20);
	STAY();
	return 0;
}

static bool tree_is_over;

noinline void tree_await(void)
{
	while (!READ_ONCE(tree_is_over))
		cpu_relax();
}

static void tree_elsewhere(void *us)
{
	u64 end = ktime_get_ns() + (long)us * NSEC_PER_USEC;

	while (ktime_get_ns() < end)
		cpu_relax();
	WRITE_ONCE(tree_is_over, true);
}

noinline int tree_root_irq_elsewhere(long us)
{
	static call_single_data_t call;
	unsigned long flags;
	unsigned int cpu;
	int ret;

	local_irq_save(flags);
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	WRITE_ONCE(tree_is_over, false);
	INIT_CSD(&call, tree_elsewhere, (void *)us);
	ret = smp_call_function_single_async(cpu, &call);
	if (!ret)
		tree_await();
	local_irq_restore(flags);
	STAY();
	return ret;
}

typedef int (*tree_puts_t)(unsigned long ip, const char *text);
typedef int (*tree_puts_size_t)(unsigned long ip, const char *text, int size);

static int tree_puts(void *puts, const char *text)
{
	return ((tree_puts_t)puts)(_THIS_IP_, text);
}

static int tree_puts_size(void *puts, const char *text)
{
	return ((tree_puts_size_t)puts)(_THIS_IP_, text, strlen(text));
}

noinline int tree_printk(long n)
{
	/*
	 * Not trace_printk(), for which the kernel prints a notice. Some kernels (6.18) want the
	 * size of the text.
	 */
	_Generic(&__trace_puts, tree_puts_t : tree_puts, tree_puts_size_t : tree_puts_size)
		(__trace_puts, "the tree speaks\n");
	STAY();
	return 0;
}

static const struct {
	const char *name;
	int (*call)(long n);
	bool has_result;
} trees[] = {
	{ "root", tree_root },
	{ "burn", tree_root_burn },
	{ "sleep", tree_root_sleep },
	{ "naps", tree_root_naps },
	{ "wake", tree_root_wake },
	{ "hold", tree_root_hold },
	{ "lock", tree_root_lock },
	{ "move", tree_root_move },
	{ "tail", tree_root_tail },
	{ "deep", tree_root_deep },
	{ "value", tree_root_value, true },
	{ "irq", tree_root_irq },
	{ "irqs-off", tree_root_irqs_off },
	{ "preempt-off", tree_root_preempt_off },
	{ "irqs-apart", tree_root_irqs_apart },
	{ "naps-apart", tree_root_naps_apart },
	{ "stack", tree_root_stack },
	{ "softirq", tree_root_softirq },
	{ "softirq-later", tree_root_softirq_later },
	{ "irq-nap", tree_root_irq_nap },
	{ "irq-elsewhere", tree_root_irq_elsewhere },
	{ "printk", tree_printk },
};

int ktrace_test_tree(const char *which, unsigned long len, long n)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(trees); i++) {
		if (len != strlen(trees[i].name) || strncmp(which, trees[i].name, len))
			continue;
		ret = trees[i].call(n);
		return trees[i].has_result ? 0 : ret;
	}
	return -EINVAL;
}
