// SPDX-License-Identifier: GPL-2.0
/* Stubs that probes in dynamic_events attach to, one for each event of events.rs. */
#include <linux/sched.h>

#include "../../src/ktrace/event/probestub.h"

KTRACE_PROBESTUB(foo_bar, const void *sample)
KTRACE_PROBESTUB(integers, s64 number, bool flag)
KTRACE_PROBESTUB(others, struct task_struct *task, unsigned long at, const void *bytes)
KTRACE_PROBESTUB(long_one, const void *text)
KTRACE_PROBESTUB(thing_made, u32 number)
KTRACE_PROBESTUB(thing_gone, u32 number)
KTRACE_PROBESTUB(even, u32 number)
