// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that can be started in any context. delay.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/slab.h>

#include "../helpers.h"

struct ktrace_delay {
	struct irq_work start;
	struct hrtimer timer;
	u64 ns;
	ktrace_expired_t expired;
	const void *data;
};

static void ktrace_delay_start(struct irq_work *work)
{
	struct ktrace_delay *delay = container_of(work, struct ktrace_delay, start);

	if (!hrtimer_active(&delay->timer))
		hrtimer_start(&delay->timer, ns_to_ktime(delay->ns), HRTIMER_MODE_REL_HARD);
}

static enum hrtimer_restart ktrace_delay_expires(struct hrtimer *timer)
{
	struct ktrace_delay *delay = container_of(timer, struct ktrace_delay, timer);

	delay->expired(delay->data);
	return HRTIMER_NORESTART;
}

/* Returns NULL if memory is short. */
struct ktrace_delay *ktrace_new_delay(u64 ns, ktrace_expired_t expired, const void *data)
{
	struct ktrace_delay *delay = kzalloc(sizeof(*delay), GFP_KERNEL);

	if (!delay)
		return NULL;
	/* On PREEMPT_RT too, this runs in a hard interrupt, so that no task can delay it. */
	delay->start = IRQ_WORK_INIT_HARD(ktrace_delay_start);
	hrtimer_setup(&delay->timer, ktrace_delay_expires, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	delay->ns = ns;
	delay->expired = expired;
	delay->data = data;
	return delay;
}

/* Any context, also with locks of the scheduler and of timers held. */
void ktrace_start_delay(struct ktrace_delay *delay)
{
	irq_work_queue(&delay->start);
}

/* Cancels it. Nothing may start it any more. May sleep. */
void ktrace_free_delay(struct ktrace_delay *delay)
{
	irq_work_sync(&delay->start);
	hrtimer_cancel(&delay->timer);
	kfree(delay);
}
