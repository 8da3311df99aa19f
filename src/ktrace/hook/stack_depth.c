// SPDX-License-Identifier: GPL-2.0
/*
 * How deep the stack of a task is when a traced function is called. stack_depth.rs documents it.
 *
 * Runs inside a traced function, so this file is built without ftrace's call at function entry (see
 * Kbuild).
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/trace_recursion.h>

#include "../helpers.h"

/* Defined by symbols.c. */
unsigned long ktrace_call_ftrace_graph_ret_addr(struct task_struct *task, int *idx,
						unsigned long ret, unsigned long *retp);

unsigned int ktrace_stack_size(void)
{
	return THREAD_SIZE;
}

/*
 * Returns how many bytes of the current task's stack were in use when the function was called. 0 if
 * it runs on another stack, or in an interrupt of another callback, whose frames would count.
 */
unsigned int ktrace_stack_used(struct ftrace_regs *fregs)
{
	const u32 callbacks = GENMASK(TRACE_FTRACE_START + TRACE_CTX_TRANSITION,
				      TRACE_FTRACE_START);
	const u32 lists = GENMASK(TRACE_LIST_START + TRACE_CTX_TRANSITION, TRACE_LIST_START);
	unsigned long start = (unsigned long)task_stack_page(current);
	unsigned long sp = ftrace_regs_get_stack_pointer(fregs);
	u32 active = current->trace_recursion;

	if (hweight32(active & callbacks) > 1 || hweight32(active & lists) > 1)
		return 0;
	if (sp - start >= THREAD_SIZE)
		return 0;
	return start + THREAD_SIZE - sp;
}

/*
 * Returns where the frame of the function begins to which @function, a return address, belongs. 0
 * if the address is not found between @at and @end.
 *
 * Only the unwinder knows where a return address is, and it returns only the address. So this
 * searches for it, as the kernel's stack tracer does.
 */
static unsigned long ktrace_find_frame(unsigned long at, unsigned long end, unsigned long function)
{
	for (; at < end; at += sizeof(long)) {
		unsigned long ret = READ_ONCE_NOCHECK(*(unsigned long *)at);
		unsigned long begin = at + sizeof(long);
		unsigned long retp = at;
		int idx = 0;

#ifdef CONFIG_ARM64
		/* The address of the caller's record, and the return address, are a record. */
		retp = READ_ONCE_NOCHECK(*((unsigned long *)at - 1));
		ret = ptrauth_strip_kernel_insn_pac(ret);
		/* Where the compiler places the record at the beginning of a frame. */
		if (IS_ENABLED(CONFIG_CC_IS_GCC))
			begin = retp;
#endif
		/* A graph tracer may have replaced it. */
		ret = ktrace_call_ftrace_graph_ret_addr(current, &idx, ret, (void *)retp);
		if (ret == function && begin > at && begin < end)
			return begin;
	}
	return 0;
}

/*
 * Sets how many bytes of the stack each function and its callers use, or 0 if its frame is not
 * found. The first function is the one that was called. The others are return addresses, or 0 for
 * unknown functions. ktrace_stack_used() must have returned a number.
 */
void ktrace_stack_frames(struct ftrace_regs *fregs, const unsigned long *functions,
			 unsigned int nr, unsigned long *used)
{
	unsigned long end = (unsigned long)task_stack_page(current) + THREAD_SIZE;
	unsigned long sp = ftrace_regs_get_stack_pointer(fregs);
	unsigned int i, missing = 0;

	for (i = 0; i < nr; i++) {
		unsigned long begin = 0;

		if (i == 0 || !functions[i] || (i == 1 && IS_ENABLED(CONFIG_ARM64)))
			/* On arm64, the first return address is in a register. */
			begin = sp;
		else if (missing < 4)
			/* A few may not be there: a return probe has replaced them. */
			begin = ktrace_find_frame(sp, end, functions[i]);
		used[i] = begin ? end - begin : 0;
		if (begin)
			sp = begin;
		else
			missing++;
	}
}
