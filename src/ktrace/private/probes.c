// SPDX-License-Identifier: GPL-2.0
/*
 * Finds, attaches and detaches sets of probes on kernel tracepoints.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probes.h"

struct ktrace_search {
	struct ktrace_probe *probes;
	unsigned int nr;
};

static void ktrace_match_probe(struct tracepoint *tp, void *data)
{
	const struct ktrace_search *search = data;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tp->name, search->probes[i].name))
			search->probes[i].tp = tp;
}

/* Finds the tracepoints. Returns the name of one that does not exist, or NULL. */
const char *ktrace_find_probes(struct ktrace_probe *probes, unsigned int nr)
{
	struct ktrace_search search = { .probes = probes, .nr = nr };
	unsigned int i;

	for_each_kernel_tracepoint(ktrace_match_probe, &search);
	for (i = 0; i < nr; i++)
		if (!probes[i].tp)
			return probes[i].name;
	return NULL;
}

void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr, const void *data)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func, (void *)data);
	tracepoint_synchronize_unregister();
}

/* Attaches all probes or none. @data is their first argument. */
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr, const void *data)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		int rank = probes[i].rank ?: TRACEPOINT_DEFAULT_PRIO;

		ret = tracepoint_probe_register_prio(probes[i].tp, probes[i].func, (void *)data,
						     rank);
		if (ret) {
			ktrace_detach_probes(probes, i, data);
			return ret;
		}
	}
	return 0;
}

/* Waits until all tracepoint probes that run now have returned. */
void ktrace_synchronize_probes(void)
{
	tracepoint_synchronize_unregister();
}
