// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes tasks that poll() a control file. notify.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/irq_work.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "../helpers.h"

/* Of all control files: after a wakeup, each poller checks its own file. */
static DECLARE_WAIT_QUEUE_HEAD(ktrace_pollers);

static void ktrace_wake_pollers(struct irq_work *work)
{
	wake_up_interruptible_all(&ktrace_pollers);
}

static DEFINE_IRQ_WORK(ktrace_notify_work, ktrace_wake_pollers);

/* Any context, also with locks of the scheduler held. */
void ktrace_notify(void)
{
	irq_work_queue(&ktrace_notify_work);
}

/* Nothing may notify any more. May sleep. */
void ktrace_notify_sync(void)
{
	irq_work_sync(&ktrace_notify_work);
}

void ktrace_poll_wait(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &ktrace_pollers, table);
}
