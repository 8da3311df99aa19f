/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_COMPACT_H
#define KTRACE_COMPACT_H

/*
 * Fast path of compact records: adds an item of the same task to this CPU's current pack. A
 * function takes half a word if the pack already holds the same function and return address, else
 * one word. A call takes one word if it has returned, else one when it begins and one when it
 * returns. A change of the context takes one word more.
 * add.rs explains why this is safe, and write_item.rs has the slow path. This file has only what
 * must be inlined into the hook.
 */

/* For bindgen, there are only the types: see shared.h. */
#ifndef __BINDGEN__
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <asm/barrier.h>
#include <asm/local.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#else
#include <asm/sysreg.h>
#endif

#include "members.h"
#include "../record/context.h"
#endif

#define KTRACE_CALL_SITE_BITS 6

/* The words of a pack; encoding.rs documents their layout. Places of addresses. */
#define KTRACE_NAMED_WORDS 64
#define KTRACE_FUNC_BITS 23
#define KTRACE_FUNC_SHIFT 2
#define KTRACE_SITE_BITS 25
#ifdef CONFIG_ARM64
#define KTRACE_SITE_SHIFT 2
#else
#define KTRACE_SITE_SHIFT 0
#endif
/* The word of a function. */
#define KTRACE_FUNCTION (2UL << 62)
#define KTRACE_FUNCTION_IP_SHIFT 39
#define KTRACE_FUNCTION_PARENT_SHIFT 14
#define KTRACE_FUNCTION_DELTA_BITS 14
/* A word that repeats one function or two. */
#define KTRACE_AGAIN (3UL << 62)
#define KTRACE_AGAIN_SECOND (1UL << 31)
#define KTRACE_AGAIN_DELTA_BITS 24
/* The word of a change of the context. */
#define KTRACE_CHANGE (2UL << 60)
#define KTRACE_CHANGE_SHIFT 40
#define KTRACE_CHANGE_DELTA_BITS 24

/*
 * The word of a call: of one that returned and has no entry, of an entry, or of the return of a
 * call that has one.
 */
#define KTRACE_LEAF (4UL << 60)
#define KTRACE_BEGIN (5UL << 60)
#define KTRACE_RETURN (6UL << 60)
#define KTRACE_CALL_FUNC_SHIFT 37
#define KTRACE_CALL_DEPTH_SHIFT 31
#define KTRACE_CALL_DEPTH_BITS 6
/* The bits of the duration in ns and of the delta together. */
#define KTRACE_CALL_TIME_BITS 31
#define KTRACE_CALL_DELTA_BITS 16
#define KTRACE_RETURN_DELTA_BITS 12

/* An entry for addresses that a word of the pack holds; `CallSite` in state.rs. */
struct ktrace_call_site {
	unsigned long address;
	/* XORed with the pack's `salt`. */
	unsigned long salted;
	/* The index of the word, encoded for the first and for the second half of a word. */
	u64 first;
	u64 second;
};

/* A CPU's state of its current pack; `PerCpuPack` in state.rs, which documents each member. */
struct ktrace_pack {
	unsigned long busy;
	u64 time;
	u64 span;
	u64 preempt;
	u64 flags;
	unsigned long salt;
	u64 half;
	u64 *place;
	u64 *end;
	void *tr;
	void *page;
	unsigned long write;
	u64 stamp;
	void *part;
	unsigned long text;
	u64 calls;
	u64 begins;
	u64 halves;
	u64 extra;
	/*
	 * The members up to `is_constant_rate` are used by Rust only, except `words`, `packed` and
	 * `pid`.
	 */
	u64 calls_seen;
	u64 extra_seen;
	u64 until;
	u64 *words;
	u64 functions;
	u64 items;
	u32 serial;
	u32 capacity;
	u32 packed;
	u32 kind;
	s32 pid;
	u32 lost;
	u32 mult;
	u32 is_constant_rate;
	struct ktrace_call_site call_sites[1 << KTRACE_CALL_SITE_BITS];
};

#ifndef __BINDGEN__

