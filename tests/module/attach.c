// SPDX-License-Identifier: GPL-2.0
/*
 * A probe on an event that is defined in Rust. As in any C module, its tracepoint is
 * looked up among those of modules.
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

unsigned long ktrace_test_heard(void)
{
	return atomic_long_read(&heard);
}
