// SPDX-License-Identifier: GPL-2.0
/*
 * Entry functions: the callbacks with which ftrace reports a function entry to each slot, and the
 * fast path of compact records.
 *
 * All of it runs inside a traced function, so this file is built without ftrace's call at function
 * entry (see Kbuild).
 */
#include <linux/bitops.h>
#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_recursion.h>

#include "../compact/compact.h"
#include "../helpers.h"
#include "../record/context.h"
#include "../task/trace_mask.h"

static ktrace_recursed_t ktrace_recursed;

int ktrace_set_recursed(ktrace_recursed_t recursed)
{
	return ktrace_set_callbacks(&ktrace_recursed, recursed);
}

/* Calls the hook of a slot under the kernel's recursion guard, which all users of ftrace share. */
static noinline notrace void ktrace_hit(unsigned long ip, unsigned long parent_ip,
					unsigned int slot, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (unlikely(bit < 0)) {
		ktrace_recursed(slot);
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
	ktrace_pack_rewrite(pack, ip, parent_ip);
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

/* Ends the fast path: the function was written. */
static __always_inline void ktrace_pack_done(struct ktrace_pack *pack)
{
	barrier();
	pack->busy = 0;
#ifdef CONFIG_PREEMPTION
	barrier();
	if (unlikely(__preempt_count_dec_and_test()))
		ktrace_reschedule();
#else
	preempt_enable_notrace();
#endif
}

/* Ends the fast path with the result @end. Preemption is off, and the pack is marked busy. */
static __always_inline void ktrace_pack_ended(enum ktrace_pack_end end, unsigned long ip,
					      unsigned long parent_ip, struct ktrace_pack *pack,
					      struct ftrace_regs *fregs, unsigned int slot)
{
	switch (end) {
	case KTRACE_PACK_WRITTEN:
		return ktrace_pack_done(pack);
	case KTRACE_PACK_WRITTEN_COMMIT_PENDING:
		return ktrace_pack_written(pack);
	case KTRACE_PACK_MAYBE_MISSED:
		return ktrace_pack_unsure(ip, parent_ip, pack);
	case KTRACE_PACK_FALLBACK_COMMIT_PENDING:
		return ktrace_pack_closed(ip, parent_ip, pack, fregs, slot);
	case KTRACE_PACK_FALLBACK:
		return ktrace_pack_left(ip, parent_ip, pack, fregs, slot);
	}
}

/*
 * Records a function that takes more than half a word, or leaves it to ktrace_hit(). Preemption is
 * off, and the pack is marked busy.
 */
static noinline notrace __flatten
void ktrace_hit_whole(unsigned long ip, unsigned long parent_ip, struct ktrace_pack *pack,
		      struct ftrace_regs *fregs, unsigned int slot)
{
	ktrace_pack_ended(ktrace_pack_add_whole(pack, ip, parent_ip), ip, parent_ip, pack, fregs,
			  slot);
}

/*
 * Records a function that is new in the pack, or in another context than the last item, with the
 * same preconditions.
 */
static noinline notrace __flatten
void ktrace_hit_more(unsigned long ip, unsigned long parent_ip, struct ktrace_pack *pack,
		     struct ftrace_regs *fregs, unsigned int slot)
{
	enum ktrace_pack_end end = KTRACE_PACK_FALLBACK;

	if (!ktrace_pack_knows(pack, ktrace_call_site_at(pack, ip, parent_ip), ip, parent_ip))
		end = ktrace_pack_add_new(pack, ip, parent_ip);
	if (end == KTRACE_PACK_FALLBACK)
		return ktrace_hit_whole(ip, parent_ip, pack, fregs, slot);
	ktrace_pack_ended(end, ip, parent_ip, pack, fregs, slot);
}

/*
 * Records a function in compact form. The fast path calls no traced function, and does not touch a
 * pack that is marked busy, so it needs no recursion guard. All calls are tail calls, so this
 * function needs no stack frame: the compiler must inline what enables preemption.
 */
static noinline notrace __flatten
void ktrace_hit_compact(unsigned long ip, unsigned long parent_ip,
			struct ktrace_pack __percpu *packs, struct ftrace_regs *fregs,
			unsigned int slot)
{
	struct ktrace_call_site *site;
	enum ktrace_pack_end end;
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
	site = ktrace_call_site_at(pack, ip, parent_ip);
	end = KTRACE_PACK_FALLBACK;
	if (ktrace_pack_knows(pack, site, ip, parent_ip))
		end = ktrace_pack_add(pack, site);
	if (end == KTRACE_PACK_FALLBACK)
		return ktrace_hit_more(ip, parent_ip, pack, fregs, slot);
	ktrace_pack_ended(end, ip, parent_ip, pack, fregs, slot);
}

/* Calls ktrace_hit() if the hook traces the current task, while a switch is not complete. */
static noinline __cold notrace void ktrace_hit_unsure(unsigned long ip, unsigned long parent_ip,
						      unsigned int slot,
						      struct ftrace_regs *fregs)
{
	bool wanted;

	preempt_disable_notrace();
	wanted = ktrace_mask_check_current(BIT(slot));
	preempt_enable_notrace();
	if (wanted)
		ktrace_hit(ip, parent_ip, slot, fregs);
}

/*
 * Each slot has a function of its own, because nothing that ftrace passes says which slot is meant:
 * @op->private must be the trace array, and the ops of an instance is the kernel's.
 */
#define KTRACE_SLOT(n) \
static void notrace ktrace_slot_##n(unsigned long ip, unsigned long parent_ip, \
				    struct ftrace_ops *op, \
				    struct ftrace_regs *fregs) \
{ \
	union ktrace_mask mask = ktrace_mask_read(); \
	struct ktrace_pack __percpu *packs; \
	\
	if (!(mask.wanted & BIT(n))) \
		return; \
	if (unlikely(!(mask.sure & BIT(n)))) \
		return ktrace_hit_unsure(ip, parent_ip, n, fregs); \
	packs = READ_ONCE(ktrace_packs[n]); \
	if (packs) \
		ktrace_hit_compact(ip, parent_ip, packs, fregs, n); \
	else \
		ktrace_hit(ip, parent_ip, n, fregs); \
}

KTRACE_SLOT(0) KTRACE_SLOT(1) KTRACE_SLOT(2) KTRACE_SLOT(3)
KTRACE_SLOT(4) KTRACE_SLOT(5) KTRACE_SLOT(6) KTRACE_SLOT(7)
KTRACE_SLOT(8) KTRACE_SLOT(9) KTRACE_SLOT(10) KTRACE_SLOT(11)
KTRACE_SLOT(12) KTRACE_SLOT(13) KTRACE_SLOT(14) KTRACE_SLOT(15)
KTRACE_SLOT(16) KTRACE_SLOT(17) KTRACE_SLOT(18) KTRACE_SLOT(19)
KTRACE_SLOT(20) KTRACE_SLOT(21) KTRACE_SLOT(22) KTRACE_SLOT(23)
KTRACE_SLOT(24) KTRACE_SLOT(25) KTRACE_SLOT(26) KTRACE_SLOT(27)
KTRACE_SLOT(28) KTRACE_SLOT(29) KTRACE_SLOT(30) KTRACE_SLOT(31)

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

/*
 * How often the code that has called a traced function had disabled preemption, in a task. In a
 * callback, ftrace has disabled it as well, once for each bit of the current context. Returns -1 if
 * that is not known: an interrupt that is not counted yet has come during another callback.
 */
int ktrace_preempt_depth(void)
{
	const u32 own = BIT(TRACE_FTRACE_START + TRACE_CTX_NORMAL) |
			BIT(TRACE_LIST_START + TRACE_CTX_NORMAL);
	const u32 nested = BIT(TRACE_FTRACE_START + TRACE_CTX_TRANSITION) |
			   BIT(TRACE_LIST_START + TRACE_CTX_TRANSITION);
	u32 active = current->trace_recursion;

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		return 0;
	if (active & nested)
		return -1;
	return (preempt_count() & PREEMPT_MASK) - hweight32(active & own);
}

/* The registers of the traced call */

unsigned long ktrace_argument(struct ftrace_regs *fregs, unsigned int n)
{
	return ftrace_regs_get_argument(fregs, n);
}

unsigned long ktrace_stack_pointer(struct ftrace_regs *fregs)
{
	return ftrace_regs_get_stack_pointer(fregs);
}
