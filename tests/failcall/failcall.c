// SPDX-License-Identifier: GPL-2.0
/*
 * A test module that makes one call of a kernel function fail, without any other
 * effect. It can also cause a kernel oops that is unrelated to tracers.
 *
 *   func    the function
 *   nth     the number of the call that fails, counted from the loading of this module
 *   value   the value that it returns; default -12 (ENOMEM); 0 is also a null pointer
 *   failed  how many calls have failed, 0 or 1 (read-only)
 *   oops    a write causes an oops in a kernel thread
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

/* Called in place of the function, with its arguments and its return address. */
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

/* Without KASAN, which would report the access with a different message. */
static int __no_sanitize_address oops_thread(void *unused)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
	return 0;
}

/* Use a thread: the task that oopses keeps the locks that it holds. */
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
