// SPDX-License-Identifier: GPL-2.0
/*
 * What ktrace needs of the kernel's headers and Rust cannot reach: static
 * inlines, macros, and functions that the kernel calls by pointer and whose
 * type must be exact.
 *
 * Nothing in here decides anything. All of it may run inside a traced function,
 * so this file is built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/cpu.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/task_work.h>
#include <linux/trace_events.h>
#include <linux/trace_recursion.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#endif

#include "compact.h"
#include "shim.h"

/*
 * Calls to functions that the kernel does not export
 *
 * Their addresses come from kallsyms, and an ordinary call through a pointer is
 * not allowed to reach them: their landing pads may have been sealed (IBT), left
 * out (BTI), or carry no hash (kCFI), because nobody in the kernel takes their
 * address. What is allowed is a direct branch, which is what a static call's
 * trampoline becomes, or a return, which is what the thunk for the other
 * architectures uses. Either way the callee sees the caller's arguments and
 * stack untouched, and Rust sees a function with a C prototype.
 */
typedef void (ktrace_any_fn)(void);

#define KTRACE_THUNK(name, ...) \
	asm(".pushsection .text, \"ax\"\n\t" \
	    KTRACE_ALIGN \
	    ".globl ktrace_call_" #name "\n\t" \
	    ".type ktrace_call_" #name ", %function\n" \
	    "ktrace_call_" #name ":\n\t" \
	    __VA_ARGS__ \
	    ".size ktrace_call_" #name ", . - ktrace_call_" #name "\n\t" \
	    ".popsection")

/* Elsewhere, a static call's trampoline may be an indirect branch itself. */
#ifdef CONFIG_X86

/* As functions are laid out where calls may have to be patched. */
#ifdef CONFIG_FUNCTION_PADDING_BYTES
#define KTRACE_ALIGN ".balign 16\n\t.skip " \
	__stringify(CONFIG_FUNCTION_PADDING_BYTES) ", 0x90\n\t"
#else
#define KTRACE_ALIGN ".balign 16\n\t"
#endif

