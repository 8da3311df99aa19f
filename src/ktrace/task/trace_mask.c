// SPDX-License-Identifier: GPL-2.0
/*
 * The trace mask: which hooks trace the task that runs on a CPU. trace_mask.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/cpu.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "trace_mask.h"

/* If the bit of its slot is clear, an entry function returns after this test. */
DEFINE_PER_CPU(union ktrace_mask, ktrace_mask);

/*
 * Returns whether the hook of @bit traces the current task, while a switch is not complete: the
 * trace mask has bits for the previous or the next task. With preemption off, any context. Bits
 * found to be valid are stored: once the next task is current, no more lookup is needed.
 */
bool ktrace_mask_check_current(u32 bit)
{
	union ktrace_mask mask = { .both = this_cpu_read(ktrace_mask.both) }, found = mask;
	u32 wanted = ktrace_mask_of(current);

	found.sure |= mask.wanted & wanted;
	/* Not if an interrupt in between has stored something newer. */
	this_cpu_cmpxchg(ktrace_mask.both, mask.both, found.both);
	return wanted & bit;
}

/* Runs on the CPU whose trace mask it sets, with interrupts off. */
static void ktrace_mask_refresh_cpu(void *unused)
{
	u32 wanted = ktrace_mask_of(current);
	union ktrace_mask mask = { .wanted = wanted, .sure = wanted };

	this_cpu_write(ktrace_mask.both, mask.both);
}

/* A function call that refreshes the trace mask is on its way to the CPU. */
static DEFINE_PER_CPU(bool, ktrace_mask_requested);

void ktrace_mask_refresh(void)
{
	union ktrace_mask mask;
	unsigned int cpu;

	cpus_read_lock();
	/* No task runs there; the value is used when the CPU is online again. */
	for_each_possible_cpu(cpu) {
		if (cpu_online(cpu))
			continue;
		mask.wanted = ktrace_idle_mask(cpu);
		mask.sure = mask.wanted;
		per_cpu(ktrace_mask.both, cpu) = mask.both;
	}
	on_each_cpu(ktrace_mask_refresh_cpu, NULL, 1);
	cpus_read_unlock();
}

void ktrace_mask_refresh_current(void)
{
	unsigned long flags;

	local_irq_save(flags);
	ktrace_mask_refresh_cpu(NULL);
	local_irq_restore(flags);
}

static void ktrace_mask_refresh_requested(void *unused)
{
	this_cpu_write(ktrace_mask_requested, false);
	/* A request from here on needs another function call: the mask is loaded below. */
	smp_mb();
	ktrace_mask_refresh_cpu(NULL);
}

static DEFINE_PER_CPU(call_single_data_t, ktrace_mask_request) =
	CSD_INIT(ktrace_mask_refresh_requested, NULL);

void ktrace_mask_refresh_of(struct task_struct *task)
{
	unsigned int cpu;

	/*
	 * Orders the store of the new mask before the load of the CPU number. A CPU that gets the
	 * task later stores its number, then takes its run queue's lock, which is a full barrier
	 * too, and then loads the mask. So either that CPU sees the new mask, or this CPU sees that
	 * CPU's number.
	 */
	smp_mb();
	guard(preempt)();
	cpu = task_cpu(task);
	/* If there is a request already, that CPU has not loaded the masks yet. */
	if (xchg(per_cpu_ptr(&ktrace_mask_requested, cpu), true))
		return;
	/* Fails if the CPU is offline. No task runs there. */
	if (smp_call_function_single_async(cpu, per_cpu_ptr(&ktrace_mask_request, cpu)))
		WRITE_ONCE(per_cpu(ktrace_mask_requested, cpu), false);
}
