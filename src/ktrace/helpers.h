/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_HELPERS_H
#define KTRACE_HELPERS_H

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "callbacks.h"

#define KTRACE_NR_SLOTS 32

struct dentry;
struct file;
struct file_operations;
struct inode;
struct poll_table_struct;
struct ktrace_call_watch;
struct ktrace_delay;
struct ktrace_pack;
struct ring_buffer_iter;
struct seq_operations;
struct trace_array;
struct trace_buffer;
struct trace_event;
struct trace_seq;
struct tracepoint;

/* Defined in Rust, called from C. The Rust definitions have the documentation. */
void ktrace_function_hit(unsigned int slot, unsigned long ip,
			 unsigned long parent_ip, struct ftrace_regs *fregs,
			 unsigned int context, pid_t pid);
void ktrace_switched(u32 *mask, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state);
void ktrace_comm_changes(struct task_struct *task);
void ktrace_visit_task(void *visitor, struct task_struct *task);

/* Called from Rust. Defined in symbols.c, */
void ktrace_bind(unsigned int index, unsigned long addr);
int ktrace_find_kallsyms(unsigned long *addr);
unsigned long ktrace_find_data(const char *name, unsigned long text, unsigned long text_end);
int ktrace_locked_down(void);

/* in ftrace_ops.c, */
int ktrace_set_recursed(ktrace_recursed_t recursed);
ftrace_func_t ktrace_slot_function(unsigned int slot);
int ktrace_preempt_depth(void);
unsigned long ktrace_argument(struct ftrace_regs *fregs, unsigned int n);
unsigned long ktrace_stack_pointer(struct ftrace_regs *fregs);

/* in stack_depth.c, */
unsigned int ktrace_stack_size(void);
unsigned int ktrace_stack_used(struct ftrace_regs *fregs);
void ktrace_stack_frames(struct ftrace_regs *fregs, const unsigned long *functions,
			 unsigned int nr, unsigned long *used);

/* in compact.c, */
u32 ktrace_counter_mult(void);
u64 ktrace_raw_context(u64 *flags);
bool ktrace_is_suspended(void);
struct ktrace_pack __percpu *ktrace_alloc_packs(void);
void ktrace_free_packs(struct ktrace_pack __percpu *packs);
int ktrace_watch_suspend(void);
void ktrace_unwatch_suspend(void);

/* in selftest.c, */
bool ktrace_is_broken(char step);
const char *ktrace_test_packs(const struct seq_operations *ops, struct trace_array *tr);

/* in task.c, */
const char *ktrace_find_task_probes(void);
int ktrace_attach_task_probes(const struct ktrace_task_callbacks *callbacks);
void ktrace_detach_task_probes(void);
const char *ktrace_find_name_probe(void);
int ktrace_attach_name_probe(void *user);
void ktrace_detach_name_probe(void *user);
void ktrace_reclaim_later(void);
void ktrace_visit_tasks(void *visitor);

/* in call_watch.c, */
struct ktrace_call_watch *ktrace_watch_calls(char *functions, u32 bit,
					     const struct ktrace_call_callbacks *callbacks,
					     const void *data);
bool ktrace_unwatch_calls(struct ktrace_call_watch *watch);

/* in delay.c, */
struct ktrace_delay *ktrace_new_delay(u64 ns, ktrace_expired_t expired, const void *data);
void ktrace_start_delay(struct ktrace_delay *delay, u64 from_ns);
void ktrace_free_delay(struct ktrace_delay *delay);

/* in marker_export.c, */
int ktrace_watch_trace_marker(ktrace_marker_t marker);
void ktrace_unwatch_trace_marker(void);

/* in irqs.c, */
int ktrace_watch_irqs(void);
void ktrace_unwatch_irqs(void);
u16 ktrace_irq_now(bool is_softirq);
bool ktrace_irq_name(u16 code, char *name);

/* in irq_time.c, */
int ktrace_watch_irq_time(void);
void ktrace_unwatch_irq_time(void);
u64 ktrace_irq_time_here(void);
u64 ktrace_irq_time_of_last_run(void);
bool ktrace_irq_time_is_in_irq(void);

/* in cpu_events.c, */
int ktrace_watch_switches(void);
void ktrace_unwatch_switches(void);
u32 ktrace_switches_here(void);
u64 ktrace_irqs_handled(void);