#define KTRACE_PLACE(name) \
	DEFINE_STATIC_CALL_RET0(ktrace_##name, ktrace_any_fn)

#define KTRACE_BRANCH(name) \
	KTRACE_THUNK(name, "jmp " STATIC_CALL_TRAMP_STR(ktrace_##name) "\n\t")

#define KTRACE_LEAD(name, addr) \
	__static_call_update(&STATIC_CALL_KEY(ktrace_##name), \
			     STATIC_CALL_TRAMP_ADDR(ktrace_##name), (void *)(addr))

#else

#define KTRACE_ALIGN ".balign 4\n\t"

#define KTRACE_PLACE(name) \
	unsigned long ktrace_addr_##name

#define KTRACE_BRANCH(name) \
	KTRACE_THUNK(name, \
		     "hint #34\n\t" /* bti c */ \
		     "adrp x16, ktrace_addr_" #name "\n\t" \
		     "ldr x16, [x16, :lo12:ktrace_addr_" #name "]\n\t" \
		     "ret x16\n\t")

#define KTRACE_LEAD(name, addr) WRITE_ONCE(ktrace_addr_##name, addr)

#endif

/* Those of them that are called here. */
int ktrace_call_task_work_add(struct task_struct *task, struct callback_head *work,
			      enum task_work_notify_mode mode);

#define KTRACE_FUNCTION(name) KTRACE_PLACE(name)
#include "functions.h"
#undef KTRACE_FUNCTION

#define KTRACE_FUNCTION(name) KTRACE_BRANCH(name)
#include "functions.h"
#undef KTRACE_FUNCTION

bool ktrace_bind(unsigned int index, unsigned long addr)
{
	unsigned int n = 0;

#define KTRACE_FUNCTION(name) \
	do { \
		if (index == n++) \
			KTRACE_LEAD(name, addr); \
	} while (0)
#include "functions.h"
#undef KTRACE_FUNCTION
	return index < n;
}

/*
 * The context that a record tells, in the header that all records have: flags, how
 * deep preemption and migration are disabled, as tracing_gen_ctx_dec() has it, which
 * is a call to a function that is not exported. Preemption has been turned off once
 * for the hook.
 */
static __always_inline unsigned int ktrace_context_here(void)
{
	unsigned long todo = READ_ONCE(current_thread_info()->flags);
	unsigned int count = preempt_count(), softirqs = softirq_count();
	unsigned int flags = irqs_disabled() ? TRACE_FLAG_IRQS_OFF : 0;
	unsigned int disabled = count & 0xff, pinned = 0;

	if (count & (NMI_MASK | HARDIRQ_MASK)) {
		if (count & NMI_MASK)
			flags |= TRACE_FLAG_NMI;
		if (count & HARDIRQ_MASK)
			flags |= TRACE_FLAG_HARDIRQ;
	}
	if (softirqs) {
		if (in_serving_softirq())
			flags |= TRACE_FLAG_SOFTIRQ;
		if (softirqs >> (SOFTIRQ_SHIFT + 1))
			flags |= TRACE_FLAG_BH_OFF;
	}
	/* The second is the first, where there is no such thing. */
	if (todo & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)) {
		if (todo & _TIF_NEED_RESCHED)
			flags |= TRACE_FLAG_NEED_RESCHED;
		if (IS_ENABLED(CONFIG_ARCH_HAS_PREEMPT_LAZY) && todo & _TIF_NEED_RESCHED_LAZY)
			flags |= TRACE_FLAG_NEED_RESCHED_LAZY;
	}
	if (test_preempt_need_resched())
		flags |= TRACE_FLAG_PREEMPT_RESCHED;
#ifdef CONFIG_SMP
	pinned = current->migration_disabled;
#endif
	disabled = min(disabled, 0xfU);
	if (pinned)
		disabled |= min(pinned, 0xfU) << 4;
	if (IS_ENABLED(CONFIG_PREEMPTION))
		disabled--;
	return flags << 16 | disabled;
}

/*
 * The gate: one word per CPU, with a bit for each hook that wants the task which
 * runs there. An entry function tests its own bit, and nothing else, before it
 * goes on to Rust.
 */
DEFINE_PER_CPU(u32, ktrace_gate);

/* Where functions are recorded in compact form: the packs, for the hooks in these slots. */
static struct ktrace_pack __percpu *ktrace_packs[KTRACE_NR_SLOTS];

void ktrace_set_packs(unsigned int slot, struct ktrace_pack __percpu *packs)
{
	if (slot < KTRACE_NR_SLOTS) {
		/* What is in them is there before they are found: ktrace_pack_put(). */
		smp_store_release(&ktrace_packs[slot], packs);
	}
}

/* Under the guard against recursion that is the kernel's own, shared by all users of ftrace. */
static noinline notrace void ktrace_hit(unsigned long ip, unsigned long parent_ip,
					unsigned int slot, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (unlikely(bit < 0)) {
		ktrace_function_recursed(slot);
		return;
	}
	ktrace_function_hit(slot, ip, parent_ip, fregs, ktrace_context_here(), current->pid);
	ftrace_test_recursion_unlock(bit);
}

/* What is left to be done behind it, which may take longer. */
static noinline __cold notrace void ktrace_pack_written(struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
}

/* The same where a reader may not have seen it. */
static noinline __cold notrace void ktrace_pack_unsure(unsigned long ip, unsigned long parent_ip,
						       struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	ktrace_pack_doubted(pack, ip, parent_ip);
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
}

/* As ktrace_hit(), which it calls; with preemption off, and the pack busy. */
static noinline __cold notrace void ktrace_pack_closed(unsigned long ip, unsigned long parent_ip,
						       struct ktrace_pack *pack,
						       struct ftrace_regs *fregs,
						       unsigned int slot)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
	ktrace_hit(ip, parent_ip, slot, fregs);
}

/* The same where the pack was left as it was. */
static noinline notrace void ktrace_pack_left(unsigned long ip, unsigned long parent_ip,
					      struct ktrace_pack *pack, struct ftrace_regs *fregs,
					      unsigned int slot)
{
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
	ktrace_hit(ip, parent_ip, slot, fregs);
}

/* The same where somebody else is at it. */
static noinline __cold notrace void ktrace_pack_busy(unsigned long ip, unsigned long parent_ip,
						     unsigned int slot,
						     struct ftrace_regs *fregs)
{
	preempt_enable_notrace();
	ktrace_hit(ip, parent_ip, slot, fregs);
}

static noinline __cold notrace void ktrace_reschedule(void)
{
	preempt_disable_notrace();
	preempt_enable_notrace();
}

/*
 * Functions that are recorded in compact form. Nothing that the shortest way calls
 * is traced, nor is a pack touched that is busy: it needs no guard against recursion.
 */
static noinline notrace void ktrace_hit_compact(unsigned long ip, unsigned long parent_ip,
						struct ktrace_pack __percpu *packs,
						struct ftrace_regs *fregs, unsigned int slot)
{
	struct ktrace_pack *pack;

	/* Softirqs are counted elsewhere there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return ktrace_hit(ip, parent_ip, slot, fregs);
	preempt_disable_notrace();
	pack = raw_cpu_ptr(packs);
	if (unlikely(pack->busy))
		return ktrace_pack_busy(ip, parent_ip, slot, fregs);
	/* Anything but 0; this is at hand. */
	pack->busy = ip;
	barrier();
	switch (ktrace_pack_add(pack, ip, parent_ip)) {
	case KTRACE_PACK_WRITTEN:
		barrier();
		pack->busy = 0;
		break;
	case KTRACE_PACK_WRITTEN_BUT:
		return ktrace_pack_written(pack);
	case KTRACE_PACK_DOUBTED:
		return ktrace_pack_unsure(ip, parent_ip, pack);
	case KTRACE_PACK_CLOSED:
		return ktrace_pack_closed(ip, parent_ip, pack, fregs, slot);
	case KTRACE_PACK_OTHER:
		return ktrace_pack_left(ip, parent_ip, pack, fregs, slot);
	}
	/* All calls are the last thing that is done here, and take no frame. */
#ifdef CONFIG_PREEMPTION
	barrier();
	if (unlikely(__preempt_count_dec_and_test()))
		ktrace_reschedule();
#else
	preempt_enable_notrace();
#endif
}

#define KTRACE_SLOT(n) \
static void notrace ktrace_slot_##n(unsigned long ip, unsigned long parent_ip, \
				    struct ftrace_ops *op, \
				    struct ftrace_regs *fregs) \
{ \
	struct ktrace_pack __percpu *packs; \
	\
	if (!(ktrace_gate_read() & BIT(n))) \
		return; \
	packs = READ_ONCE(ktrace_packs[n]); \
	if (packs) \
		ktrace_hit_compact(ip, parent_ip, packs, fregs, n); \
	else \
		ktrace_hit(ip, parent_ip, n, fregs); \
}
KTRACE_SLOT(0)
KTRACE_SLOT(1)
KTRACE_SLOT(2)
KTRACE_SLOT(3)
KTRACE_SLOT(4)
KTRACE_SLOT(5)
KTRACE_SLOT(6)
KTRACE_SLOT(7)
KTRACE_SLOT(8)
KTRACE_SLOT(9)
KTRACE_SLOT(10)
KTRACE_SLOT(11)
KTRACE_SLOT(12)
KTRACE_SLOT(13)
KTRACE_SLOT(14)
KTRACE_SLOT(15)
KTRACE_SLOT(16)
KTRACE_SLOT(17)
KTRACE_SLOT(18)
KTRACE_SLOT(19)
KTRACE_SLOT(20)
KTRACE_SLOT(21)
KTRACE_SLOT(22)
KTRACE_SLOT(23)
KTRACE_SLOT(24)
KTRACE_SLOT(25)
KTRACE_SLOT(26)
KTRACE_SLOT(27)
KTRACE_SLOT(28)
KTRACE_SLOT(29)
KTRACE_SLOT(30)
KTRACE_SLOT(31)

static const ftrace_func_t ktrace_slots[] = {
	ktrace_slot_0, ktrace_slot_1, ktrace_slot_2, ktrace_slot_3,
	ktrace_slot_4, ktrace_slot_5, ktrace_slot_6, ktrace_slot_7,
	ktrace_slot_8, ktrace_slot_9, ktrace_slot_10, ktrace_slot_11,
	ktrace_slot_12, ktrace_slot_13, ktrace_slot_14, ktrace_slot_15,
	ktrace_slot_16, ktrace_slot_17, ktrace_slot_18, ktrace_slot_19,
	ktrace_slot_20, ktrace_slot_21, ktrace_slot_22, ktrace_slot_23,
	ktrace_slot_24, ktrace_slot_25, ktrace_slot_26, ktrace_slot_27,
	ktrace_slot_28, ktrace_slot_29, ktrace_slot_30, ktrace_slot_31,
};
static_assert(ARRAY_SIZE(ktrace_slots) == KTRACE_NR_SLOTS);

ftrace_func_t ktrace_slot_function(unsigned int slot)
{
	return slot < KTRACE_NR_SLOTS ? ktrace_slots[slot] : NULL;
}

/* Runs on the CPU whose gate it is, with interrupts off. */
static void ktrace_gate_refresh_cpu(void *unused)
{
	this_cpu_write(ktrace_gate, ktrace_mask_of(current));
}

void ktrace_gate_refresh(void)
{
	unsigned int cpu;

	cpus_read_lock();
	/* Nobody runs there; what it holds counts when the CPU comes back. */
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			per_cpu(ktrace_gate, cpu) = ktrace_idle_mask(cpu);
	on_each_cpu(ktrace_gate_refresh_cpu, NULL, 1);
	cpus_read_unlock();
}

void ktrace_gate_refresh_current(void)
{
	unsigned long flags;

	local_irq_save(flags);
	ktrace_gate_refresh_cpu(NULL);
	local_irq_restore(flags);
}

bool ktrace_gate_refresh_others(void)
{
	if (irqs_disabled() || in_interrupt())
		return false;
	preempt_disable();
	smp_call_function_many(cpu_online_mask, ktrace_gate_refresh_cpu, NULL, false);
	preempt_enable();
	return true;
}

/* What is known of the call that is being traced */

unsigned int ktrace_context(void)
{
	return ktrace_context_here();
}

struct task_struct *ktrace_current(void)
{
	return current;
}

unsigned long ktrace_argument(struct ftrace_regs *fregs, unsigned int n)
{
	return ftrace_regs_get_argument(fregs, n);
}

unsigned long ktrace_stack_pointer(struct ftrace_regs *fregs)
{
	return ftrace_regs_get_stack_pointer(fregs);
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

/* What compact records are made with (compact.h) */

size_t ktrace_pack_size(void)
{
	return sizeof(struct ktrace_pack);
}

#ifdef CONFIG_ARM64
/* Whether some CPU's counter cannot be read as it is: the kernel's clock knows how. */
static bool ktrace_counter_has_errata(void)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	const struct arch_timer_erratum_workaround *workaround;
	int cpu;

	for_each_possible_cpu(cpu) {
		workaround = per_cpu(timer_unstable_counter_workaround, cpu);
		if (workaround && workaround->read_cntvct_el0)
			return true;
	}
#endif
	return false;
}
#endif

/* How many ns a count of it is, times 2^22; 0 if it is of no use. */
u32 ktrace_counter_mult(void)
{
#ifdef CONFIG_X86
	if (check_tsc_unstable() || !tsc_khz)
		return 0;
	return div_u64(1000000ULL << 22, tsc_khz);
#else
	u32 rate = read_sysreg(cntfrq_el0);

	/* It is the firmware's to say how fast it counts, and some has not. */
	if (!rate || ktrace_counter_has_errata())
		return 0;
	return div_u64(1000000000ULL << 22, rate);
#endif
}

u64 ktrace_raw_context(u64 *flags)
{
	*flags = ktrace_raw_flags();
	return ktrace_raw_preempt();
}

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

bool ktrace_irqs_disabled(void)
{
	return irqs_disabled();
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

/* Tracepoint probes, with the prototypes that the kernel calls them by */

static void notrace ktrace_probe_switch(void *data, bool preempt,
					struct task_struct *prev,
					struct task_struct *next,
					unsigned int prev_state)
{
	ktrace_switched(this_cpu_ptr(&ktrace_gate), preempt, prev, next, prev_state);
}

static void notrace ktrace_probe_newtask(void *data, struct task_struct *task,
					 u64 clone_flags)
{
	ktrace_new_task(current, task);
}

static void notrace ktrace_probe_rename(void *data, struct task_struct *task,
					const char *comm)
{
	ktrace_rename_task(task, comm);
}

static void notrace ktrace_probe_prepare_exec(void *data, struct task_struct *task,
					      struct linux_binprm *bprm)
{
	ktrace_prepare_exec_task(task);
}

static void notrace ktrace_probe_exec(void *data, struct task_struct *task,
				      pid_t old_pid, struct linux_binprm *bprm)
{
	ktrace_exec_task(task, old_pid);
}

static void notrace ktrace_probe_free(void *data, struct task_struct *task)
{
	ktrace_free_task(task);
}

static struct ktrace_probe ktrace_task_probes[] = {
	{ "sched_process_free", ktrace_probe_free },
	{ "sched_process_exec", ktrace_probe_exec, KTRACE_RANK_GATE },
	{ "sched_prepare_exec", ktrace_probe_prepare_exec },
	{ "task_rename", ktrace_probe_rename, KTRACE_RANK_GATE },
	{ "task_newtask", ktrace_probe_newtask },
	{ "sched_switch", ktrace_probe_switch },
};

static void ktrace_settle_run(struct work_struct *work)
{
	ktrace_settle_tasks();
}

static DECLARE_WORK(ktrace_settle_work, ktrace_settle_run);

void ktrace_settle_later(void)
{
	queue_work(system_long_wq, &ktrace_settle_work);
}

const char *ktrace_find_task_probes(void)
{
	return ktrace_find_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));
}

int ktrace_attach_task_probes(void)
{
	int ret = ktrace_attach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));

	if (ret)
		cancel_work_sync(&ktrace_settle_work);
	return ret;
}

