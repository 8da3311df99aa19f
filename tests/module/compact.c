// SPDX-License-Identifier: GPL-2.0
/* Changes the packs of ferrotrace, as if the counter of the CPU had been set back. */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/percpu.h>

#include "../../src/ktrace/compact/compact.h"
#include "contexts.h"

/* Defined in symbols.c. */
unsigned long ktrace_call_kallsyms_lookup_name(const char *name);

/*
 * Increases the times of all packs of ferrotrace by this number of counts, as if the
 * counter had been set back by as much. Nothing may be recorded at the same time.
 */
int ktrace_test_set_back(long counts)
{
	struct list_head *sets;
	struct ktrace_pack_set *set;
	int cpu;

	sets = (void *)ktrace_call_kallsyms_lookup_name("ferrotrace:ktrace_pack_sets");
	if (!sets)
		return -ENOENT;
	list_for_each_entry(set, sets, list) {
		for_each_possible_cpu(cpu) {
			struct ktrace_pack *pack = per_cpu_ptr(set->packs, cpu);

			pack->time += counts;
			pack->until += counts;
		}
	}
	return 0;
}
