// SPDX-License-Identifier: GPL-2.0
/* The task and the context in which a record is written, for Rust (context.rs). */
#include "context.h"

unsigned int ktrace_context(void)
{
	return ktrace_context_here();
}

struct task_struct *ktrace_current(void)
{
	return current;
}
