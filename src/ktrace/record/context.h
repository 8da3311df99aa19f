/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_CONTEXT_H
#define KTRACE_CONTEXT_H

#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

/*
 * Returns the context in the header of each record: flags, and the nesting depth of disabled
 * preemption and migration. Same as tracing_gen_ctx_dec(), which would be a call of a function that
 * is not exported. The hook has disabled preemption once.
 */
static __always_inline unsigned int ktrace_context_here(void)
{
	unsigned long todo = READ_ONCE(current_thread_info()->flags);
	unsigned int count = preempt_count(), softirqs = softirq_count();
	unsigned int flags = irqs_disabled() ? TRACE_FLAG_IRQS_OFF : 0;
	unsigned int disabled = count & 0xff, pinned = 0;

	if (count & (NMI_MASK | HARDIRQ_MASK)) {
		if (count & NMI_MASK)
			flags |= TRACE_FLAG_NMI;
		if (count & HARDIRQ_MASK)
			flags |= TRACE_FLAG_HARDIRQ;
	}
	if (softirqs) {
		if (in_serving_softirq())
			flags |= TRACE_FLAG_SOFTIRQ;
		if (softirqs >> (SOFTIRQ_SHIFT + 1))
			flags |= TRACE_FLAG_BH_OFF;
	}
	/* Both bits are the same one on architectures without lazy preemption. */
	if (todo & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)) {
		if (todo & _TIF_NEED_RESCHED)
			flags |= TRACE_FLAG_NEED_RESCHED;
		if (IS_ENABLED(CONFIG_ARCH_HAS_PREEMPT_LAZY) && todo & _TIF_NEED_RESCHED_LAZY)
			flags |= TRACE_FLAG_NEED_RESCHED_LAZY;
	}
	if (test_preempt_need_resched())
		flags |= TRACE_FLAG_PREEMPT_RESCHED;
#ifdef CONFIG_SMP
	pinned = current->migration_disabled;
#endif
	disabled = min(disabled, 0xfU);
	if (pinned)
		disabled |= min(pinned, 0xfU) << 4;
	if (IS_ENABLED(CONFIG_PREEMPTION))
		disabled--;
	return flags << 16 | disabled;
}

unsigned int ktrace_context(void);
bool ktrace_enter_level(u32 level);
void ktrace_leave_level(u32 level);
struct task_struct *ktrace_current(void);

#endif
