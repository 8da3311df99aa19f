// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroups of tasks in the unified hierarchy (version 2), and the tracepoint when a task moves.
 * cgroups.rs documents them.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/nsproxy.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>

#include "../callbacks.h"
#include "../helpers.h"
#include "../private/probes.h"

#ifdef CONFIG_CGROUPS

const void *ktrace_task_cgroup(struct task_struct *task)
{
	return task_dfl_cgroup(task);
}

u64 ktrace_cgroup_id(const void *cgroup, unsigned int up)
{
	struct cgroup *own = (struct cgroup *)cgroup;

	return up <= own->level ? cgroup_id(cgroup_ancestor(own, own->level - up)) : 0;
}

u64 ktrace_cgroup_root_id(void)
{
	return cgroup_id(&cgrp_dfl_root.cgrp);
}

u64 ktrace_cgroup_find(const char *path)
{
	struct cgroup *cgroup = cgroup_get_from_path(path);
	u64 id;

	if (IS_ERR(cgroup))
		return 0;
	id = cgroup_id(cgroup);
	cgroup_put(cgroup);
	return id;
}

int ktrace_cgroup_path(u64 id, char *path, size_t size)
{
	struct cgroup *cgroup = cgroup_get_from_id(id);
	int len;

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	len = cgroup_path_ns(cgroup, path, size, current->nsproxy->cgroup_ns);
	cgroup_put(cgroup);
	return len;
}

#else /* !CONFIG_CGROUPS */

const void *ktrace_task_cgroup(struct task_struct *task)
{
	return NULL;
}

u64 ktrace_cgroup_id(const void *cgroup, unsigned int up)
{
	return 0;
}

u64 ktrace_cgroup_root_id(void)
{
	return 0;
}

u64 ktrace_cgroup_find(const char *path)
{
	return 0;
}

int ktrace_cgroup_path(u64 id, char *path, size_t size)
{
	return -ENOENT;
}

#endif /* CONFIG_CGROUPS */

struct cgroup;

/*
 * Called after one task, or all threads of a process, have moved: with the lock of all cgroups
 * held, no thread being created, and interrupts off.
 */
static void notrace ktrace_on_cgroup_attach(void *data, struct cgroup *cgroup, const char *path,
					    struct task_struct *leader, bool threadgroup)
{
	const struct ktrace_task_callbacks *callbacks = data;
	struct task_struct *thread;

	if (!threadgroup) {
		callbacks->moved(leader);
		return;
	}
	rcu_read_lock();
	list_for_each_entry_rcu(thread, &leader->signal->thread_head, thread_node)
		callbacks->moved(thread);
	rcu_read_unlock();
}

static struct ktrace_probe ktrace_cgroup_probes[] = {
	{ "cgroup_attach_task", ktrace_on_cgroup_attach },
};

int ktrace_watch_cgroups(const struct ktrace_task_callbacks *callbacks)
{
	if (ktrace_find_probes(ktrace_cgroup_probes, ARRAY_SIZE(ktrace_cgroup_probes)))
		return -EOPNOTSUPP;
	return ktrace_attach_probes(ktrace_cgroup_probes, ARRAY_SIZE(ktrace_cgroup_probes),
				    callbacks);
}

void ktrace_unwatch_cgroups(const struct ktrace_task_callbacks *callbacks)
{
	ktrace_detach_probes(ktrace_cgroup_probes, ARRAY_SIZE(ktrace_cgroup_probes), callbacks);
}
