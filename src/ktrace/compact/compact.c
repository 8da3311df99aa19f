// SPDX-License-Identifier: GPL-2.0
/*
 * Compact records: the parts in C that are not on the fast path (compact.h).
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/types.h>

#include "../helpers.h"
#include "compact.h"

struct ktrace_pack __percpu *ktrace_packs[KTRACE_NR_SLOTS];

void ktrace_set_packs(unsigned int slot, struct ktrace_pack __percpu *packs)
{
	if (slot < KTRACE_NR_SLOTS) {
		/* Their contents must be visible before the pointer: ktrace_pack_put(). */
		smp_store_release(&ktrace_packs[slot], packs);
	}
}

u64 ktrace_raw_context(u64 *flags)
{
	*flags = ktrace_raw_flags();
	return ktrace_raw_preempt();
}

/*
 * Suspend
 *
 * While the system is suspended, the clocks stop, and the counter continues or is set back, so
 * later times in a pack would be wrong. Some clocks stop when one CPU is left, others when the last
 * CPU is idle, and no single function is called for all of them. So no packs are written from
 * before the first task is frozen until the last task is thawed, only normal records. The PM
 * notifier is what the kernel offers to modules on all architectures.
 */

/* Guards the list. The flag is written with it held, and read without. */
static DEFINE_MUTEX(ktrace_pack_mutex);
static LIST_HEAD(ktrace_pack_sets);
static bool ktrace_suspended;

bool ktrace_is_suspended(void)
{
	return READ_ONCE(ktrace_suspended);
}

struct ktrace_pack __percpu *ktrace_alloc_packs(void)
{
	struct ktrace_pack_set *set = kmalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	set->packs = alloc_percpu(struct ktrace_pack);
	if (!set->packs) {
		kfree(set);
		return NULL;
	}
	mutex_lock(&ktrace_pack_mutex);
	list_add(&set->list, &ktrace_pack_sets);
	mutex_unlock(&ktrace_pack_mutex);
	return set->packs;
}

void ktrace_free_packs(struct ktrace_pack __percpu *packs)
{
	struct ktrace_pack_set *set, *next;

	mutex_lock(&ktrace_pack_mutex);
	list_for_each_entry_safe(set, next, &ktrace_pack_sets, list) {
		if (set->packs != packs)
			continue;
		list_del(&set->list);
		kfree(set);
	}
	mutex_unlock(&ktrace_pack_mutex);
	free_percpu(packs);
}

static void ktrace_suspend(void)
{
	struct ktrace_pack_set *set;
	int cpu;

	mutex_lock(&ktrace_pack_mutex);
	WRITE_ONCE(ktrace_suspended, true);
	/* From here on no CPU begins a pack, and each CPU that began one has set its page. */
	ktrace_synchronize();
	list_for_each_entry(set, &ktrace_pack_sets, list)
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu_ptr(set->packs, cpu)->page, NULL);
	mutex_unlock(&ktrace_pack_mutex);
}

static void ktrace_resume(void)
{
	mutex_lock(&ktrace_pack_mutex);
	WRITE_ONCE(ktrace_suspended, false);
	mutex_unlock(&ktrace_pack_mutex);
}

static int ktrace_pm_notify(struct notifier_block *block, unsigned long event, void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		ktrace_suspend();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		ktrace_resume();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ktrace_pm_block = { .notifier_call = ktrace_pm_notify };

int ktrace_watch_suspend(void)
{
	return register_pm_notifier(&ktrace_pm_block);
}

void ktrace_unwatch_suspend(void)
{
	unregister_pm_notifier(&ktrace_pm_block);
}