void ktrace_detach_task_probes(void)
{
	ktrace_detach_probes(ktrace_task_probes, ARRAY_SIZE(ktrace_task_probes));
	/* Queued by probes, by itself, or by who detaches them now. */
	cancel_work_sync(&ktrace_settle_work);
}

/* Sets of probes on tracepoints of the kernel */

struct ktrace_search {
	struct ktrace_probe *probes;
	unsigned int nr;
};

static void ktrace_match_probe(struct tracepoint *tp, void *data)
{
	const struct ktrace_search *search = data;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tp->name, search->probes[i].name))
			search->probes[i].tp = tp;
}

/* The name of a tracepoint that there is not, or null. */
const char *ktrace_find_probes(struct ktrace_probe *probes, unsigned int nr)
{
	struct ktrace_search search = { .probes = probes, .nr = nr };
	unsigned int i;

	for_each_kernel_tracepoint(ktrace_match_probe, &search);
	for (i = 0; i < nr; i++)
		if (!probes[i].tp)
			return probes[i].name;
	return NULL;
}

void ktrace_detach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].func, NULL);
	tracepoint_synchronize_unregister();
}

/* All of them or none. */
int ktrace_attach_probes(const struct ktrace_probe *probes, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		if (probes[i].rank)
			ret = tracepoint_probe_register_prio(probes[i].tp, probes[i].func,
							     NULL, probes[i].rank);
		else
			ret = tracepoint_probe_register(probes[i].tp, probes[i].func, NULL);
		if (ret) {
			ktrace_detach_probes(probes, i);
			return ret;
		}
	}
	return 0;
}

