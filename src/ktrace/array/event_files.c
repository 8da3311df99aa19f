// SPDX-License-Identifier: GPL-2.0
/*
 * Whether events are enabled in a trace array. trace_array.rs calls these functions.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/trace_events.h>

#include "../helpers.h"

/*
 * Whether any event in the list of a trace array is enabled. Called with trace_types_lock
 * held, which protects the list.
 */
bool ktrace_events_are_on(const struct list_head *files)
{
	const struct trace_event_file *file;

	/* Soft-disabled events count too: a trigger may make them write records at any time. */
	list_for_each_entry(file, files, list)
		if (READ_ONCE(file->flags) & EVENT_FILE_FL_ENABLED)
			return true;
	return false;
}

/* Whether an event of this module was ever enabled in the trace array that has this list. */
bool ktrace_events_were_on(const struct list_head *files)
{
	const struct trace_event_file *file;

	list_for_each_entry(file, files, list) {
		const struct trace_event_call *call = file->event_call;

		/* For dynamic events, the member `module` is used for other data. */
		if (call->flags & TRACE_EVENT_FL_DYNAMIC || call->module != THIS_MODULE)
			continue;
		if (READ_ONCE(file->flags) & EVENT_FILE_FL_WAS_ENABLED)
			return true;
	}
	return false;
}
