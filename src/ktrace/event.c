// SPDX-License-Identifier: GPL-2.0
/*
 * What trace events in Rust need of the kernel's headers: static inlines, and
 * callbacks whose prototypes name C enums, which Rust has no equal of where the
 * kernel checks the types of indirect calls (kCFI).
 *
 * All of it runs inside tracepoints, so this file is built without ftrace's call
 * at function entry (see Kbuild).
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/srcu.h>
#include <linux/tracepoint.h>
#include <linux/trace_events.h>
#include <linux/workqueue.h>

#ifdef CONFIG_ARM64
#include <asm/pointer_auth.h>
#endif

#include "event.h"
#include "shim.h"

/*
 * A tracepoint is entered as the kernel enters its own: with SRCU, or in kernels
 * that do not have that for it with preemption off, so that its probes need not
 * do that themselves.
 */
#ifdef KTRACE_HAS_tracepoint_srcu
static inline void ktrace_tracepoint_lock(struct srcu_ctr __percpu **ctr)
{
	*ctr = srcu_read_lock_fast_notrace(&tracepoint_srcu);
}

static inline void ktrace_tracepoint_unlock(struct srcu_ctr __percpu *ctr)
{
	srcu_read_unlock_fast_notrace(&tracepoint_srcu, ctr);
}

static inline void ktrace_probe_lock(void)
{
	preempt_disable_notrace();
}

static inline void ktrace_probe_unlock(void)
{
	preempt_enable_notrace();
}
#else
/* Probes take spinlocks and allocate: with PREEMPT_RT they cannot while preemption is off. */
#ifdef CONFIG_PREEMPT_RT
#error "ferrotrace: on PREEMPT_RT this needs a kernel that calls the probes of tracepoints with preemption on (tracepoint_srcu)"
#endif

static inline void ktrace_tracepoint_lock(struct srcu_ctr __percpu **ctr)
{
	*ctr = NULL;
	preempt_disable_notrace();
}

static inline void ktrace_tracepoint_unlock(struct srcu_ctr __percpu *ctr)
{
	preempt_enable_notrace();
}

static inline void ktrace_probe_lock(void)
{
}

static inline void ktrace_probe_unlock(void)
{
}
#endif

/* False where a tracepoint must stay silent: on a CPU that is not online. */
bool ktrace_tracepoint_enter(struct srcu_ctr __percpu **ctr)
{
	if (!cpu_online(raw_smp_processor_id()))
		return false;
	ktrace_tracepoint_lock(ctr);
	return true;
}

void ktrace_tracepoint_exit(struct srcu_ctr __percpu *ctr)
{
	ktrace_tracepoint_unlock(ctr);
}

/*
 * Preemption is off from here on. Runs the triggers that want no record. If false,
 * no record is wanted, and preemption is as it was.
 */
bool ktrace_event_enter(struct trace_event_file *file)
{
	ktrace_probe_lock();
	if (!trace_trigger_soft_disabled(file))
		return true;
	ktrace_probe_unlock();
	return false;
}

void ktrace_event_exit(void)
{
	ktrace_probe_unlock();
}

#ifdef CONFIG_PERF_EVENTS

/*
 * Turns preemption off. Returns null, with preemption as it was, if perf wants no record.
 * @about is the task that the event is about, or null in a class whose events are not
 * about a task: see ktrace_perf_deliver_about().
 */
struct hlist_head *ktrace_perf_enter(struct trace_event_call *call, struct task_struct *about)
{
	struct hlist_head *head;

	ktrace_probe_lock();
	head = this_cpu_ptr(call->perf_events);
	if (bpf_prog_array_valid(call) || !hlist_empty(head))
		return head;
	if (about && rcu_access_pointer(about->perf_event_ctxp))
		return head;
	ktrace_probe_unlock();
	return NULL;
}

void ktrace_perf_exit(void)
{
	ktrace_probe_unlock();
}

