// SPDX-License-Identifier: GPL-2.0
/*
 * Notification of what is written to trace_marker. marker_export.rs documents it.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/trace.h>

#include "../helpers.h"
#include "../task/sched.h"
#include "../task/trace_mask.h"

static ktrace_marker_t ktrace_marker;

/* Called with preemption off, by the task that writes the marker. */
static void notrace ktrace_export_marker(struct trace_export *export, const void *record,
					 unsigned int size)
{
	/* The trace mask is that of the current task, because this is process context. */
	if (this_cpu_read(ktrace_mask.wanted) || READ_ONCE(ktrace_sched_followed) & KTRACE_EVERYONE)
		ktrace_marker(record, size);
}

static struct trace_export ktrace_marker_export = {
	.write = ktrace_export_marker,
	.flags = TRACE_EXPORT_MARKER,
};

int ktrace_watch_trace_marker(ktrace_marker_t marker)
{
	int ret = ktrace_set_callbacks(&ktrace_marker, marker);

	return ret ?: register_ftrace_export(&ktrace_marker_export);
}

void ktrace_unwatch_trace_marker(void)
{
	unregister_ftrace_export(&ktrace_marker_export);
	/* The callback may still run, or the kernel may be about to follow its pointer. */
	ktrace_synchronize();
}
