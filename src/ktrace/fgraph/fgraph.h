/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_FGRAPH_H
#define KTRACE_FGRAPH_H

#ifndef __BINDGEN__
#include <linux/ftrace.h>
#include <linux/trace_events.h>
#include <linux/types.h>
#endif

#include "../callbacks.h"

struct ktrace_pack;

/* When the entry of a call is written; `When` in fgraph/fast_path.rs. */
enum ktrace_when {
	/* Only if the call takes long enough, or never. */
	KTRACE_IF_LONG,
	/* When a callee begins, or together with the return. */
	KTRACE_IF_NEEDED,
	/* When the call begins. */
	KTRACE_AT_CALL,
	/* When the call begins, in a packed record if possible. */
	KTRACE_AT_CALL_PACKED,
};

/*
 * Which calls take the fast path; `FastPathPointers` in fgraph/fast_path.rs. `FastPathConfig`
 * documents each member.
 */
struct ktrace_fast_path {
	unsigned long slow_mask;
	unsigned long set_if_long;
	unsigned long set_if_needed;
	unsigned long set_at_call;
	unsigned long unwritten_callers;
	/* These two are read together. */
	unsigned long unwritten;
	const u32 *when;
	const u32 *max_depth;
	const u64 *threshold_ns;
	u64 written;
	u32 profile;
};

/* Where the kernel puts data on shadow stacks; `ShadowStackLayout` in fgraph/fast_path.rs. */
struct ktrace_layout {
	/* The values that the bits in @slow_mask must have on the fast path. */
	unsigned long slow_value;
	/* The offset of that word in bytes. */
	unsigned long task_data_off;
	/* The last word of a shadow stack before a frame of this hook, and after it. */
	unsigned long entry_word;
	unsigned long data_word;
	/* In words: a frame that begins below this does not reach other data. */
	unsigned long min_free;
};

/* A hook on calls and returns; `Shared` in fgraph/fast_path.rs. */
struct ktrace_graph {
	struct fgraph_ops ops;
	struct ktrace_fast_path fast_path;
	/* A variable of the kernel. */
	const u32 *max_depth;
	/*
	 * Points to one of @layouts. No task data word matches the first one, so all calls take the
	 * slow path. The second one is used once it is known where the kernel puts data.
	 */
	struct ktrace_layout *layout;
	struct ktrace_layout layouts[2];
	/* 1 while the second one is being filled in, then 2. */
	unsigned long detected;
	/* The packs for calls, or NULL. */
	struct ktrace_pack __percpu *packs;
	/* The hook's bit in the trace mask. */
	u32 bit;
	/* Length of a counter tick in ns (`CallClock`); 0: calls are not timed by the counter. */
	u32 mult;
	/* The tag of the hook's frames, in the format of `kept`. */
	u64 tag;
	/* Whether `set_graph_function` or `set_graph_notrace` has functions. */
	u32 are_chosen;
	ktrace_overrun_t overrun;
};

/* A hook's data for an open call; `Stored` in fgraph/frame.rs. */
struct ktrace_frame {
	u64 begun;
	/* As long as no off-CPU times are saved, the first word is the function. */
	u64 off_cpu[2];
	union {
		struct {
			u32 switches;
			u8 flags;
			u8 tag[2];
			/* 0 once the call returns; never 0 before that, see `next_tag()`. */
			u8 is_open;
		};
		u64 kept;
	};
};

/* The same layout as `half` and `tag_flags` in Rust. */
static_assert(offsetof(struct ktrace_frame, switches) == offsetof(struct ktrace_frame, kept));
static_assert(offsetof(struct ktrace_frame, flags) == offsetof(struct ktrace_frame, kept) + 4);
static_assert(offsetof(struct ktrace_frame, is_open) == offsetof(struct ktrace_frame, kept) + 7);

/* Defined in Rust. */
int ktrace_graph_slow_entry(const struct ftrace_graph_ent *call, struct ktrace_graph *graph,
			struct ftrace_regs *fregs, struct task_struct *task);
void ktrace_graph_slow_ret(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
			   struct ftrace_regs *fregs, struct task_struct *task);
int ktrace_graph_fast_entry(const struct ftrace_graph_ent *call, struct ktrace_graph *graph,
		       struct ftrace_regs *fregs, struct task_struct *task,
		       struct ktrace_frame *frame);
void ktrace_graph_fast_ret_profile(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
			u64 total_ns, unsigned int cpu);
void ktrace_graph_fast_ret(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
			struct ftrace_regs *fregs, struct task_struct *task, u64 total_ns,
			u64 written);
void ktrace_graph_fast_ret_late(const struct ftrace_graph_ret *ret, struct ktrace_graph *graph,
		       struct ftrace_regs *fregs, struct task_struct *task, u64 total_ns);

/* Defined in fgraph.c, called from Rust. */
u32 ktrace_graph_random(void);
void ktrace_graph_init(struct ktrace_graph *graph);
void ktrace_graph_set_chosen(struct ktrace_graph *graph, bool are_chosen);
bool ktrace_graph_task_is_in(struct ktrace_graph *graph);
bool ktrace_ops_are_listed(const struct ftrace_ops *ops);
bool ktrace_graph_is_listed(struct ktrace_graph *graph);
void ktrace_graph_detect_layout(struct ktrace_graph *graph, void *frame, unsigned long *word);
void ktrace_graph_synchronize(void);
unsigned long ktrace_return_value(struct ftrace_regs *fregs);

#ifndef __BINDGEN__

/* Defined by symbols.c. */
void *ktrace_call_fgraph_reserve_data(int idx, int size);
void *ktrace_call_fgraph_retrieve_parent_data(int idx, int *size, int depth);
int ktrace_call_register_ftrace_graph(struct fgraph_ops *ops);
void ktrace_call_unregister_ftrace_graph(struct fgraph_ops *ops);

/* Size of a frame on the shadow stack in words, with the word that describes it. */
#define KTRACE_FRAME_WORDS (sizeof(struct ktrace_frame) / sizeof(long) + 1)

/* Size of a call on the shadow stack in words, with the word that describes it. */
#define KTRACE_ENTRY_WORDS (DIV_ROUND_UP(sizeof(struct ftrace_ret_stack), sizeof(long)) + 1)

/*
 * Reserves words of the shadow stack, which ends at @at, also after any interrupt. One instruction
 * on x86.
 */
static __always_inline void ktrace_take_words(struct task_struct *task, unsigned long at,
					      unsigned long words)
{
#ifdef CONFIG_X86
	task->curr_ret_stack += words;
#else
	WRITE_ONCE(task->curr_ret_stack, at + words);
#endif
}

/*
 * Reserves a frame at the end of the shadow stack, as the kernel's function does. Its last word
 * describes it. That word is written twice, because an interrupt before the end is moved may
 * overwrite it.
 */
static __always_inline void ktrace_take_frame(struct task_struct *task, unsigned long at,
					      unsigned long *end, unsigned long top)
{
	WRITE_ONCE(end[KTRACE_FRAME_WORDS - 1], top);
	barrier();
	ktrace_take_words(task, at, KTRACE_FRAME_WORDS);
	barrier();
	WRITE_ONCE(end[KTRACE_FRAME_WORDS - 1], top);
}

#endif /* __BINDGEN__ */

#endif
