// SPDX-License-Identifier: GPL-2.0
/*
 * Static inlines and macros of the kernel's headers that ktrace needs, that Rust cannot
 * call, and that have no file of their own.
 *
 * No policy is implemented here. All of these functions may run inside a traced function,
 * so this file is built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/cpu.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "helpers.h"

/* Context */

bool ktrace_in_hardirq(void)
{
	return in_hardirq();
}

bool ktrace_irqs_disabled(void)
{
	return irqs_disabled();
}

void ktrace_preempt_disable(void)
{
	preempt_disable_notrace();
}

void ktrace_preempt_enable(void)
{
	preempt_enable_notrace();
}

/* Per-CPU data whose address is only known at run time */

void ktrace_this_cpu_add(u64 __percpu *counter, u64 n)
{
#ifdef CONFIG_X86
	this_cpu_add(*counter, n);
#else
	/* One instruction with LSE atomics. An update of another CPU's counter is harmless. */
	atomic64_add(n, (atomic64_t *)raw_cpu_ptr(counter));
#endif
}

u64 ktrace_percpu_sum(u64 __percpu *counter)
{
	u64 sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counter, cpu));
	return sum;
}

u64 __percpu *ktrace_alloc_counters(unsigned int nr)
{
	return __alloc_percpu(nr * sizeof(u64), __alignof__(u64));
}

void ktrace_free_counters(u64 __percpu *counters)
{
	free_percpu(counters);
}

void __percpu *ktrace_alloc_percpu(size_t size, size_t align)
{
	return __alloc_percpu(size, align);
}

void ktrace_free_percpu(void __percpu *memory)
{
	free_percpu(memory);
}

void *ktrace_this_cpu_ptr(void __percpu *memory)
{
	return raw_cpu_ptr(memory);
}

void *ktrace_cpu_ptr(void __percpu *memory, unsigned int cpu)
{
	return cpu_possible(cpu) ? per_cpu_ptr(memory, cpu) : NULL;
}

/* Records and saved cmdlines */

/*
 * Commits the event that this CPU reserved last; preemption must have been off since
 * then. The kernel's taskinfo flag makes the sched_switch probe save the comm of the
 * task that leaves the CPU next, for the output.
 */
void ktrace_commit(struct trace_buffer *buffer, unsigned long taskinfo_flag)
{
	__this_cpu_write(*(bool __percpu __force *)taskinfo_flag, true);
	ring_buffer_unlock_commit(buffer);
}

/* Sets the taskinfo flag of the CPU that runs the task, or ran it last. */
void ktrace_name_changes(struct task_struct *task, unsigned long taskinfo_flag)
{
	WRITE_ONCE(*per_cpu_ptr((bool __percpu __force *)taskinfo_flag, task_cpu(task)),
		   true);
}

/* Memory and files that the kernel frees itself */

void *ktrace_zalloc(size_t size)
{
	return kzalloc(size, GFP_KERNEL);
}

void *ktrace_realloc(void *memory, size_t size)
{
	return krealloc(memory, size, GFP_KERNEL);
}

void ktrace_get_dentry(struct dentry *dentry)
{
	dget(dentry);
}

bool ktrace_dentry_is_gone(struct dentry *dentry)
{
	return d_unhashed(dentry);
}

struct dentry *ktrace_dentry_parent(struct dentry *dentry)
{
	return READ_ONCE(dentry->d_parent);
}

void ktrace_set_operations(struct dentry *dentry,
			   const struct file_operations *fops)
{
	WRITE_ONCE(d_inode(dentry)->i_fop, fops);
}

/* Calls the open() of a kernel table, through a pointer. */
int ktrace_open_by(const struct file_operations *fops, struct inode *inode,
		   struct file *file)
{
	return fops->open(inode, file);
}

void *ktrace_inode_private(struct inode *inode)
{
	return inode->i_private;
}

/* The only lock that a module built on ktrace needs of its own */
static DEFINE_MUTEX(ktrace_mutex);

void ktrace_lock(void)
{
	mutex_lock(&ktrace_mutex);
}

void ktrace_unlock(void)
{
	mutex_unlock(&ktrace_mutex);
}

/* Output */

static ktrace_print_line_t ktrace_print_line;

int ktrace_set_print_line(ktrace_print_line_t print_line)
{
	return ktrace_set_callbacks(&ktrace_print_line, print_line);
}

/* Adapts the return type: the kernel's is an enum, for which Rust has no type that kCFI accepts. */
enum print_line_t ktrace_tracer_print_line(struct trace_iterator *iter)
{
	return ktrace_print_line(iter);
}

/* Returns the iterator of the current CPU's buffer in a `trace` file; NULL in a `trace_pipe`. */
struct ring_buffer_iter *ktrace_buffer_iter(struct trace_iterator *iter)
{
	return iter->buffer_iter ? iter->buffer_iter[iter->cpu] : NULL;
}

/* Prints a record with the output function of its event type. */
unsigned int ktrace_event_text(struct trace_event *event, struct trace_iterator *iter,
			       int flags)
{
	return event->funcs->trace(iter, flags, event);
}

void ktrace_strip_newline(struct trace_seq *seq)
{
	unsigned int len = seq->seq.len;

	if (len && len <= seq->seq.size && seq->seq.buffer[len - 1] == '\n')
		seq->seq.len--;
}

/*
 * Waits until no code that runs with preemption off now still runs, so no callback of a
 * hook either. Where RCU is not watching, in the idle loop or on the way into the kernel,
 * nothing is traced on architectures whose code there must be noinstr, as on those that
 * are supported. On these, the rude form of RCU-tasks waits for nothing; it is for other
 * architectures. May sleep.
 *
 * A CPU that goes online is traced for a few steps before RCU waits for it, and one that
 * goes offline for a few steps after. The hotplug lock is held until that is finished.
 * Must not be called with that lock held.
 */
void ktrace_synchronize(void)
{
	cpus_read_lock();
	cpus_read_unlock();
	synchronize_rcu();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
}
