/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_PROBESTUB_H
#define KTRACE_PROBESTUB_H

/*
 * The function that probes in dynamic_events hook for an event: a listener that does
 * nothing, attached while there is such a probe. To be hooked it needs ftrace's call at
 * function entry, which functions in Rust do not have; so the file where this stands
 * must be built with that. Each event needs one of its own, or probes would hear of the
 * others: trace_event!() refers to it, and the module does not link without.
 *
 * What follows the name is what the event has in Rust, as C has it. By that, users name
 * arguments and look into them, where the module comes with BTF.
 */
#define KTRACE_PROBESTUB(name, ...)						\
	void __probestub_##name(void *data, ##__VA_ARGS__);			\
	noinline void __probestub_##name(void *data, ##__VA_ARGS__)		\
	{									\
	}

#endif
