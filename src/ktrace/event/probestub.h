/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_PROBESTUB_H
#define KTRACE_PROBESTUB_H

#include <linux/btf_ids.h>

/*
 * Defines the function that probes in dynamic_events hook for an event: a listener that
 * does nothing and is attached while such a probe exists. It can only be hooked if it has
 * ftrace's call at function entry, which Rust functions do not have, so the file that uses
 * this macro must be built with that call. Each event needs its own function, or its
 * probes would also get other events: trace_event!() refers to the function, and the
 * module does not link without it.
 *
 * The arguments after the name are those of the event in Rust, with their C types. If the
 * module has BTF, users can access them by name, including members of structs. The file
 * btf_ids of the event (Linux 7.3) has the BTF id of this prototype, but not that of the
 * record, which C does not know.
 */
#define KTRACE_PROBESTUB(name, ...)						\
	BTF_ID_LIST_GLOBAL(ktrace_btf_ids_##name, 2)				\
	BTF_ID(func, __probestub_##name)					\
	BTF_ID_UNUSED								\
	void __probestub_##name(void *data, ##__VA_ARGS__);			\
	noinline void __probestub_##name(void *data, ##__VA_ARGS__)		\
	{									\
	}

#endif
