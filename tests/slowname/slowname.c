// SPDX-License-Identifier: GPL-2.0
/*
 * A test module that makes some renames of tasks slow: it adds a delay between the
 * tracepoint task_rename and the change of task->comm.
 *
 *   slow  renames to names with this prefix are slow
 *   ms    the delay in ms
 *   go    if set, there is no delay any more; also ends the current ones
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static char *slow = "slow";
module_param(slow, charp, 0444);

static unsigned int ms = 50;
module_param(ms, uint, 0444);

static bool go;
module_param(go, bool, 0644);

static void take_time(void *data, struct task_struct *task, const char *comm)
{
	unsigned int i;

	if (!strstarts(comm, slow))
		return;
	for (i = 0; i < ms && !READ_ONCE(go); i++)
		mdelay(1);
}

static struct tracepoint *rename_tp;

static void find_rename(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "task_rename"))
		rename_tp = tp;
}

/* This probe is called after those that are already registered. */
static int __init slowname_init(void)
{
	for_each_kernel_tracepoint(find_rename, NULL);
	if (!rename_tp)
		return -ENOENT;
	return tracepoint_probe_register(rename_tp, take_time, NULL);
}

static void __exit slowname_exit(void)
{
	tracepoint_probe_unregister(rename_tp, take_time, NULL);
	tracepoint_synchronize_unregister();
}

module_init(slowname_init);
module_exit(slowname_exit);
MODULE_DESCRIPTION("Makes some renames of tasks slow, for tests");
MODULE_LICENSE("GPL");
