// SPDX-License-Identifier: GPL-2.0
/*
 * A probe on the delivery of signals. signals.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/tracepoint.h>

#include "../helpers.h"
#include "../private/probes.h"

static ktrace_signal_t ktrace_signal;

/* Called in the task that gets the signal, also for the SIGKILL with which its process ends. */
static void notrace ktrace_on_signal(void *data, int sig, struct kernel_siginfo *info,
				     struct k_sigaction *action)
{
	bool is_fatal = sig == SIGKILL ||
			(!siginmask(sig, SIG_KERNEL_IGNORE_MASK | SIG_KERNEL_STOP_MASK) &&
			 action->sa.sa_handler == SIG_DFL);

	preempt_disable_notrace();
	ktrace_signal(current, sig, is_fatal);
	preempt_enable_notrace();
}

static struct ktrace_probe ktrace_signal_probe = { "signal_deliver", ktrace_on_signal };

int ktrace_watch_signals(ktrace_signal_t signal)
{
	int ret = ktrace_set_callbacks(&ktrace_signal, signal);

	if (ret)
		return ret;
	if (ktrace_find_probes(&ktrace_signal_probe, 1))
		return -EOPNOTSUPP;
	return ktrace_attach_probes(&ktrace_signal_probe, 1, NULL);
}

void ktrace_unwatch_signals(void)
{
	ktrace_detach_probes(&ktrace_signal_probe, 1, NULL);
}
