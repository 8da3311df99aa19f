/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_PROBES_H
#define KTRACE_PROBES_H

#include <linux/tracepoint.h>

/*
 * A function to attach to a kernel tracepoint. On one tracepoint, functions with a
 * higher rank are called first. Functions with rank 0, and those of other users, are
 * called after them, in the order in which they were attached.
 */
#define KTRACE_RANK_BEFORE	(TRACEPOINT_DEFAULT_PRIO + 20)
#define KTRACE_RANK_MASK	(TRACEPOINT_DEFAULT_PRIO + 10)

struct ktrace_probe {
	const char *name;
	void *func;
	int rank;
	struct tracepoint *tp;
};

const char *ktrace_find_probes(struct ktrace_probe *probes, unsigned int nr);
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr, const void *data);
void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr, const void *data);

/* Called from Rust. */
void ktrace_synchronize_probes(void);

#endif