/* Names of tasks, for any number of users, each of whom has an address of its own. */
static void notrace ktrace_probe_name(void *user, struct task_struct *task,
				      const char *comm)
{
	ktrace_name_of_changes(task);
}

static struct ktrace_probe ktrace_name_probe = { "task_rename", ktrace_probe_name };

const char *ktrace_find_name_probe(void)
{
	return ktrace_find_probes(&ktrace_name_probe, 1);
}

int ktrace_attach_name_probe(void *user)
{
	return tracepoint_probe_register(ktrace_name_probe.tp, ktrace_name_probe.func, user);
}

void ktrace_detach_name_probe(void *user)
{
	tracepoint_probe_unregister(ktrace_name_probe.tp, ktrace_name_probe.func, user);
	tracepoint_synchronize_unregister();
}

void ktrace_visit_tasks(void *visitor)
{
	struct task_struct *process, *thread;

	rcu_read_lock();
	/* for_each_thread() names a lock that is not exported. */
	for_each_process(process)
		list_for_each_entry_rcu(thread, &process->signal->thread_head,
					thread_node)
			ktrace_visit_task(visitor, thread);
	rcu_read_unlock();
}

int ktrace_locked_down(void)
{
	return security_locked_down(LOCKDOWN_TRACEFS);
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

/*
 * The address that a kprobe is the only exported way to learn. One that is never
 * armed has it as well, touches no code, and can always be taken away again: to
 * disarm one takes memory, and without it the kernel would keep what is gone.
 */
int ktrace_find_kallsyms(unsigned long *addr)
{
	struct kprobe probe = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	*addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/*
 * Work that is to be done before the system call that caused it returns, but
 * after it has let go of its locks; for kernel threads, and if very many wait
 * for it, soon. It is asked for in a kprobe's handler, which may be as little
 * allowed to do as an NMI.
 */
static struct callback_head ktrace_todos[32];
static unsigned long ktrace_todos_used;
static atomic_t ktrace_todo_pending = ATOMIC_INIT(0);

static void ktrace_todo_work(struct work_struct *unused)
{
	ktrace_deferred();
}
static DECLARE_WORK(ktrace_work, ktrace_todo_work);

static void ktrace_todo_soon(struct irq_work *unused)
{
	schedule_work(&ktrace_work);
}
static DEFINE_IRQ_WORK(ktrace_irq_work, ktrace_todo_soon);

static void ktrace_todo_run(struct callback_head *head)
{
	clear_bit(head - ktrace_todos, &ktrace_todos_used);
	ktrace_deferred();
	atomic_dec(&ktrace_todo_pending);
}

static void ktrace_defer(void)
{
	unsigned int i;

	if (current->flags & PF_KTHREAD)
		goto soon;
	for (i = 0; i < ARRAY_SIZE(ktrace_todos); i++) {
		if (test_and_set_bit(i, &ktrace_todos_used))
			continue;
		init_task_work(&ktrace_todos[i], ktrace_todo_run);
		atomic_inc(&ktrace_todo_pending);
		if (!ktrace_call_task_work_add(current, &ktrace_todos[i], TWA_NMI_CURRENT))
			return;
		atomic_dec(&ktrace_todo_pending);
		clear_bit(i, &ktrace_todos_used);
		break;
	}
soon:
	irq_work_queue(&ktrace_irq_work);
}

static int ktrace_instances_changed(struct kprobe *probe, struct pt_regs *regs)
{
	ktrace_defer();
	return 0;
}

static struct kprobe ktrace_born = {
	.symbol_name = "ftrace_init_tracefs",
	.pre_handler = ktrace_instances_changed,
};

static struct kprobe ktrace_gone = {
	.symbol_name = "ftrace_destroy_function_files",
	.pre_handler = ktrace_instances_changed,
};

static struct kprobe *ktrace_watch[] = { &ktrace_born, &ktrace_gone };

int ktrace_watch_instances(void)
{
	return register_kprobes(ktrace_watch, ARRAY_SIZE(ktrace_watch));
}

void ktrace_unwatch_instances(void)
{
	unregister_kprobes(ktrace_watch, ARRAY_SIZE(ktrace_watch));
	/* Whoever was caught by a probe is still on the way out of its call. */
	while (atomic_read(&ktrace_todo_pending))
		schedule_timeout_uninterruptible(1);
	irq_work_sync(&ktrace_irq_work);
	cancel_work_sync(&ktrace_work);
	/* And may have been preempted in the last lines of the callback. */
	synchronize_rcu_tasks();
}
