// SPDX-License-Identifier: GPL-2.0
/*
 * A module for tests: one call of a function of the kernel does nothing but fail. Another makes the kernel oops,
 * where a tracer has nothing to do with it.
 *
 *   func    the function
 *   nth     which of its calls, from the loading of this module on: 1 is the first
 *   value   what it returns, -12 (ENOMEM) if not told; 0 is a null pointer as well
 *   failed  how many calls have failed so, 0 or 1 (reading)
 *   oops    writing makes a thread oops
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>

static char *func;
module_param(func, charp, 0444);

static int nth = 1;
module_param(nth, int, 0444);

static int value = -ENOMEM;
module_param(value, int, 0444);

static int failed;
module_param(failed, int, 0444);

static atomic_t calls = ATOMIC_INIT(0);

/* In place of the function: called with its arguments and its return address. */
static noinline long notrace instead(void)
{
	return value;
}

static int fail_call(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_inc_return(&calls) != nth)
		return 0;
	failed++;
	instruction_pointer_set(regs, (unsigned long)instead);
	return 1;
}
NOKPROBE_SYMBOL(fail_call);

static struct kprobe probe = { .pre_handler = fail_call };

/* Which KASAN would have another word for. */
static int __no_sanitize_address oops_thread(void *unused)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
	return 0;
}

/* In a thread, for whoever dies of it keeps what locks it has. */
static int oops_set(const char *text, const struct kernel_param *param)
{
	return PTR_ERR_OR_ZERO(kthread_run(oops_thread, NULL, "failcall_oops"));
}

static const struct kernel_param_ops oops_ops = { .set = oops_set };
module_param_cb(oops, &oops_ops, NULL, 0200);

static int __init failcall_init(void)
{
	if (!func)
		return 0;
	probe.symbol_name = func;
	return register_kprobe(&probe);
}

static void __exit failcall_exit(void)
{
	if (func)
		unregister_kprobe(&probe);
}

module_init(failcall_init);
module_exit(failcall_exit);
MODULE_DESCRIPTION("Makes one call of a function fail, for tests");
MODULE_LICENSE("GPL");
