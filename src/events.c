// SPDX-License-Identifier: GPL-2.0
/*
 * Stub functions that probes in `dynamic_events` attach to: one for each event of events.rs.
 * docs/reference/events.md documents their arguments for users.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "ktrace/event/probestub.h"

/* The `module!` macro of Rust has no field for it. */
MODULE_VERSION("0.2.0");

/* These structs must match those in task_times/types.rs and task_times/sections.rs. */
struct ferrotrace_waker {
	char comm[TASK_COMM_LEN];
	pid_t pid;
	u8 context;
	u16 irq;
};

struct ferrotrace_block {
	u64 ns;
	u32 state;
};

struct ferrotrace_totals {
	u64 run_ns;
	u64 wait_ns;
	u64 block_ns;
};

struct ferrotrace_chain_link {
	u64 block_ns;
	struct ferrotrace_waker waker;
	char irq[TASK_COMM_LEN];
	u8 hop;
	bool is_known;
	u32 state;
	u64 waker_block_ns;
	unsigned long caller;
};

struct ferrotrace_wait_behind {
	u64 wait_ns;
	u8 rank;
	bool is_complete;
	struct {
		char comm[TASK_COMM_LEN];
		pid_t pid;
		u32 runs;
		u64 ns;
	} runner;
};

struct ferrotrace_work {
	unsigned long function;
	char comm[TASK_COMM_LEN];
	pid_t pid;
	u64 queued_ns;
	u64 run_ns;
	u64 wait_ns;
	u64 block_ns;
};

struct ferrotrace_section {
	char name[56];
	u64 total_ns;
	u64 run_ns;
	u64 irq_ns;
	u64 wait_ns;
	u64 block_ns;
	s64 cookie;
	bool is_async;
};

KTRACE_PROBESTUB(task_wakeup, struct task_struct *task, u32 target_cpu,
		 const struct ferrotrace_waker *waker)
KTRACE_PROBESTUB(task_wait, struct task_struct *task, u64 wait_ns, u8 since,
		 struct task_struct *prev)
KTRACE_PROBESTUB(task_run, struct task_struct *task, u64 run_ns, u32 state, u64 irq_ns)
KTRACE_PROBESTUB(task_block, struct task_struct *task, const struct ferrotrace_block *block,
		 const struct ferrotrace_waker *waker)
KTRACE_PROBESTUB(task_migrate, struct task_struct *task, u32 orig_cpu, u32 dest_cpu)
KTRACE_PROBESTUB(task_fork, struct task_struct *parent, struct task_struct *child)
KTRACE_PROBESTUB(task_exec, struct task_struct *task, pid_t old_pid, const char *old_comm,
		 const void *filename)
KTRACE_PROBESTUB(task_set_comm, struct task_struct *task, const char *comm, u32 old_mask)
KTRACE_PROBESTUB(task_exit, struct task_struct *task, bool group_dead,
		 const struct ferrotrace_totals *totals)
KTRACE_PROBESTUB(task_chain, struct task_struct *task, const struct ferrotrace_chain_link *link)
KTRACE_PROBESTUB(task_wait_behind, struct task_struct *task,
		 const struct ferrotrace_wait_behind *behind)
KTRACE_PROBESTUB(task_work, struct task_struct *task, const struct ferrotrace_work *work)
KTRACE_PROBESTUB(task_section, struct task_struct *task, const struct ferrotrace_section *section)
KTRACE_PROBESTUB(trigger, struct task_struct *task, u32 rule, s64 value, const char *text,
		 const void *origin)