/* Defined in Rust. */
void ktrace_pack_rewrite(struct ktrace_pack *pack, unsigned long ip, unsigned long parent_ip);
void ktrace_pack_rewrite_call(struct ktrace_pack *pack, u64 kind, unsigned long func, int depth,
			      u64 ns);
void ktrace_pack_catch_up(struct ktrace_pack *pack);

/* Reads the counter, which each CPU has and which is cheap to read. */
static __always_inline u64 ktrace_counter_here(void)
{
#ifdef CONFIG_X86
	return rdtsc();
#else
	return read_sysreg(cntvct_el0);
#endif
}

/* The raw state from which the flags of a record are made: the same state means the same flags. */
static __always_inline u64 ktrace_raw_preempt(void)
{
#ifdef CONFIG_X86
	return raw_cpu_read_4(__preempt_count);
#else
	return READ_ONCE(current_thread_info()->preempt_count);
#endif
}

static __always_inline u64 ktrace_raw_flags(void)
{
	unsigned long irqs = arch_local_save_flags();
	u64 flags = READ_ONCE(current_thread_info()->flags) &
		    (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY);

#ifdef CONFIG_X86
	/* The other bits of EFLAGS are arithmetic flags. */
	BUILD_BUG_ON((_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY) & X86_EFLAGS_IF);
	flags |= irqs & X86_EFLAGS_IF;
#else
	flags |= (u64)irqs << 32;
#endif
	BUILD_BUG_ON((_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY | BIT(9)) >> 16);
#ifdef CONFIG_SMP
	flags |= (u32)current->migration_disabled << 16;
#endif
	return flags;
}

/*
 * Each member is read once between two barriers. With READ_ONCE(), each comparison
 * would take two instructions.
 */
#define KTRACE_MEMBER(type, base, offset) (*(type *)((void *)(base) + (offset)))

/* Results of the fast path. All from KTRACE_PACK_FALLBACK on mean that nothing was written. */
enum ktrace_pack_end {
	KTRACE_PACK_WRITTEN,
	/* Written; records of interrupts have to be committed. */
	KTRACE_PACK_WRITTEN_COMMIT_PENDING,
	/* Written, but a reader may have missed it; interrupts may have to be committed. */
	KTRACE_PACK_MAYBE_MISSED,
	/* Not written; the slow path has to write it. */
	KTRACE_PACK_FALLBACK,
	/* Not written; in addition, records of interrupts have to be committed. */
	KTRACE_PACK_FALLBACK_COMMIT_PENDING,
};

static __always_inline struct ktrace_call_site *ktrace_call_site_at(struct ktrace_pack *pack,
							    unsigned long ip,
							    unsigned long parent_ip)
{
	/* Bits 4 to 9 of @ip and bits 0 to 5 of @parent_ip. */
	unsigned long mixed = (ip << 1) ^ (parent_ip << 5);

	BUILD_BUG_ON(sizeof(struct ktrace_call_site) != 1 << 5);
	return (void *)pack->call_sites + (mixed & ((1 << KTRACE_CALL_SITE_BITS) - 1) << 5);
}

/* Returns whether task and context are those of the last item. */
static __always_inline bool ktrace_pack_is_here(struct ktrace_pack *pack)
{
	return pack->preempt == ktrace_raw_preempt() && pack->flags == ktrace_raw_flags() &&
	       pack->pid == current->pid;
}

/*
 * Returns the field value for an address, or a value that is too large: the address is out of range
 * or not aligned. The last values of a field refer to address words.
 */
static __always_inline u64 ktrace_pack_field(struct ktrace_pack *pack, unsigned long address,
					     unsigned int shift)
{
	return ror64(address - pack->text, shift);
}

#define KTRACE_FIELD_END(bits) ((1UL << (bits)) - KTRACE_NAMED_WORDS)

static __always_inline void *ktrace_pack_buffer(struct ktrace_pack *pack)
{
	return KTRACE_MEMBER(void *, pack->tr,
			     KTRACE_trace_array_array_buffer + KTRACE_array_buffer_buffer);
}

/*
 * Returns whether recording is enabled in the buffer and in this CPU's part of it. Sets @buffer and
 * @part.
 */
