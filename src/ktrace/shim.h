/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_SHIM_H
#define KTRACE_SHIM_H

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/types.h>

#define KTRACE_NR_SLOTS 32

struct dentry;
struct file_operations;
struct inode;
struct task_struct;
struct tracepoint;

/* A function that is to be called by a tracepoint of the kernel. */
struct ktrace_probe {
	const char *name;
	void *func;
	struct tracepoint *tp;
};

/* One bit for each hook that wants the task which runs on a CPU. */
DECLARE_PER_CPU(u32, ktrace_gate);

/* Defined in Rust, called from shim.c; the Rust side says what each means. */
void ktrace_function_hit(unsigned int slot, unsigned long ip,
			 unsigned long parent_ip, struct ftrace_regs *fregs);
u32 ktrace_switch_to(struct task_struct *next, unsigned int cpu);
u32 ktrace_idle_mask(unsigned int cpu);
void ktrace_new_task(struct task_struct *parent, struct task_struct *task);
void ktrace_rename_task(struct task_struct *task, const char *comm);
void ktrace_exec_task(struct task_struct *task, pid_t old_pid);
void ktrace_free_task(struct task_struct *task);
void ktrace_visit_task(void *visitor, struct task_struct *task);
void ktrace_deferred(void);

/* Defined in shim.c, called from other C. */
const char *ktrace_find_probes(struct ktrace_probe *probes, unsigned int nr);
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr);
void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr);

/* Defined in shim.c, called from Rust. */
unsigned int ktrace_call_tracing_gen_ctx_irq_test(unsigned int irqs_status);
bool ktrace_bind(unsigned int index, unsigned long addr);
unsigned long ktrace_find_kallsyms(void);
ftrace_func_t ktrace_slot_function(unsigned int slot);
void ktrace_gate_refresh(void);
void ktrace_gate_refresh_current(void);
bool ktrace_gate_refresh_others(void);
int ktrace_recursion_enter(unsigned long ip, unsigned long parent_ip);
void ktrace_recursion_exit(int bit);
unsigned int ktrace_context(void);
pid_t ktrace_current_pid(void);
struct task_struct *ktrace_current(void);
unsigned long ktrace_argument(struct ftrace_regs *fregs, unsigned int n);
unsigned long ktrace_stack_pointer(struct ftrace_regs *fregs);
void ktrace_this_cpu_inc(u64 __percpu *counter);
void ktrace_this_cpu_add(u64 __percpu *counter, u64 n);
u64 ktrace_percpu_sum(u64 __percpu *counter);
u64 __percpu *ktrace_alloc_counters(unsigned int nr);
void ktrace_free_counters(u64 __percpu *counters);
void ktrace_this_cpu_set_flag(unsigned long flag);
void *ktrace_zalloc(size_t size);
void *ktrace_realloc(void *memory, size_t size);
void ktrace_get_dentry(struct dentry *dentry);
bool ktrace_dentry_is_gone(struct dentry *dentry);
struct dentry *ktrace_dentry_parent(struct dentry *dentry);
void ktrace_set_operations(struct dentry *dentry,
			   const struct file_operations *fops);
void *ktrace_inode_private(struct inode *inode);
const char *ktrace_find_task_probes(void);
int ktrace_attach_task_probes(void);
void ktrace_detach_task_probes(void);
void ktrace_visit_tasks(void *visitor);
int ktrace_locked_down(void);
void ktrace_lock(void);
void ktrace_unlock(void);
int ktrace_watch_instances(void);
void ktrace_unwatch_instances(void);

#endif