/*
 * Events that are about a task, which need not be the current one.
 *
 * perf keeps a list of open events for each CPU. It holds the events of the CPU and those
 * of the task that runs there, so an event that is about another task would be delivered
 * to the current task. The kernel's __perf_task() delivers it to the other task in
 * addition, but only to what was opened for this CPU as well ("perf record -p"), not to
 * what was opened for any CPU ("perf stat -p").
 *
 * So what was opened for a task is kept off that list (ktrace_event_reg_about()), and
 * found by the task instead.
 */
static bool ktrace_perf_is_open(const struct perf_event *event, const struct trace_event_call *call)
{
	if (event->tp_event != call)
		return false;
	/* Enabled, along with its group, whether its task has a CPU or not. */
	if (event->state < PERF_EVENT_STATE_INACTIVE ||
	    event->group_leader->state < PERF_EVENT_STATE_INACTIVE)
		return false;
	/* A synchronous signal cannot be sent to another task. */
	if (event->attr.sigtrap && event->ctx->task != current)
		return false;
	return event->cpu == -1 || event->cpu == raw_smp_processor_id();
}

/* With the lock of the event's context held and interrupts off. */
static void ktrace_perf_deliver(struct perf_event *event, const void *record, int size)
{
	/* Nothing follows an event that is on no list: a list of this event alone. */
	struct hlist_head head = { .first = &event->hlist_entry };
	enum perf_event_state state = event->state;
	struct pt_regs *regs;
	char tail[sizeof(u64)];
	void *buffer;
	int context;

	/* This is the buffer of @record again: each context of a CPU has one. perf clears its end. */
	memcpy(tail, record + size - sizeof(tail), sizeof(tail));
	buffer = perf_trace_buf_alloc(size, &regs, &context);
	if (!buffer)
		return;
	memcpy(buffer + size - sizeof(tail), tail, sizeof(tail));
	/*
	 * Some kernels write a sample only if the event is active, which it is if its task is
	 * the current one. The state is guarded by the lock; who reads it without, looks for
	 * the CPU that the event is active on, and finds none.
	 */
	WRITE_ONCE(event->state, PERF_EVENT_STATE_ACTIVE);
	perf_tp_event(event->tp_event->event.type, 1, buffer, size, regs, &head, context, NULL);
	WRITE_ONCE(event->state, state);
}

/*
 * Delivers a record to what was opened for @task. The record has been submitted to
 * the others just before, with preemption off since. Not from NMIs.
 *
 * Interrupts must be off while the lock is held, which sched_wakeup and others take by
 * __perf_task() under the run queue's lock as well.
 */
void ktrace_perf_deliver_about(struct task_struct *task, void *record, int size,
			       struct trace_event_call *call)
{
	struct perf_event_context *ctx;
	struct perf_event *event;
	unsigned long flags;

	rcu_read_lock();
	ctx = rcu_dereference(task->perf_event_ctxp);
	if (ctx) {
		raw_spin_lock_irqsave(&ctx->lock, flags);
		/* Tasks with like events swap their contexts. */
		if (ctx->task == task) {
			list_for_each_entry(event, &ctx->event_list, event_entry) {
				if (ktrace_perf_is_open(event, call))
					ktrace_perf_deliver(event, record, size);
			}
		}
		raw_spin_unlock_irqrestore(&ctx->lock, flags);
	}
	rcu_read_unlock();
}

/*
 * Where perf and BPF begin a callchain: whom the caller of this, the listener, will
 * return to. perf_fetch_caller_regs() tells of the function that it stands in, which
 * must not have returned when the record is submitted; this one has by then, and a
 * chain that is followed by frame records would begin at one that is overwritten.
 */
#ifdef CONFIG_ARM64
noinline void ktrace_perf_caller(struct pt_regs *regs)
{
	/* Frame records: that of whoever called, and where to return to. */
	const unsigned long *own = __builtin_frame_address(0);
	const unsigned long *listener = (const unsigned long *)own[0];

	perf_arch_fetch_caller_regs(regs, ptrauth_strip_kernel_insn_pac(listener[1]));
	regs->regs[29] = listener[0];
	regs->sp = listener[0];
}
#else
/* x86 follows the stack as it is, and takes of these only where to begin to tell of it. */
noinline void ktrace_perf_caller(struct pt_regs *regs)
{
	perf_fetch_caller_regs(regs);
}
#endif