static __always_inline bool ktrace_pack_records(struct ktrace_pack *pack, void **buffer,
						void **part)
{
	*buffer = ktrace_pack_buffer(pack);
	if (KTRACE_MEMBER(int, *buffer, KTRACE_trace_buffer_record_disabled))
		return false;
	/* ktrace_pack_put() checks that it still belongs to that buffer. */
	*part = pack->part;
	return !KTRACE_MEMBER(int, *part, KTRACE_ring_buffer_per_cpu_record_disabled);
}

/* Returns whether the pack can take another item in this context. Sets @buffer and @part. */
static __always_inline bool ktrace_pack_continues(struct ktrace_pack *pack, void **buffer,
						void **part)
{
	return ktrace_pack_is_here(pack) && ktrace_pack_records(pack, buffer, part);
}

/*
 * Returns whether the page is in the ring, where no reader reads it. The low bits of the pointer to
 * it are flags (head page). Not for a page that has become the reader page before this: the page
 * that pointed to it may be gone.
 */
static __always_inline bool ktrace_page_in_ring(void *page)
{
	struct list_head *list = page + KTRACE_buffer_page_list;
	unsigned long next = (unsigned long)READ_ONCE(READ_ONCE(list->prev)->next);

	return (next & ~3UL) == (unsigned long)list;
}

/* Writes @change, if it is not 0, and @word to @place if the pack is still the last record. */
static __always_inline enum ktrace_pack_end ktrace_pack_put(struct ktrace_pack *pack,
							    void *buffer, void *part,
							    u64 *place, u64 change, u64 word)
{
	void *page = pack->page;
	long committing, commits;

	/*
	 * An interrupt raises @committing too, but lowers it again before this code continues.
	 * Until @committing is raised here, an interrupt commits its own records. Both are read
	 * before that, so each interrupt in between is noticed, at worst without need.
	 */
	committing = KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing);
	commits = KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits);
	/* The interrupted writer may have read an earlier time, but not reserved its place. */
	if (unlikely(committing)) {
		pack->page = NULL;
		return KTRACE_PACK_FALLBACK;
	}
	barrier();
	WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 1);
	barrier();
	if (unlikely(
	    KTRACE_MEMBER(void *, part, KTRACE_ring_buffer_per_cpu_tail_page) != page ||
	    KTRACE_MEMBER(void *, part, KTRACE_ring_buffer_per_cpu_buffer) != buffer ||
	    KTRACE_MEMBER(u64, part, KTRACE_ring_buffer_per_cpu_write_stamp) != pack->stamp ||
	    KTRACE_MEMBER(void *, part, KTRACE_ring_buffer_per_cpu_reader_page) == page ||
	    KTRACE_MEMBER(unsigned long, page, KTRACE_buffer_page_write) != pack->write)) {
		WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
		barrier();
		pack->page = NULL;
		if (KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits) != commits)
			return KTRACE_PACK_FALLBACK_COMMIT_PENDING;
		return KTRACE_PACK_FALLBACK;
	}
	if (change)
		WRITE_ONCE(*place++, change);
	WRITE_ONCE(*place, word);
	/* A reader takes the page out of the ring before it reads it; see add.rs. */
	smp_mb();
	if (unlikely(!ktrace_page_in_ring(page))) {
		WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
		return KTRACE_PACK_MAYBE_MISSED;
	}
	WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
	barrier();
	if (unlikely(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits) != commits))
		return KTRACE_PACK_WRITTEN_COMMIT_PENDING;
	return KTRACE_PACK_WRITTEN;
}

/* Returns whether the pack holds these addresses, in the word of @site. */
static __always_inline bool ktrace_pack_knows(struct ktrace_pack *pack,
					      const struct ktrace_call_site *site,
					      unsigned long ip, unsigned long parent_ip)
{
	return site->address == ip && site->salted == (parent_ip ^ pack->salt);
}

