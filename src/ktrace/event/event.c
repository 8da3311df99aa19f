// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of trace events that Rust cannot express: static inlines of the kernel's headers, and
 * callbacks whose prototypes contain C enums, for which Rust has no equivalent type where the
 * kernel checks the types of indirect calls (kCFI).
 *
 * All of this runs inside tracepoints, so this file is built without ftrace's call at function
 * entry (see Kbuild).
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
#include "../helpers.h"

/*
 * A tracepoint is entered as the kernel enters its own: in an SRCU read-side section, or,
 * in kernels that do not use SRCU for tracepoints, with preemption off, so that its
 * probes need not disable preemption themselves.
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
/* Probes take spinlocks and allocate; on PREEMPT_RT that is not allowed with preemption off. */
#ifdef CONFIG_PREEMPT_RT
#error "PREEMPT_RT needs a kernel that calls tracepoint probes with preemption on (SRCU)"
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

/* Returns false if the tracepoint must not fire: on a CPU that is not online. */
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
 * Disables preemption, unless the tracepoint has done so, and runs the triggers that need
 * no record. Returns false, with preemption as before, if no record is needed.
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
 * Disables preemption, unless the tracepoint has done so. Returns NULL, with preemption as
 * before, if perf needs no record. @about is the task that the event is about, or NULL in
 * a class whose events are not about a task: see ktrace_perf_deliver_about().
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
 * Events that are about a task, which may not be the current one.
 *
 * perf keeps a list of open events for each CPU. It contains the events of the CPU and
 * those of the task that runs there, so an event about another task would be delivered to
 * the current task. The kernel's __perf_task() additionally delivers it to the other task,
 * but only to events that were opened for this CPU ("perf record -p"), not to events that
 * were opened for any CPU ("perf stat -p").
 *
 * Therefore events that were opened for a task are not added to that list
 * (ktrace_event_reg_about()), but are found through the task.
 */
static bool ktrace_perf_is_open(const struct perf_event *event, const struct trace_event_call *call)
{
	if (event->tp_event != call)
		return false;
	/* The event and its group must be enabled; its task may be off the CPU. */
	if (event->state < PERF_EVENT_STATE_INACTIVE ||
	    event->group_leader->state < PERF_EVENT_STATE_INACTIVE)
		return false;
	/* A synchronous signal cannot be sent to another task. */
	if (event->attr.sigtrap && event->ctx->task != current)
		return false;
	return event->cpu == -1 || event->cpu == raw_smp_processor_id();
}

/* Called with the lock of the event's context held and interrupts off. */
static void ktrace_perf_deliver(struct perf_event *event, const void *record, int size)
{
	/* The event is on no list, so it has no successor: this is a list with only this event. */
	struct hlist_head head = { .first = &event->hlist_entry };
	enum perf_event_state state = event->state;
	struct pt_regs *regs;
	char tail[sizeof(u64)];
	void *buffer;
	int context;

	/*
	 * This returns the buffer of @record again, because there is one for each context of a
	 * CPU, and clears its end.
	 */
	memcpy(tail, record + size - sizeof(tail), sizeof(tail));
	buffer = perf_trace_buf_alloc(size, &regs, &context);
	if (!buffer)
		return;
	memcpy(buffer + size - sizeof(tail), tail, sizeof(tail));
	/*
	 * Some kernels write a sample only if the event is active, which it is only if its task
	 * is the current one. The lock protects the state. A reader without the lock looks for
	 * the CPU on which the event is active, and finds none.
	 */
	WRITE_ONCE(event->state, PERF_EVENT_STATE_ACTIVE);
	perf_tp_event(event->tp_event->event.type, 1, buffer, size, regs, &head, context, NULL);
	WRITE_ONCE(event->state, state);
}

/*
 * Delivers a record to the perf events that were opened for @task. The record must have
 * been submitted to the other perf events before, with preemption off since then. Not for
 * NMIs.
 *
 * Interrupts must be off while the lock is held: sched_wakeup and other events take it in
 * __perf_task(), with the lock of the run queue held.
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
		/* Tasks with equivalent events may swap their contexts. */
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
 * Sets the registers with which perf and BPF start a callchain, at the return address of
 * the listener, which calls this function. perf_fetch_caller_regs() uses the frame of the
 * function that calls it, which must not have returned when the record is submitted. This
 * function has returned by then, so a callchain of frame records would start at a frame
 * record that has been overwritten.
 */
#ifdef CONFIG_ARM64
noinline void ktrace_perf_caller(struct pt_regs *regs)
{
	/* Frame records: the caller's frame record, followed by the return address. */
	const unsigned long *own = __builtin_frame_address(0);
	const unsigned long *listener = (const unsigned long *)own[0];

	perf_arch_fetch_caller_regs(regs, ptrauth_strip_kernel_insn_pac(listener[1]));
	regs->regs[29] = listener[0];
	regs->sp = listener[0];
}
#else
/* x86 unwinds the present stack and uses these only to find where the callchain starts. */
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