#endif

static enum print_line_t ktrace_event_trace(struct trace_iterator *iter, int flags,
					    struct trace_event *event)
{
	int ret = trace_raw_output_prep(iter, event);

	if (ret != TRACE_TYPE_HANDLED)
		return ret;
	ktrace_event_print(iter, event);
	return trace_handle_return(&iter->seq);
}

/* Where the next text in a buffer begins. */
const char *ktrace_seq_position(struct trace_seq *seq)
{
	return trace_seq_buffer_ptr(seq);
}

struct trace_event_functions ktrace_event_functions = {
	.trace = ktrace_event_trace,
};

/* Of packs, which are shown item by item and without the name of the event: compact/print.rs. */
static enum print_line_t ktrace_pack_trace(struct trace_iterator *iter, int flags,
					   struct trace_event *event)
{
	return ktrace_pack_print(iter);
}

struct trace_event_functions ktrace_pack_functions = {
	.trace = ktrace_pack_trace,
};

/*
 * Events that need something to be going on before they can fire: whether
 * anybody listens to one of them. The kernel tells it with a lock held under
 * which no probe can be attached, so that is left to a work item, which all who
 * can sleep for it wait for.
 */
static atomic_t ktrace_event_nr_users = ATOMIC_INIT(0);
/* What came of the work when it ran last: 0 or an errno below zero. */
static int ktrace_event_users_result;

static void ktrace_event_users_work_func(struct work_struct *unused)
{
	int ret = ktrace_event_users_changed(atomic_read(&ktrace_event_nr_users));

	WRITE_ONCE(ktrace_event_users_result, ret);
}
static DECLARE_WORK(ktrace_event_users_work, ktrace_event_users_work_func);

/*
 * Set by ktrace_event_users_start(), which looks at the number afterwards: whoever
 * changes it and sees this unset is seen. Those who follow the kernel's notifiers
 * come before the module is initialized, go when it has been left or has refused to
 * load, and hold no reference: nothing may be queued then, as nothing would wait for it.
 */
static bool ktrace_event_users_started;

static void ktrace_event_users_queue(void)
{
	if (READ_ONCE(ktrace_event_users_started))
		schedule_work(&ktrace_event_users_work);
}

/* How many of the tracepoints have listeners. Under the kernel's lock on them, as the two below are called. */
static int ktrace_event_count_users(void)
{
	const struct module *module = THIS_MODULE;
	unsigned int i;
	int nr = 0;

	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		nr += tp->ext == &ktrace_event_users && static_key_enabled(&tp->key);
	}
	return nr;
}

/*
 * Of one that has got its first listener, who is not attached yet. Counted anew: some
 * kernels (6.18) do not take it back when that fails for want of memory, and one that
 * is not there would be taken for a user until the end.
 */
static int ktrace_event_first_listener(void)
{
	if (!atomic_xchg(&ktrace_event_nr_users, ktrace_event_count_users() + 1))
		ktrace_event_users_queue();
	return 0;
}

static void ktrace_event_last_listener(void)
{
	if (atomic_dec_and_test(&ktrace_event_nr_users))
		ktrace_event_users_queue();
}

struct tracepoint_ext ktrace_event_users = {
	.regfunc = ktrace_event_first_listener,
	.unregfunc = ktrace_event_last_listener,
};

/* Waits for the work. Returns what came of it. */
static int ktrace_event_users_wait(void)
{
	flush_work(&ktrace_event_users_work);
	return READ_ONCE(ktrace_event_users_result);
}

int ktrace_event_users_start(void)
{
	WRITE_ONCE(ktrace_event_users_started, true);
	/* Orders the two: it is an atomic operation that returns something. */
	schedule_work(&ktrace_event_users_work);
	return ktrace_event_users_wait();
}