/*
 * Adds a function that the pack has in the word of @site, as half a word, in the context of the
 * last item. Preemption must be off, and the pack marked busy.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add(struct ktrace_pack *pack,
							    const struct ktrace_call_site *site)
{
	enum ktrace_pack_end end;
	u64 now, delta, word, *place;
	void *buffer, *part;

	if (!ktrace_pack_continues(pack, &buffer, &part))
		return KTRACE_PACK_FALLBACK;
	now = ktrace_counter_here();
	/* Very large if the counter was set back, and then more than any span. */
	delta = now - pack->time;
	if (delta > pack->span)
		return KTRACE_PACK_FALLBACK;
	place = pack->place;
	/* If ktrace_pack_put() fails, it closes the pack, and this state is not used any more. */
	if (pack->half) {
		word = pack->half | site->second | delta;
		pack->half = 0;
		pack->place = place + 1;
	} else {
		if (place == pack->end)
			return KTRACE_PACK_FALLBACK;
		word = site->first | delta << 32;
		pack->half = word;
	}
	pack->time = now;
	end = ktrace_pack_put(pack, buffer, part, place, 0, word);
	/* The half that was not written must not be counted. */
	if (unlikely(end >= KTRACE_PACK_FALLBACK))
		pack->halves++;
	return end;
}

/* Notes that the word at @place has these addresses. */
static __always_inline void ktrace_pack_learn(struct ktrace_pack *pack,
					      struct ktrace_call_site *site, unsigned long ip,
					      unsigned long parent_ip, u64 *place)
{
	u64 index = place - pack->words;

	if (index >= KTRACE_NAMED_WORDS)
		return;
	site->address = ip;
	site->salted = parent_ip ^ pack->salt;
	site->second = KTRACE_AGAIN_SECOND | index << KTRACE_AGAIN_DELTA_BITS;
	site->first = KTRACE_AGAIN | index << (32 + KTRACE_AGAIN_DELTA_BITS);
}

/* Returns the word of a function, @delta ticks after the last item; 0 if a value does not fit. */
static __always_inline u64 ktrace_pack_function_word(struct ktrace_pack *pack, unsigned long ip,
						     unsigned long parent_ip, u64 delta)
{
	u64 ip_field = ktrace_pack_field(pack, ip, KTRACE_FUNC_SHIFT);
	u64 parent_field = ktrace_pack_field(pack, parent_ip, KTRACE_SITE_SHIFT);

	if (delta >> KTRACE_FUNCTION_DELTA_BITS || ip_field >= KTRACE_FIELD_END(KTRACE_FUNC_BITS) ||
	    parent_field >= KTRACE_FIELD_END(KTRACE_SITE_BITS))
		return 0;
	return KTRACE_FUNCTION | ip_field << KTRACE_FUNCTION_IP_SHIFT |
	       parent_field << KTRACE_FUNCTION_PARENT_SHIFT | delta;
}

/*
 * Adds a function that is new in the pack, in the context of the last item. Preemption must be off,
 * and the pack marked busy.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add_new(struct ktrace_pack *pack,
								unsigned long ip,
								unsigned long parent_ip)
{
	/* The free half of a word stays free. */
	u64 now, word, joins = pack->half != 0, *place = pack->place + joins;
	enum ktrace_pack_end end;
	void *buffer, *part;

	if (place >= pack->end || !ktrace_pack_continues(pack, &buffer, &part))
		return KTRACE_PACK_FALLBACK;
	now = ktrace_counter_here();
	/* A delta that fits is less than any span. */
	word = ktrace_pack_function_word(pack, ip, parent_ip, now - pack->time);
	if (!word)
		return KTRACE_PACK_FALLBACK;
	/* If ktrace_pack_put() fails, it closes the pack; then only the counts are restored. */
	pack->time = now;
	pack->half = 0;
	pack->place = place + 1;
	pack->extra += 1 + joins;
	ktrace_pack_learn(pack, ktrace_call_site_at(pack, ip, parent_ip), ip, parent_ip, place);
	end = ktrace_pack_put(pack, buffer, part, place, 0, word);
	if (unlikely(end >= KTRACE_PACK_FALLBACK)) {
		pack->half = joins;
		pack->place -= 1 + joins;
		pack->extra -= 1 + joins;
	}
	return end;
}

