/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_TRACE_MASK_H
#define KTRACE_TRACE_MASK_H

#include <linux/percpu.h>
#include <linux/types.h>

struct task_struct;

/*
 * The trace mask of a CPU: one bit for each hook that traces the task which runs on
 * this CPU or is about to run. The mask is written before `current` changes at a
 * context switch; until then, the previous task still calls functions. `sure` has the
 * bits of `wanted` that are valid for both tasks; for the other bits,
 * ktrace_mask_check_current() checks `current`.
 */
union ktrace_mask {
	struct {
		u32 wanted;
		u32 sure;
	};
	u64 both;
};

/* Rust accesses the two members as an array. */
static_assert(offsetof(union ktrace_mask, wanted) == 0);
static_assert(offsetof(union ktrace_mask, sure) == sizeof(u32));

DECLARE_PER_CPU(union ktrace_mask, ktrace_mask);

/*
 * Reads the trace mask of this CPU; preemption may be enabled. Except on x86,
 * disabling and enabling preemption would be most of what a hook costs for a task
 * that is not traced. Instead, this checks after the read that the task is still on
 * the same CPU. It reads a wrong mask only if the task moves to another CPU right
 * before the read of the mask and back to this one right after it.
 */
static __always_inline union ktrace_mask ktrace_mask_read(void)
{
	union ktrace_mask mask;
#ifdef CONFIG_X86
	mask.both = this_cpu_read(ktrace_mask.both);
#else
	unsigned long here;

	do {
		here = __my_cpu_offset;
		mask.both = READ_ONCE(SHIFT_PERCPU_PTR(&ktrace_mask, here)->both);
		barrier();
	} while (unlikely(here != __my_cpu_offset));
#endif
	return mask;
}

/* Defined in Rust (task/bind.rs), called from trace_mask.c. */
u32 ktrace_mask_of(struct task_struct *task);
u32 ktrace_idle_mask(unsigned int cpu);

/* Defined in trace_mask.c. */
bool ktrace_mask_check_current(u32 bit);
void ktrace_mask_refresh(void);
void ktrace_mask_refresh_current(void);
void ktrace_mask_refresh_of(struct task_struct *task);

#endif
