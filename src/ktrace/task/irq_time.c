// SPDX-License-Identifier: GPL-2.0
/*
 * How long each CPU handles interrupts and softirqs. irq_time.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "../helpers.h"
#include "../private/probes.h"

struct ktrace_irq_time {
	/* The number of nested interrupts and softirqs that the CPU handles. */
	unsigned int depth;
	/* When the outermost one began, in ns of the scheduler's clock. */
	u64 begun_ns;
	/* The total time of those that have ended, in ns, now and at the latest context switch. */
	u64 total_ns;
	u64 at_switch_ns;
	/* The part of the total in the time between the two latest context switches. */
	u64 last_run_ns;
};

static DEFINE_PER_CPU(struct ktrace_irq_time, ktrace_irq_time);

/* True while the probes are attached. Rust code reads it, too. */
struct ktrace_irq_time_key {
	struct static_key_false key;
} ktrace_irq_time_on = { STATIC_KEY_FALSE_INIT };

/* Interrupts must be off, so that no other one changes the state at the same time. */
static __always_inline void ktrace_irq_begins(void)
{
	if (__this_cpu_inc_return(ktrace_irq_time.depth) == 1)
		__this_cpu_write(ktrace_irq_time.begun_ns, local_clock());
}

static __always_inline void ktrace_irq_ends(void)
{
	s64 ns;

	/* 0: it began before the probes were attached. */
	if (!__this_cpu_read(ktrace_irq_time.depth) ||
	    __this_cpu_dec_return(ktrace_irq_time.depth))
		return;
	ns = local_clock() - __this_cpu_read(ktrace_irq_time.begun_ns);
	if (ns > 0)
		__this_cpu_add(ktrace_irq_time.total_ns, ns);
}

/* On arm64, an NMI may be handled as an interrupt. It could find the state half-written. */
static void notrace ktrace_irq_time_entry(void *data, int irq, struct irqaction *action)
{
	if (!in_nmi())
		ktrace_irq_begins();
}

static void notrace ktrace_irq_time_exit(void *data, int irq, struct irqaction *action, int ret)
{
	if (!in_nmi())
		ktrace_irq_ends();
}

/* A softirq in ksoftirqd is what that task does, not an interrupt on top of it. */
static bool notrace ktrace_in_ksoftirqd(void)
{
	static const char name[] = "ksoftirqd/";

	return current->flags & PF_KTHREAD && !strncmp(current->comm, name, sizeof(name) - 1);
}

static void notrace ktrace_softirq_time_entry(void *data, unsigned int vector)
{
	unsigned long flags;

	if (ktrace_in_ksoftirqd())
		return;
	raw_local_irq_save(flags);
	ktrace_irq_begins();
	raw_local_irq_restore(flags);
}

static void notrace ktrace_softirq_time_exit(void *data, unsigned int vector)
{
	unsigned long flags;

	if (ktrace_in_ksoftirqd())
		return;
	raw_local_irq_save(flags);
	ktrace_irq_ends();
	raw_local_irq_restore(flags);
}

/* Called with interrupts off, before the functions that account the tasks. */
static void notrace ktrace_irq_time_switch(void *data, bool preempt, struct task_struct *prev,
					   struct task_struct *next, unsigned int prev_state)
{
	u64 total_ns = __this_cpu_read(ktrace_irq_time.total_ns);
	u64 before_ns = __this_cpu_read(ktrace_irq_time.at_switch_ns);

	__this_cpu_write(ktrace_irq_time.last_run_ns, total_ns - before_ns);
	__this_cpu_write(ktrace_irq_time.at_switch_ns, total_ns);
}

/*
 * Those at ends are attached first and detached last, so no interrupt is seen without its end. On
 * PREEMPT_RT, softirqs are handled by tasks, which may lose the CPU in them.
 */
static struct ktrace_probe ktrace_irq_time_probes[] = {
	{ "sched_switch", ktrace_irq_time_switch, KTRACE_RANK_BEFORE },
	{ "irq_handler_exit", ktrace_irq_time_exit },
	{ "irq_handler_entry", ktrace_irq_time_entry },
#ifndef CONFIG_PREEMPT_RT
	{ "softirq_exit", ktrace_softirq_time_exit },
	{ "softirq_entry", ktrace_softirq_time_entry },
#endif
};

#ifdef CONFIG_X86_LOCAL_APIC
/*
 * The interrupts that belong to a CPU. On arm64, these are handled like those of devices, as
 * irq_handler_entry and irq_handler_exit report.
 */
static void notrace ktrace_vector_entry(void *data, int vector)
{
	ktrace_irq_begins();
}