/* The context of an item, as the pack has it. */
struct ktrace_pack_state {
	u64 preempt;
	u64 flags;
	u32 packed;
};

/* Sets @state to the current context. Returns whether it differs from that of the last item. */
static __always_inline bool ktrace_pack_has_changed(struct ktrace_pack *pack,
						    struct ktrace_pack_state *state)
{
	state->preempt = ktrace_raw_preempt();
	state->flags = ktrace_raw_flags();
	state->packed = pack->packed;
	if (state->preempt == pack->preempt && state->flags == pack->flags)
		return false;
	/* If an interrupt changes the state in between, the next item finds another change. */
	state->packed = ktrace_context_here();
	return state->packed != pack->packed;
}

/* Returns the word of a change of the context to @packed, @delta ticks after the last item. */
static __always_inline u64 ktrace_pack_change(u32 packed, u64 delta)
{
	return KTRACE_CHANGE | delta |
	       (u64)((packed >> 16 & 0xff) | (packed & 0xff) << 8) << KTRACE_CHANGE_SHIFT;
}

static __always_inline void ktrace_pack_remember(struct ktrace_pack *pack,
						 const struct ktrace_pack_state *state)
{
	pack->preempt = state->preempt;
	pack->flags = state->flags;
	pack->packed = state->packed;
}

/*
 * Adds a function, which may be new in the pack, in a context that may be another one than that of
 * the last item. Preemption must be off, and the pack marked busy.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add_whole(struct ktrace_pack *pack,
								  unsigned long ip,
								  unsigned long parent_ip)
{
	struct ktrace_call_site *site = ktrace_call_site_at(pack, ip, parent_ip);
	u64 now, delta, word, change = 0, *place, *end_place;
	bool is_known, joins = pack->half != 0;
	struct ktrace_pack_state state;
	enum ktrace_pack_end end;
	void *buffer, *part;

	is_known = ktrace_pack_knows(pack, site, ip, parent_ip);
	if (pack->pid != current->pid || !ktrace_pack_records(pack, &buffer, &part))
		return KTRACE_PACK_FALLBACK;
	now = ktrace_counter_here();
	delta = now - pack->time;
	if (delta > pack->span)
		return KTRACE_PACK_FALLBACK;
	/* The free half of a word stays free. */
	place = pack->place + joins;
	end_place = place + 1;
	if (ktrace_pack_has_changed(pack, &state) ||
	    (!is_known && delta >> KTRACE_FUNCTION_DELTA_BITS)) {
		change = ktrace_pack_change(state.packed, delta);
		delta = 0;
		end_place++;
	}
	if (end_place > pack->end)
		return KTRACE_PACK_FALLBACK;
	if (is_known)
		word = site->first | delta << 32;
	else
		word = ktrace_pack_function_word(pack, ip, parent_ip, delta);
	if (!word)
		return KTRACE_PACK_FALLBACK;
	end = ktrace_pack_put(pack, buffer, part, place, change, word);
	if (unlikely(end >= KTRACE_PACK_FALLBACK))
		return end;
	pack->time = now;
	ktrace_pack_remember(pack, &state);
	/* All halves that are used now, and were not before, but one for the function. */
	pack->extra += (end_place - place) * 2 + joins - is_known - 1;
	if (is_known) {
		pack->half = word;
		pack->place = end_place - 1;
		return end;
	}
	pack->half = 0;
	pack->place = end_place;
	ktrace_pack_learn(pack, site, ip, parent_ip, end_place - 1);
	return end;
}

/* Returns the number of bits for the delta in the word of a call. */
static __always_inline unsigned int ktrace_pack_delta_bits(u64 kind)
{
	return kind == KTRACE_RETURN ? KTRACE_RETURN_DELTA_BITS : KTRACE_CALL_DELTA_BITS;
}

