// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of context switches and interrupts of each CPU. cpu_events.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/hardirq.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "../helpers.h"
#include "../private/probes.h"
#include "members.h"

struct ktrace_switched_to {
	struct task_struct *task;
	u32 nr;
};

static DEFINE_PER_CPU(struct ktrace_switched_to, ktrace_switched_to);

static void notrace ktrace_count_switch(void *data, bool preempt, struct task_struct *prev,
					struct task_struct *next, unsigned int prev_state)
{
	__this_cpu_inc(ktrace_switched_to.nr);
	__this_cpu_write(ktrace_switched_to.task, next);
}

static struct ktrace_probe ktrace_switch_probe = { "sched_switch", ktrace_count_switch };

int ktrace_watch_switches(void)
{
	unsigned int cpu;

	if (ktrace_find_probes(&ktrace_switch_probe, 1))
		return -EOPNOTSUPP;
	for_each_possible_cpu(cpu)
		per_cpu(ktrace_switched_to.task, cpu) = NULL;
	return ktrace_attach_probes(&ktrace_switch_probe, 1, NULL);
}

void ktrace_unwatch_switches(void)
{
	ktrace_detach_probes(&ktrace_switch_probe, 1, NULL);
}

u32 ktrace_switches_here(void)
{
	struct task_struct *task = __this_cpu_read(ktrace_switched_to.task);
	u32 nr = __this_cpu_read(ktrace_switched_to.nr);

	/* The probe runs before the switch: the previous task may still run. */
	return task && task != current ? nr - 1 : nr;
}

u64 ktrace_irqs_handled(void)
{
	u64 sum = __this_cpu_read(kstat.irqs_sum);

#ifdef CONFIG_X86_LOCAL_APIC
#ifdef KTRACE_HAS_irq_stat_counts
	sum += __this_cpu_read(irq_stat.counts[IRQ_COUNT_APIC_TIMER]);
#if IS_ENABLED(CONFIG_HYPERV)
	sum += __this_cpu_read(irq_stat.counts[IRQ_COUNT_HYPERV_STIMER0]);
#endif
#else
	sum += __this_cpu_read(irq_stat.apic_timer_irqs);
#if IS_ENABLED(CONFIG_HYPERV)
	sum += __this_cpu_read(irq_stat.hyperv_stimer0_count);
#endif
#endif
#endif
	return sum;
}
