/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_FGRAPH_PACKED_H
#define KTRACE_FGRAPH_PACKED_H

/*
 * Fast path of calls in packed records, for fgraph.c: packs the entry or the return of a call, or
 * leaves it to Rust. Preemption is off in all of these functions.
 */
#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "../compact/compact.h"
#include "fgraph.h"

/*
 * A function that is not inlined has the few values that it needs in registers, and is entered by a
 * tail call, without a stack frame unless each function has one.
 */
#if defined(CONFIG_FRAME_POINTER) && defined(CONFIG_X86)
#define ktrace_stage __always_inline
#else
#define ktrace_stage noinline
#endif

/* Ends the fast path of a packed call: records of interrupts must be committed. */
static noinline __cold notrace void ktrace_call_written(struct ktrace_pack *pack)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
}

/* Ends the fast path of a packed call that a reader may have missed. */
static noinline __cold notrace void ktrace_call_rewrite(struct ktrace_pack *pack, u64 kind,
							unsigned long func, int depth, u64 ns)
{
	ktrace_pack_catch_up(pack);
	ktrace_pack_rewrite_call(pack, kind, func, depth, ns);
	barrier();
	pack->busy = 0;
}

/*
 * Packs the entry of a call, @ns after its beginning, at counter value @now. Returns false if Rust
 * has to write it.
 */
static noinline notrace bool ktrace_graph_pack_entry(struct ktrace_pack __percpu *packs,
						     unsigned long func, int depth, u64 now, u64 ns)
{
	struct ktrace_pack *pack = raw_cpu_ptr(packs);

	/* With PREEMPT_RT, preempt_count() does not count softirqs. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy))
		return false;
	/* Any value but 0; this one is in a register. */
	pack->busy = func;
	barrier();
	switch (ktrace_pack_add_call_whole(pack, KTRACE_BEGIN, func, depth, now, ns)) {
	case KTRACE_PACK_WRITTEN:
		break;
	case KTRACE_PACK_WRITTEN_COMMIT_PENDING:
		ktrace_call_written(pack);
		return true;
	case KTRACE_PACK_MAYBE_MISSED:
		ktrace_call_rewrite(pack, KTRACE_BEGIN, func, depth, ns);
		return true;
	case KTRACE_PACK_FALLBACK_COMMIT_PENDING:
		ktrace_call_written(pack);
		return false;
	case KTRACE_PACK_FALLBACK:
		barrier();
		pack->busy = 0;
		return false;
	}
	barrier();
	pack->busy = 0;
	return true;
}

/* Ends the fast path of a return that was not packed; records of interrupts must be committed. */
static noinline __cold notrace void ktrace_return_closed(const struct ftrace_graph_ret *ret,
							 struct ktrace_graph *graph,
							 struct ftrace_regs *fregs, u64 ns,
							 struct ktrace_pack *pack, u64 written)
{
	ktrace_pack_catch_up(pack);
	barrier();
	pack->busy = 0;
	ktrace_graph_fast_ret(ret, graph, fregs, current, ns, written);
}

/* Ends the fast path with the result @end. A call that was not packed continues in Rust. */
static __always_inline void ktrace_return_ended(enum ktrace_pack_end end,
						const struct ftrace_graph_ret *ret,
						struct ktrace_graph *graph,
						struct ftrace_regs *fregs, u64 ns,
						struct ktrace_pack *pack, u64 kind)
{
	switch (end) {
	case KTRACE_PACK_WRITTEN_COMMIT_PENDING:
		return ktrace_call_written(pack);
	case KTRACE_PACK_MAYBE_MISSED:
		return ktrace_call_rewrite(pack, kind, ret->func, ret->depth, ns);
	case KTRACE_PACK_FALLBACK_COMMIT_PENDING:
		return ktrace_return_closed(ret, graph, fregs, ns, pack, kind == KTRACE_RETURN);
	case KTRACE_PACK_WRITTEN:
	case KTRACE_PACK_FALLBACK:
		break;
	}
	barrier();
	pack->busy = 0;
	if (end == KTRACE_PACK_FALLBACK)
		ktrace_graph_fast_ret(ret, graph, fregs, current, ns, kind == KTRACE_RETURN);
}

/*
 * Packs a call that returns, with @kind as in ktrace_pack_add_call(), or leaves it to @whole. All
 * calls are tail calls.
 */
#define KTRACE_PACK_RETURN(name, kind) \
static noinline notrace void name##_whole(const struct ftrace_graph_ret *ret, \
					  struct ktrace_graph *graph, \
					  struct ftrace_regs *fregs, u64 now, u64 ns, \
					  struct ktrace_pack *pack) \
{ \
	ktrace_return_ended(ktrace_pack_add_call_whole(pack, kind, ret->func, ret->depth, now, \
						       ns), \
			    ret, graph, fregs, ns, pack, kind); \
} \
\
static ktrace_stage notrace void name(const struct ftrace_graph_ret *ret, \
				      struct ktrace_graph *graph, struct ftrace_regs *fregs, \
				      u64 now, u64 ns, struct ktrace_pack __percpu *packs) \
{ \
	struct ktrace_pack *pack = raw_cpu_ptr(packs); \
	enum ktrace_pack_end end; \
\
	/* With PREEMPT_RT, preempt_count() does not count softirqs. */ \
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || unlikely(pack->busy || ret->overrun)) \
		return ktrace_graph_fast_ret(ret, graph, fregs, current, ns, \
					     kind == KTRACE_RETURN); \
	/* Any value but 0; this one is in a register. */ \
	pack->busy = ret->func; \
	barrier(); \
	end = ktrace_pack_add_call(pack, kind, ret->func, ret->depth, now, ns); \
	if (end == KTRACE_PACK_FALLBACK) \
		return name##_whole(ret, graph, fregs, now, ns, pack); \
	ktrace_return_ended(end, ret, graph, fregs, ns, pack, kind); \
}

/* For a call that has no entry, and for one that has. */
KTRACE_PACK_RETURN(ktrace_graph_leaf, KTRACE_LEAF)
KTRACE_PACK_RETURN(ktrace_graph_written, KTRACE_RETURN)

#endif