/* Returns the word of a call, @delta ticks after the last item; 0 if some value does not fit. */
static __always_inline u64 ktrace_pack_call_word(struct ktrace_pack *pack, u64 kind,
						 unsigned long func, u64 depth, u64 ns, u64 delta)
{
	u64 field = ktrace_pack_field(pack, func, KTRACE_FUNC_SHIFT);
	const unsigned int delta_bits = ktrace_pack_delta_bits(kind);

	if (ns >> (KTRACE_CALL_TIME_BITS - delta_bits) || delta >> delta_bits ||
	    depth >> KTRACE_CALL_DEPTH_BITS || field >= KTRACE_FIELD_END(KTRACE_FUNC_BITS))
		return 0;
	return kind | field << KTRACE_CALL_FUNC_SHIFT | depth << KTRACE_CALL_DEPTH_SHIFT |
	       ns << delta_bits | delta;
}

/*
 * Adds the word of a call at counter value @now, in the context of the last item. @kind is
 * KTRACE_LEAF or KTRACE_RETURN; @ns is the time since the call began. Preemption must
 * be off, and the pack marked busy.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add_call(struct ktrace_pack *pack, u64 kind,
								 unsigned long func, u64 depth,
								 u64 now, u64 ns)
{
	/* Very large if an interrupt added an item after @now, or the counter was set back. */
	u64 word = ktrace_pack_call_word(pack, kind, func, depth, ns, now - pack->time), *place;
	enum ktrace_pack_end end;
	void *buffer, *part;

	/* The second half of the last word is free, or the pack is full: not here. */
	place = pack->place;
	if (!word || pack->half || place == pack->end)
		return KTRACE_PACK_FALLBACK;
	if (!ktrace_pack_continues(pack, &buffer, &part))
		return KTRACE_PACK_FALLBACK;
	/* Undone below if the word is not written. */
	pack->time = now;
	pack->place = place + 1;
	pack->calls++;
	end = ktrace_pack_put(pack, buffer, part, place, 0, word);
	if (unlikely(end >= KTRACE_PACK_FALLBACK)) {
		pack->place = place;
		pack->calls--;
	}
	return end;
}

/*
 * Adds the word of a call in any context and after any item; @kind may also be KTRACE_BEGIN. Also
 * for a word that ktrace_pack_add_call() has not written; if that has closed the pack, this does
 * not write the word either.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add_call_whole(struct ktrace_pack *pack,
								       u64 kind,
								       unsigned long func,
								       u64 depth, u64 now, u64 ns)
{
	u64 delta = now - pack->time, change = 0, word, *place = pack->place;
	struct ktrace_pack_state state;
	enum ktrace_pack_end end;
	void *buffer, *part;
	long extra = 0;

	if (delta > pack->span || pack->pid != current->pid ||
	    !ktrace_pack_records(pack, &buffer, &part))
		return KTRACE_PACK_FALLBACK;
	if (pack->half) {
		/* The free half of a word stays free. */
		place++;
		extra = 1;
	}
	if (ktrace_pack_has_changed(pack, &state) || delta >> ktrace_pack_delta_bits(kind)) {
		change = ktrace_pack_change(state.packed, delta);
		delta = 0;
		extra += 2;
	}
	word = ktrace_pack_call_word(pack, kind, func, depth, ns, delta);
	if (!word || place + (change != 0) >= pack->end)
		return KTRACE_PACK_FALLBACK;
	end = ktrace_pack_put(pack, buffer, part, place, change, word);
	if (unlikely(end >= KTRACE_PACK_FALLBACK))
		return end;
	pack->time = now;
	pack->place = place + 1 + (change != 0);
	pack->half = 0;
	pack->extra += extra;
	pack->calls++;
	if (kind == KTRACE_BEGIN)
		pack->begins++;
	ktrace_pack_remember(pack, &state);
	return end;
}

/* The per-CPU packs of a trace array. */
struct ktrace_pack_set {
	struct list_head list;
	struct ktrace_pack __percpu *packs;
};

/* For each slot, the packs of its hook if that uses compact records, else NULL. */
extern struct ktrace_pack __percpu *ktrace_packs[];
void ktrace_set_packs(unsigned int slot, struct ktrace_pack __percpu *packs);

#endif /* __BINDGEN__ */

#endif
