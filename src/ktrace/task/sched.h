/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_SCHED_H
#define KTRACE_SCHED_H

#include <linux/bits.h>
#include <linux/types.h>

struct ktrace_sched_callbacks;
struct task_struct;

/* Defined in Rust (sched_bind.rs), called from sched.c. */
void ktrace_sched_switch(struct task_struct *prev, struct task_struct *next,
			 unsigned int state, bool of_prev, bool of_next, u64 now);
void ktrace_sched_waking(struct task_struct *task, unsigned int context);
void ktrace_sched_wakeup(struct task_struct *task, unsigned int cpu, bool is_new,
			 u64 now);
void ktrace_sched_migrate(struct task_struct *task, unsigned int from, unsigned int to);

/* Defined in sched.c, called from Rust. */
#define KTRACE_EVERYONE BIT_ULL(32)
extern u64 ktrace_sched_followed;
void ktrace_on_switch(bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state, u32 prev_bits, u32 next_bits);
const char *ktrace_find_sched_probes(void);
int ktrace_attach_sched_probes(const struct ktrace_sched_callbacks *callbacks);
void ktrace_detach_sched_probes(void);
void ktrace_sched_changes(struct task_struct *task);
void ktrace_sched_reclaim_later(void);
bool ktrace_task_blocked(struct task_struct *task, unsigned int *state);
u64 ktrace_sched_now(void);

#endif
