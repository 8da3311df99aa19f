// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that can be started in any context. delay.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../helpers.h"

struct ktrace_delay {
	struct irq_work start;
	struct hrtimer timer;
	u64 ns;
	/* The start of the time that is waited, and its end. */
	u64 from_ns;
	u64 due_ns;
	ktrace_expired_t expired;
	const void *data;
};

static void ktrace_delay_start(struct irq_work *work)
{
	struct ktrace_delay *delay = container_of(work, struct ktrace_delay, start);

	if (hrtimer_active(&delay->timer))
		return;
	delay->due_ns = min_t(u64, READ_ONCE(delay->from_ns) + delay->ns, KTIME_MAX);
	hrtimer_start(&delay->timer, ns_to_ktime(delay->due_ns), HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart ktrace_delay_expires(struct hrtimer *timer)
{
	struct ktrace_delay *delay = container_of(timer, struct ktrace_delay, timer);
	u64 now = ktime_get_mono_fast_ns();

	delay->expired(delay->data, now > delay->due_ns ? now - delay->due_ns : 0);
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
	hrtimer_setup(&delay->timer, ktrace_delay_expires, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	delay->ns = ns;
	delay->expired = expired;
	delay->data = data;
	return delay;
}

/* Any context, also with locks of the scheduler and of timers held. */
void ktrace_start_delay(struct ktrace_delay *delay, u64 from_ns)
{
	WRITE_ONCE(delay->from_ns, from_ns);
	irq_work_queue(&delay->start);
}

/* Cancels it. Nothing may start it any more. May sleep. */
void ktrace_free_delay(struct ktrace_delay *delay)
{
	irq_work_sync(&delay->start);
	hrtimer_cancel(&delay->timer);
	kfree(delay);
}
