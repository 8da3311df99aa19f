// SPDX-License-Identifier: GPL-2.0
/*
 * The probe on comm changes. saved_cmdlines.rs documents the call to Rust.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "../helpers.h"
#include "../private/probes.h"

/* Probes on comm changes, for any number of users, each with a different address. */
static void notrace ktrace_probe_name(void *user, struct task_struct *task,
				      const char *comm)
{
	ktrace_comm_changes(task);
}

static struct ktrace_probe ktrace_name_probe = { "task_rename", ktrace_probe_name };

const char *ktrace_find_name_probe(void)
{
	return ktrace_find_probes(&ktrace_name_probe, 1);
}

int ktrace_attach_name_probe(void *user)
{
	return tracepoint_probe_register(ktrace_name_probe.tp, ktrace_name_probe.func, user);
}

void ktrace_detach_name_probe(void *user)
{
	tracepoint_probe_unregister(ktrace_name_probe.tp, ktrace_name_probe.func, user);
	tracepoint_synchronize_unregister();
}
