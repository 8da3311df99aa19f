// SPDX-License-Identifier: GPL-2.0
/*
 * Which interrupt or softirq each CPU handles. irqs.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "../helpers.h"
#include "../private/probes.h"

/* Codes of interrupts: 0 is none, the next ones are softirqs, then there are names. */
#define KTRACE_FIRST_IRQ 16
#define KTRACE_NR_IRQ_NAMES 1024

struct ktrace_irq_name {
	/* The number of the interrupt plus 1; 0 if there is no name. */
	unsigned int irq;
	char name[TASK_COMM_LEN];
};

static struct ktrace_irq_name ktrace_irq_names[KTRACE_NR_IRQ_NAMES];

static DEFINE_PER_CPU(u16, ktrace_hardirq_now);
static DEFINE_PER_CPU(u16, ktrace_softirq_now);

static_assert(NR_SOFTIRQS < KTRACE_FIRST_IRQ);

/* The probes are called with interrupts off, or with softirqs off. */
static void notrace ktrace_on_irq_entry(void *data, int irq, struct irqaction *action)
{
	unsigned int index = (unsigned int)irq % KTRACE_NR_IRQ_NAMES;
	struct ktrace_irq_name *place = &ktrace_irq_names[index];
	const char *name = action->name ?: "";

	if (READ_ONCE(place->irq) != irq + 1 ||
	    strncmp(place->name, name, sizeof(place->name) - 1)) {
		WRITE_ONCE(place->irq, 0);
		strscpy(place->name, name, sizeof(place->name));
		WRITE_ONCE(place->irq, irq + 1);
	}
	__this_cpu_write(ktrace_hardirq_now, KTRACE_FIRST_IRQ + index);
}

static void notrace ktrace_on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	__this_cpu_write(ktrace_hardirq_now, 0);
}

static void notrace ktrace_on_softirq_entry(void *data, unsigned int vector)
{
	__this_cpu_write(ktrace_softirq_now, vector + 1);
}

static void notrace ktrace_on_softirq_exit(void *data, unsigned int vector)
{
	__this_cpu_write(ktrace_softirq_now, 0);
}

static struct ktrace_probe ktrace_irq_probes[] = {
	{ "irq_handler_entry", ktrace_on_irq_entry },
	{ "irq_handler_exit", ktrace_on_irq_exit },
	{ "softirq_entry", ktrace_on_softirq_entry },
	{ "softirq_exit", ktrace_on_softirq_exit },
};

int ktrace_watch_irqs(void)
{
	unsigned int cpu;

	if (ktrace_find_probes(ktrace_irq_probes, ARRAY_SIZE(ktrace_irq_probes)))
		return -EOPNOTSUPP;
	for_each_possible_cpu(cpu) {
		per_cpu(ktrace_hardirq_now, cpu) = 0;
		per_cpu(ktrace_softirq_now, cpu) = 0;
	}
	return ktrace_attach_probes(ktrace_irq_probes, ARRAY_SIZE(ktrace_irq_probes), NULL);
}

void ktrace_unwatch_irqs(void)
{
	ktrace_detach_probes(ktrace_irq_probes, ARRAY_SIZE(ktrace_irq_probes), NULL);
}

/* The code of what this CPU handles. Preemption must be off. */
u16 ktrace_irq_now(bool is_softirq)
{
	return is_softirq ? __this_cpu_read(ktrace_softirq_now) :
			    __this_cpu_read(ktrace_hardirq_now);
}

/* Writes the name of an interrupt, which is not a softirq, to @name of TASK_COMM_LEN bytes. */
bool ktrace_irq_name(u16 code, char *name)
{
	const struct ktrace_irq_name *place;

	if (code < KTRACE_FIRST_IRQ || code >= KTRACE_FIRST_IRQ + KTRACE_NR_IRQ_NAMES)
		return false;
	place = &ktrace_irq_names[code - KTRACE_FIRST_IRQ];
	if (!READ_ONCE(place->irq))
		return false;
	strscpy(name, place->name, TASK_COMM_LEN);
	return true;
}
