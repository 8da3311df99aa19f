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

void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func, NULL);
	tracepoint_synchronize_unregister();
}

/* Attaches all probes or none. */
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		if (probes[i].rank)
			ret = tracepoint_probe_register_prio(probes[i].tp, probes[i].func,
							     NULL, probes[i].rank);
		else
			ret = tracepoint_probe_register(probes[i].tp, probes[i].func, NULL);
		if (ret) {
			ktrace_detach_probes(probes, i);
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
