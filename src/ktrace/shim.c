// SPDX-License-Identifier: GPL-2.0
/*
 * What ktrace needs of the kernel's headers and Rust cannot reach, and has no file of
 * its own: static inlines and macros.
 *
 * Nothing in here decides anything. All of it may run inside a traced function,
 * so this file is built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "shim.h"

/* The context */

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

/* Per-CPU data whose address is known at run time only */

void ktrace_this_cpu_add(u64 __percpu *counter, u64 n)
{
#ifdef CONFIG_X86
	this_cpu_add(*counter, n);
#else
	/* One instruction where there are atomics, and no matter on which CPU it is then. */
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

/* Records, and names of tasks */

/*
 * Commits what this CPU has reserved last, with preemption off since. The
 * kernel's flag asks the scheduler's hook to remember the name of the task that
 * leaves next, for the output.
 */
void ktrace_commit(struct trace_buffer *buffer, unsigned long taskinfo_flag)
{
	__this_cpu_write(*(bool __percpu __force *)taskinfo_flag, true);
	ring_buffer_unlock_commit(buffer);
}

/* The flag of the CPU on which the task is, or will be again unless it is moved. */
void ktrace_name_changes(struct task_struct *task, unsigned long taskinfo_flag)
{
	WRITE_ONCE(*per_cpu_ptr((bool __percpu __force *)taskinfo_flag, task_cpu(task)),
		   true);
}

/* Memory and files that the kernel frees by itself in the end */

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

/* A table of the kernel's, so the function can be called through a pointer. */
int ktrace_open_by(const struct file_operations *fops, struct inode *inode,
		   struct file *file)
{
	return fops->open(inode, file);
}

void *ktrace_inode_private(struct inode *inode)
{
	return inode->i_private;
}

/* The one lock that a module built on this needs for itself */
static DEFINE_MUTEX(ktrace_mutex);

void ktrace_lock(void)
{
	mutex_lock(&ktrace_mutex);
}

void ktrace_unlock(void)
{
	mutex_unlock(&ktrace_mutex);
}

/* What prints */

/* The kernel's type of what it returns is an enum. */
enum print_line_t ktrace_tracer_print_line(struct trace_iterator *iter)
{
	return ktrace_print_line(iter);
}

/* How a `trace` file walks the buffer of the CPU that it is at; a pipe does not. */
struct ring_buffer_iter *ktrace_buffer_iter(struct trace_iterator *iter)
{
	return iter->buffer_iter ? iter->buffer_iter[iter->cpu] : NULL;
}

/* The text of a record as its own kind has it. */
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