/* in works.c, */
int ktrace_watch_works(const struct ktrace_work_callbacks *callbacks);
void ktrace_unwatch_works(void);

/* in cgroups.c, */
const void *ktrace_task_cgroup(struct task_struct *task);
u64 ktrace_cgroup_id(const void *cgroup, unsigned int up);
u64 ktrace_cgroup_root_id(void);
u64 ktrace_cgroup_find(const char *path);
int ktrace_cgroup_path(u64 id, char *path, size_t size);
int ktrace_watch_names(const struct ktrace_task_callbacks *callbacks);
bool ktrace_unwatch_names(void);
int ktrace_watch_cgroups(const struct ktrace_task_callbacks *callbacks);
void ktrace_unwatch_cgroups(const struct ktrace_task_callbacks *callbacks);

/* in notify.c, */
void ktrace_notify(void);
void ktrace_notify_sync(void);
void ktrace_poll_wait(struct file *file, struct poll_table_struct *table);

/* in pid_namespace.c, */
pid_t ktrace_pid_from_namespace(pid_t id);
pid_t ktrace_pid_to_namespace(pid_t id);

/* in signals.c, */
int ktrace_watch_signals(ktrace_signal_t signal);
void ktrace_unwatch_signals(void);

/* in markers.c, */
int ktrace_watch_markers(ktrace_interposed_t interposed);
void ktrace_unwatch_markers(void);

/* in modules.c, */
int ktrace_watch_modules(ktrace_text_leaves_t leaves);
void ktrace_unwatch_modules(void);
bool ktrace_module_has(const struct module *module, bool init_only, unsigned long address);
size_t ktrace_symbol_name(char *text, size_t size, unsigned long address);

/* in event_files.c, */
bool ktrace_events_are_on(const struct list_head *files);
bool ktrace_events_were_on(const struct list_head *files);

/* in instances.c, */
#define KTRACE_CHANGED_INSTANCES 1
#define KTRACE_CHANGED_EVENTS 2
#define KTRACE_CHANGED_FUNCTIONS 4
u32 ktrace_take_changes(void);
int ktrace_watch_instances(ktrace_instances_changed_t changed);
void ktrace_look_at_instances(void);
void ktrace_unwatch_instances(void);

/* and in helpers.c. */
void ktrace_synchronize(void);
bool ktrace_in_hardirq(void);
bool ktrace_irqs_disabled(void);
void ktrace_preempt_disable(void);
void ktrace_preempt_enable(void);
void ktrace_this_cpu_add(u64 __percpu *counter, u64 n);
u64 ktrace_percpu_sum(u64 __percpu *counter);
u64 __percpu *ktrace_alloc_counters(unsigned int nr);
void ktrace_free_counters(u64 __percpu *counters);
void __percpu *ktrace_alloc_percpu(size_t size, size_t align);
void ktrace_free_percpu(void __percpu *memory);
void *ktrace_this_cpu_ptr(void __percpu *memory);
void *ktrace_cpu_ptr(void __percpu *memory, unsigned int cpu);
void ktrace_commit(struct trace_buffer *buffer, unsigned long taskinfo_flag);
void ktrace_name_changes(struct task_struct *task, unsigned long taskinfo_flag);
void *ktrace_zalloc(size_t size);
void *ktrace_realloc(void *memory, size_t size);
void ktrace_get_dentry(struct dentry *dentry);
bool ktrace_dentry_is_gone(struct dentry *dentry);
struct dentry *ktrace_dentry_parent(struct dentry *dentry);
void ktrace_set_operations(struct dentry *dentry,
			   const struct file_operations *fops);
int ktrace_open_by(const struct file_operations *fops, struct inode *inode,
		   struct file *file);
void *ktrace_inode_private(struct inode *inode);
void ktrace_lock(void);
void ktrace_unlock(void);
int ktrace_set_print_line(ktrace_print_line_t print_line);
enum print_line_t ktrace_tracer_print_line(struct trace_iterator *iter);
struct ring_buffer_iter *ktrace_buffer_iter(struct trace_iterator *iter);
unsigned int ktrace_event_text(struct trace_event *event, struct trace_iterator *iter,
			       int flags);
void ktrace_strip_newline(struct trace_seq *seq);

#endif
