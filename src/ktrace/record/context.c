// SPDX-License-Identifier: GPL-2.0
/* The task and the context in which a record is written, for Rust (context.rs). */
#include "context.h"

unsigned int ktrace_context(void)
{
	return ktrace_context_here();
}

/* The levels at which a CPU is in code that must not run within itself; see `Context::once()`. */
static DEFINE_PER_CPU(u32, ktrace_levels);

/* Preemption must be off. */
bool ktrace_enter_level(u32 level)
{
	u32 before = this_cpu_read(ktrace_levels);

	/* An interrupt in between leaves the variable as it was. */
	this_cpu_write(ktrace_levels, before | 1U << level);
	return !(before & 1U << level);
}

void ktrace_leave_level(u32 level)
{
	this_cpu_and(ktrace_levels, ~(1U << level));
}

struct task_struct *ktrace_current(void)
{
	return current;
}