/* For the end of the module: it is not queued after this, whoever stops to listen. */
void ktrace_event_users_stop(void)
{
	disable_work_sync(&ktrace_event_users_work);
}

static int ktrace_event_unlisten(struct trace_event_call *call, enum trace_reg type, void *data)
{
	int ret = trace_event_reg(call, type, data);

	if (call->tp->ext)
		ktrace_event_users_wait();
	return ret;
}

/*
 * Attaches a listener. If what has to be going on for the event cannot be, it is
 * detached again, by @undo, and has returned: the kernel frees what it uses at once.
 */
static int ktrace_event_listen(struct trace_event_call *call, enum trace_reg type,
			       enum trace_reg undo, void *data)
{
	/* Listeners who do not ask, as BPF's, may have been left without. */
	bool failed = READ_ONCE(ktrace_event_users_result);
	int ret = trace_event_reg(call, type, data);

	if (ret || !call->tp->ext)
		return ret;
	if (failed)
		ktrace_event_users_queue();
	ret = ktrace_event_users_wait();
	if (ret) {
		ktrace_event_unlisten(call, undo, data);
		tracepoint_synchronize_unregister();
	}
	return ret;
}

/*
 * Turns an event on and off. While it is on for a trace array, the module stays:
 * the kernel would let it go, but leave triggers behind that it does not take
 * off by itself. Others who listen (perf, BPF) hold the module anyway.
 *
 * All of these come with event_mutex held, which the kernel takes before it
 * frees a module: the code behind module_put() is still there. Only perf's ADD
 * and DEL come where one may not sleep.
 */
int ktrace_event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	int ret;

	switch (type) {
	case TRACE_REG_REGISTER:
		if (!try_module_get(call->module))
			return -ENODEV;
		ktrace_look_at_instances();
		ret = ktrace_event_listen(call, type, TRACE_REG_UNREGISTER, data);
		if (ret)
			module_put(call->module);
		return ret;
	case TRACE_REG_UNREGISTER:
		ret = ktrace_event_unlisten(call, type, data);
		module_put(call->module);
		return ret;
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return ktrace_event_listen(call, type, TRACE_REG_PERF_UNREGISTER, data);
	case TRACE_REG_PERF_UNREGISTER:
		return ktrace_event_unlisten(call, type, data);
#endif
	default:
		return trace_event_reg(call, type, data);
	}
}

/* The same for events that are about a task: see ktrace_perf_deliver_about(). */
int ktrace_event_reg_about(struct trace_event_call *call, enum trace_reg type, void *data)
{
#ifdef CONFIG_PERF_EVENTS
	if (type == TRACE_REG_PERF_ADD || type == TRACE_REG_PERF_DEL) {
		const struct perf_event *event = data;

		/* Anything but 0 keeps it off the list. */
		if (event->attach_state & PERF_ATTACH_TASK)
			return 1;
	}
#endif
	return ktrace_event_reg(call, type, data);
}

/*
 * Whether an event of this module was ever on in a trace array, whose events these are.
 * Under trace_types_lock, with which they come and go.
 */
bool ktrace_events_are_on(const struct list_head *files)
{
	const struct trace_event_file *file;

	/* Of those that are soft-disabled, a trigger may write records at any time. */
	list_for_each_entry(file, files, list)
		if (READ_ONCE(file->flags) & EVENT_FILE_FL_ENABLED)
			return true;
	return false;
}

bool ktrace_events_were_on(const struct list_head *files)
{
	const struct trace_event_file *file;

	list_for_each_entry(file, files, list) {
		const struct trace_event_call *call = file->event_call;

		/* Those of probes and the like have something else in place of a module. */
		if (call->flags & TRACE_EVENT_FL_DYNAMIC || call->module != THIS_MODULE)
			continue;
		if (READ_ONCE(file->flags) & EVENT_FILE_FL_WAS_ENABLED)
			return true;
	}
	return false;
}