/* Returns the position in the buffer at which the next text starts. */
const char *ktrace_seq_position(struct trace_seq *seq)
{
	return trace_seq_buffer_ptr(seq);
}

struct trace_event_functions ktrace_event_functions = {
	.trace = ktrace_event_trace,
};

/* Prints a packed record item by item, without the name of the event: output/print_compact.rs. */
static enum print_line_t ktrace_pack_trace(struct trace_iterator *iter, int flags,
					   struct trace_event *event)
{
	return ktrace_pack_print(iter);
}

struct trace_event_functions ktrace_pack_functions = {
	.trace = ktrace_pack_trace,
};

/*
 * The number of counted events that have listeners. These events need other probes before
 * they can fire. The kernel calls regfunc() and unregfunc() with a lock held under which
 * no probe can be attached, so a work item attaches and detaches the probes. All callers
 * that can sleep wait for it.
 */
static atomic_t ktrace_event_nr_users = ATOMIC_INIT(0);
/* The result of the last run of the work: 0 or a negative errno. */
static int ktrace_event_users_result;

static ktrace_event_users_changed_t ktrace_event_users_changed;

static void ktrace_event_users_work_func(struct work_struct *unused)
{
	int ret = ktrace_event_users_changed(atomic_read(&ktrace_event_nr_users));

	WRITE_ONCE(ktrace_event_users_result, ret);
}
static DECLARE_WORK(ktrace_event_users_work, ktrace_event_users_work_func);

/*
 * Set by ktrace_event_users_start(), which reads the count afterwards, so that a listener
 * that changes the count and finds this unset is not missed. Listeners that follow the
 * kernel's module notifiers attach before the module is initialised and detach after its
 * exit or after it failed to load, without a reference to the module. No work may be
 * queued at these times, because nothing would wait for it.
 */
static bool ktrace_event_users_started;

static void ktrace_event_users_queue(void)
{
	if (READ_ONCE(ktrace_event_users_started))
		schedule_work(&ktrace_event_users_work);
}

/*
 * Returns the number of counted tracepoints that have listeners. Called with the kernel's
 * tracepoints_mutex held, like the two functions below.
 */
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
 * Called before the first listener of a tracepoint is attached. Computes the count again:
 * if attaching fails because memory is short, some kernels (6.18) do not call unregfunc(),
 * and a count that is only incremented would stay too high.
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

/* Waits for the work and returns its result. */
static int ktrace_event_users_wait(void)
{
	flush_work(&ktrace_event_users_work);
	return READ_ONCE(ktrace_event_users_result);
}

int ktrace_event_users_start(ktrace_event_users_changed_t changed)
{
	int ret = ktrace_set_callbacks(&ktrace_event_users_changed, changed);

	if (ret)
		return ret;
	WRITE_ONCE(ktrace_event_users_started, true);
	/* This includes a full barrier, which orders the store before the read of the count. */
	schedule_work(&ktrace_event_users_work);
	return ktrace_event_users_wait();
}

/* For the module's exit: after this, the work is not queued when a listener is detached. */
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
 * Attaches a listener. If the probes that the event needs cannot be attached, detaches the
 * listener again, with @undo, and waits until it has returned, because the kernel frees
 * the listener's data at once.
 */
static int ktrace_event_listen(struct trace_event_call *call, enum trace_reg type,
			       enum trace_reg undo, void *data)
{
	/* The work may have failed before for listeners that ignore its result, such as BPF's. */
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
 * Enables and disables an event. While the event is enabled in a trace array, this holds a
 * reference to the module: the kernel would unload the module, but would leave behind
 * triggers that it does not remove by itself. Other listeners (perf, BPF) hold a reference
 * anyway.
 *
 * All of these are called with event_mutex held, which the kernel takes before it frees a
 * module, so the code that follows module_put() still exists. Only TRACE_REG_PERF_ADD and
 * TRACE_REG_PERF_DEL are called where sleeping is not allowed.
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

/* Like ktrace_event_reg(), for events that are about a task: see ktrace_perf_deliver_about(). */
int ktrace_event_reg_about(struct trace_event_call *call, enum trace_reg type, void *data)
{
#ifdef CONFIG_PERF_EVENTS
	if (type == TRACE_REG_PERF_ADD || type == TRACE_REG_PERF_DEL) {
		const struct perf_event *event = data;

		/* Any value except 0 keeps the event off the list. */
		if (event->attach_state & PERF_ATTACH_TASK)
			return 1;
	}
#endif
	return ktrace_event_reg(call, type, data);
}