static void notrace ktrace_vector_exit(void *data, int vector)
{
	ktrace_irq_ends();
}

/* Some kernels do not have all of them. */
static struct ktrace_probe ktrace_vector_probes[] = {
	{ "local_timer_exit", ktrace_vector_exit },
	{ "local_timer_entry", ktrace_vector_entry },
	{ "reschedule_exit", ktrace_vector_exit },
	{ "reschedule_entry", ktrace_vector_entry },
	{ "call_function_exit", ktrace_vector_exit },
	{ "call_function_entry", ktrace_vector_entry },
	{ "call_function_single_exit", ktrace_vector_exit },
	{ "call_function_single_entry", ktrace_vector_entry },
	{ "irq_work_exit", ktrace_vector_exit },
	{ "irq_work_entry", ktrace_vector_entry },
	{ "x86_platform_ipi_exit", ktrace_vector_exit },
	{ "x86_platform_ipi_entry", ktrace_vector_entry },
	{ "thermal_apic_exit", ktrace_vector_exit },
	{ "thermal_apic_entry", ktrace_vector_entry },
	{ "threshold_apic_exit", ktrace_vector_exit },
	{ "threshold_apic_entry", ktrace_vector_entry },
	{ "deferred_error_apic_exit", ktrace_vector_exit },
	{ "deferred_error_apic_entry", ktrace_vector_entry },
	{ "spurious_apic_exit", ktrace_vector_exit },
	{ "spurious_apic_entry", ktrace_vector_entry },
	{ "error_apic_exit", ktrace_vector_exit },
	{ "error_apic_entry", ktrace_vector_entry },
};

static unsigned int ktrace_nr_vector_probes;

/* Attaches the probes whose tracepoints exist: they are moved to the front of the list. */
static int ktrace_attach_vectors(void)
{
	unsigned int i, nr = 0;

	ktrace_find_probes(ktrace_vector_probes, ARRAY_SIZE(ktrace_vector_probes));
	for (i = 0; i < ARRAY_SIZE(ktrace_vector_probes); i++) {
		if (!ktrace_vector_probes[i].tp)
			continue;
		swap(ktrace_vector_probes[nr], ktrace_vector_probes[i]);
		nr++;
	}
	ktrace_nr_vector_probes = nr;
	return ktrace_attach_probes(ktrace_vector_probes, nr, NULL);
}

static void ktrace_detach_vectors(void)
{
	ktrace_detach_probes(ktrace_vector_probes, ktrace_nr_vector_probes, NULL);
}
#else
static int ktrace_attach_vectors(void)
{
	return 0;
}

static void ktrace_detach_vectors(void) { }
#endif

int ktrace_watch_irq_time(void)
{
	unsigned int cpu;
	int ret;

	if (ktrace_find_probes(ktrace_irq_time_probes, ARRAY_SIZE(ktrace_irq_time_probes)))
		return -EOPNOTSUPP;
	for_each_possible_cpu(cpu) {
		struct ktrace_irq_time *time = per_cpu_ptr(&ktrace_irq_time, cpu);

		time->depth = 0;
		time->at_switch_ns = time->total_ns;
		time->last_run_ns = 0;
	}
	ret = ktrace_attach_probes(ktrace_irq_time_probes, ARRAY_SIZE(ktrace_irq_time_probes),
				   NULL);
	if (ret)
		return ret;
	ret = ktrace_attach_vectors();
	if (ret) {
		ktrace_detach_probes(ktrace_irq_time_probes, ARRAY_SIZE(ktrace_irq_time_probes),
				     NULL);
		return ret;
	}
	static_branch_enable(&ktrace_irq_time_on.key);
	return 0;
}

void ktrace_unwatch_irq_time(void)
{
	static_branch_disable(&ktrace_irq_time_on.key);
	ktrace_detach_vectors();
	ktrace_detach_probes(ktrace_irq_time_probes, ARRAY_SIZE(ktrace_irq_time_probes), NULL);
}

/* The time since the latest context switch of this CPU, in ns. Preemption must be off. */
u64 ktrace_irq_time_here(void)
{
	/* They change together only at a switch. */
	return __this_cpu_read(ktrace_irq_time.total_ns) -
	       __this_cpu_read(ktrace_irq_time.at_switch_ns);
}

/* The time between the two latest context switches, in ns. For probes on sched_switch. */
u64 ktrace_irq_time_of_last_run(void)
{
	return __this_cpu_read(ktrace_irq_time.last_run_ns);
}

/* Whether this CPU handles an interrupt now. Preemption must be off. */
bool ktrace_irq_time_is_in_irq(void)
{
	return __this_cpu_read(ktrace_irq_time.depth);
}
