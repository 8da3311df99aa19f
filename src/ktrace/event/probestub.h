/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_PROBESTUB_H
#define KTRACE_PROBESTUB_H

/*
 * Defines the function that probes in dynamic_events hook for an event: a listener that
 * does nothing and is attached while such a probe exists. It can only be hooked if it has
 * ftrace's call at function entry, which Rust functions do not have, so the file that uses
 * this macro must be built with that call. Each event needs its own function, or its
 * probes would also get other events: trace_event!() refers to the function, and the
 * module does not link without it.
 *
 * The arguments after the name are those of the event in Rust, with their C types. If the
 * module has BTF, users can access them by name, including members of structs.
 */
#define KTRACE_PROBESTUB(name, ...)						\
	void __probestub_##name(void *data, ##__VA_ARGS__);			\
	noinline void __probestub_##name(void *data, ##__VA_ARGS__)		\
	{									\
	}

#endif
