/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_CALLBACKS_H
#define KTRACE_CALLBACKS_H

/*
 * Functions in Rust that C calls through pointers. bindgen passes these declarations to Rust
 * (callbacks.rs), so that both sides have the same prototypes, as kCFI requires. The traits that
 * the functions call have the documentation.
 */
#ifndef __BINDGEN__
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/types.h>

/*
 * Sets a pointer to callbacks, before anything that calls them is registered or queued. The pointer
 * stays set, because the callbacks are constants of this module. Fails if it has another value: a
 * module has one type for each kind of callbacks.
 */
#define ktrace_set_callbacks(place, callbacks)				\
({									\
	typeof(*(place)) ktrace_new = (callbacks);			\
	typeof(*(place)) ktrace_old = cmpxchg(place, NULL, ktrace_new);	\
									\
	ktrace_old && ktrace_old != ktrace_new ? -EBUSY : 0;		\
})
#else
#define bool _Bool
#define u64 unsigned long long
#define pid_t int
#endif

struct ktrace_graph;
struct module;
struct task_struct;
struct trace_iterator;

/* The life of tasks: `TaskHooks` in task/hooks.rs. */
struct ktrace_task_callbacks {
	void (*new_task)(struct task_struct *parent, struct task_struct *child);
	void (*rename)(struct task_struct *task, const char *comm);
	void (*name_written)(struct task_struct *task);
	void (*prepare_exec)(struct task_struct *task);
	void (*exec)(struct task_struct *task, pid_t old_pid);
	void (*moved)(struct task_struct *task);
	void (*free)(struct task_struct *task);
	void (*reclaim)(void);
};

/* The scheduler, except for switches and wakeups: `SchedHooks` in task/sched.rs. */
struct ktrace_sched_callbacks {
	void (*fork)(struct task_struct *parent, struct task_struct *child);
	void (*prepare_exec)(struct task_struct *task);
	void (*exec)(struct task_struct *task, pid_t old_pid, const char *filename);
	void (*changes)(struct task_struct *task);
	void (*rename)(struct task_struct *task, const char *comm);
	void (*exit)(struct task_struct *task, bool group_dead, u64 now);
	void (*reclaim)(void);
};

/* `FunctionHook::recursed` in hook/ftrace_ops.rs. */
typedef void (*ktrace_recursed_t)(unsigned int slot);

/* `GraphHook::overrun` and `GraphHook::interposed` in fgraph/graph_hook.rs. */
typedef void (*ktrace_overrun_t)(struct ktrace_graph *graph);
typedef void (*ktrace_interposed_t)(unsigned int context);

/* The data of a watched call until it returns; `tag` is for call_watch.c alone. */
struct ktrace_call_frame {
	u64 tag;
	u64 begun_ns;
	u64 wait_ns;
	u64 block_ns;
};

/* `CallWatcher` in fgraph/call_watch.rs. */
struct ktrace_call_callbacks {
	bool (*entry)(const void *data, struct ktrace_call_frame *frame);
	void (*exit)(const void *data, const struct ktrace_call_frame *frame, unsigned long value);
	void (*overrun)(const void *data);
};

/* `WorkWatcher` in task/works.rs. */
struct ktrace_work_callbacks {
	void (*queued)(unsigned long work, bool in_task);
	void (*started)(unsigned long work);
	void (*ended)(unsigned long work, unsigned long function);
};

/* `MarkerWatcher` in record/marker_export.rs. */
typedef void (*ktrace_marker_t)(const void *record, unsigned int size);

/* `SignalWatcher` in task/signals.rs. */
typedef void (*ktrace_signal_t)(struct task_struct *task, int sig, bool is_fatal);

/* `Expires` in time/delay.rs. */
typedef void (*ktrace_expired_t)(const void *data, u64 late_ns);

/* `InstancesChanged` in array/instances.rs. */
typedef void (*ktrace_instances_changed_t)(void);

/* `TextLeaves` in private/modules.rs. */
typedef void (*ktrace_text_leaves_t)(const struct module *module, bool init_only);

/* `EventUsers` in event/users.rs. Returns 0 or a negative errno. */
typedef int (*ktrace_event_users_changed_t)(bool any);

/* `Tracer::print` in output/tracer.rs. Returns an enum print_line_t. */
typedef unsigned int (*ktrace_print_line_t)(struct trace_iterator *iter);

#endif
