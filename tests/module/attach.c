// SPDX-License-Identifier: GPL-2.0
/*
 * A probe on an event that is defined in Rust. As in any C module, its tracepoint is
 * looked up among those of modules. And whether an event of the kernel has a probe.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "contexts.h"

static struct tracepoint *thing_made;
static atomic_long_t heard;

static void notrace hear_thing_made(void *data, unsigned int number)
{
	atomic_long_add(number, data);
}

int ktrace_test_attach(void)
{
	unsigned int i;

	/* Like for_each_tracepoint_in_module(), which is not exported to modules. */
	for (i = 0; i < THIS_MODULE->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&THIS_MODULE->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, "thing_made"))
			thing_made = tp;
	}
	if (!thing_made)
		return -ENOENT;
	return tracepoint_probe_register(thing_made, hear_thing_made, &heard);
}

void ktrace_test_detach(void)
{
	if (thing_made)
		tracepoint_probe_unregister(thing_made, hear_thing_made, &heard);
	tracepoint_synchronize_unregister();
}

struct probed {
	const char *name;
	unsigned long len;
	int ret;
};

static void look_at(struct tracepoint *tp, void *data)
{
	struct probed *probed = data;

	if (strlen(tp->name) == probed->len && !strncmp(tp->name, probed->name, probed->len))
		probed->ret = READ_ONCE(tp->funcs) ? 0 : -ENODATA;
}

int ktrace_test_probed(const char *name, unsigned long len)
{
	struct probed probed = { .name = name, .len = len, .ret = -ENOENT };

	for_each_kernel_tracepoint(look_at, &probed);
	return probed.ret;
}

unsigned long ktrace_test_heard(void)
{
	return atomic_long_read(&heard);
}
