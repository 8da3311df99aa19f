// SPDX-License-Identifier: GPL-2.0
/*
 * Entry functions: the callbacks with which ftrace reports a function entry to each slot, the trace
 * mask that they test, and the fast path of compact records.
 *
 * All of it runs inside a traced function, so this file is built without ftrace's call at function
 * entry (see Kbuild).
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/trace_events.h>
#include <linux/trace_recursion.h>

#include "compact.h"
#include "shim.h"

/*
 * Returns the context in the header of each record: flags, and the nesting depth of disabled
 * preemption and migration. Same as tracing_gen_ctx_dec(), which would be a call of a function that
 * is not exported. The hook has disabled preemption once.
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
	/* Both bits are the same one on architectures without lazy preemption. */
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

/* If the bit of its slot is clear, an entry function returns after this test. */
DEFINE_PER_CPU(union ktrace_gate, ktrace_gate);

/*
 * Returns whether the hook of @bit traces the current task, while a switch is not complete: the
 * trace mask has bits for the previous or the next task. With preemption off, any context. Bits
 * found to be valid are stored: once the next task is current, no more lookup is needed.
 */
bool ktrace_gate_look(u32 bit)
{
	union ktrace_gate gate = { .both = this_cpu_read(ktrace_gate.both) }, found = gate;
	u32 wanted = ktrace_mask_of(current);

	found.sure |= gate.wanted & wanted;
	/* Not if an interrupt in between has stored something newer. */
	this_cpu_cmpxchg(ktrace_gate.both, gate.both, found.both);
	return wanted & bit;
}

/* For each slot, the packs of its hook if that uses compact records, else NULL. */
static struct ktrace_pack __percpu *ktrace_packs[KTRACE_NR_SLOTS];

void ktrace_set_packs(unsigned int slot, struct ktrace_pack __percpu *packs)
{
	if (slot < KTRACE_NR_SLOTS) {
		/* Their contents must be visible before the pointer: ktrace_pack_put(). */
		smp_store_release(&ktrace_packs[slot], packs);
	}
}

/* Calls the hook of a slot under the kernel's recursion guard, which all users of ftrace share. */
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

/* Ends the fast path: the function was written, and records of interrupts must be committed. */
static noinline __cold notrace void ktrace_pack_written(struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
}

/* Ends the fast path: the function was written, but a reader may have missed it. */
static noinline __cold notrace void ktrace_pack_unsure(unsigned long ip, unsigned long parent_ip,
						       struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	ktrace_pack_doubted(pack, ip, parent_ip);
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
}

/*
 * Ends the fast path: the function was not written, and records of interrupts must be committed.
 * Preemption is off, and the pack is marked busy. Calls ktrace_hit().
 */
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

/* Ends the fast path: the function was not written. Calls ktrace_hit(). */
static noinline notrace void ktrace_pack_left(unsigned long ip, unsigned long parent_ip,
					      struct ktrace_pack *pack, struct ftrace_regs *fregs,
					      unsigned int slot)
{
	barrier();
	pack->busy = 0;
	preempt_enable_notrace();
	ktrace_hit(ip, parent_ip, slot, fregs);
}

/* Ends the fast path: another context uses the pack. Calls ktrace_hit(). */
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
 * Records a function in compact form. The fast path calls no traced function, and does not touch a
 * pack that is marked busy, so it needs no recursion guard.
 */
static noinline notrace void ktrace_hit_compact(unsigned long ip, unsigned long parent_ip,
						struct ktrace_pack __percpu *packs,
						struct ftrace_regs *fregs, unsigned int slot)
{
	struct ktrace_pack *pack;

	/* With PREEMPT_RT, preempt_count() does not count softirqs. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return ktrace_hit(ip, parent_ip, slot, fregs);
	preempt_disable_notrace();
	pack = raw_cpu_ptr(packs);
	if (unlikely(pack->busy))
		return ktrace_pack_busy(ip, parent_ip, slot, fregs);
	/* Any value but 0; this one is in a register. */
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
	/* All calls above are tail calls, so this function needs no stack frame. */
#ifdef CONFIG_PREEMPTION
	barrier();
	if (unlikely(__preempt_count_dec_and_test()))
		ktrace_reschedule();
#else
	preempt_enable_notrace();
#endif
}

/* Calls ktrace_hit() if the hook traces the current task, while a switch is not complete. */
static noinline __cold notrace void ktrace_hit_unsure(unsigned long ip, unsigned long parent_ip,
						      unsigned int slot,
						      struct ftrace_regs *fregs)
{
	bool wanted;

	preempt_disable_notrace();
	wanted = ktrace_gate_look(BIT(slot));
	preempt_enable_notrace();
	if (wanted)
		ktrace_hit(ip, parent_ip, slot, fregs);
}

#define KTRACE_SLOT(n) \
static void notrace ktrace_slot_##n(unsigned long ip, unsigned long parent_ip, \
				    struct ftrace_ops *op, \
				    struct ftrace_regs *fregs) \
{ \
	union ktrace_gate gate = ktrace_gate_read(); \
	struct ktrace_pack __percpu *packs; \
	\
	if (!(gate.wanted & BIT(n))) \
		return; \
	if (unlikely(!(gate.sure & BIT(n)))) \
		return ktrace_hit_unsure(ip, parent_ip, n, fregs); \
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

/* Runs on the CPU whose trace mask it sets, with interrupts off. */
static void ktrace_gate_refresh_cpu(void *unused)
{
	u32 wanted = ktrace_mask_of(current);
	union ktrace_gate gate = { .wanted = wanted, .sure = wanted };

	this_cpu_write(ktrace_gate.both, gate.both);
}

void ktrace_gate_refresh(void)
{
	union ktrace_gate gate;
	unsigned int cpu;

	cpus_read_lock();
	/* No task runs there; the value is used when the CPU is online again. */
	for_each_possible_cpu(cpu) {
		if (cpu_online(cpu))
			continue;
		gate.wanted = ktrace_idle_mask(cpu);
		gate.sure = gate.wanted;
		per_cpu(ktrace_gate.both, cpu) = gate.both;
	}
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

bool ktrace_gate_refresh_of(struct task_struct *task)
{
	if (irqs_disabled() || in_interrupt())
		return false;
	/*
	 * Orders the store of the new mask before the load of the CPU number. A CPU that gets the
	 * task later stores its number, then takes its run queue's lock, which is a full barrier
	 * too, and then loads the mask. So either that CPU sees the new mask, or this CPU sees that
	 * CPU's number. No task runs on an offline CPU.
	 */
	smp_mb();
	smp_call_function_single(task_cpu(task), ktrace_gate_refresh_cpu, NULL, 0);
	return true;
}

/* The context of the traced call */

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
