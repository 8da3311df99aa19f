// SPDX-License-Identifier: GPL-2.0
/*
 * Ids of tasks in the PID namespace of the current task. pid_namespace.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "../helpers.h"

/* Returns -1 if there is no such task. */
pid_t ktrace_pid_from_namespace(pid_t id)
{
	struct pid *pid;

	if (!id || task_active_pid_ns(current) == &init_pid_ns)
		return id;
	guard(rcu)();
	pid = find_vpid(id);
	return pid ? pid_nr(pid) : -1;
}

/* Returns -1 if the task is not in the namespace, or does not exist. */
pid_t ktrace_pid_to_namespace(pid_t id)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	pid_t inside;

	if (!id || ns == &init_pid_ns)
		return id;
	guard(rcu)();
	inside = pid_nr_ns(find_pid_ns(id, &init_pid_ns), ns);
	return inside ?: -1;
}
