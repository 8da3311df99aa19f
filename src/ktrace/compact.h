/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_COMPACT_H
#define KTRACE_COMPACT_H

/*
 * The shortest way into a pack: a function that was called before from the same
 * place, in the same task and context, and stands in this CPU's last pack already.
 * That is half a word. compact/pack.rs says what a pack is and why this is safe,
 * and does all else; here is what has to be inlined into the hook.
 */

/* For bindgen there are the types alone: see shared.h. */
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
#endif

#define KTRACE_KNOWN_BITS 6

/* A word that is about a call; word.rs says what stands where. */
#define KTRACE_LEAF (1UL << 62)
#define KTRACE_LEAF_FUNC_BITS 23
#define KTRACE_LEAF_FUNC_SHIFT 37
#define KTRACE_LEAF_DEPTH_SHIFT 31
#define KTRACE_LEAF_DEPTH_BITS 6
#define KTRACE_LEAF_NS_SHIFT 16
#define KTRACE_LEAF_NS_BITS 15
#define KTRACE_LEAF_DELTA_BITS 16

/* What stands in a word of the pack; `Known` in pack.rs. */
struct ktrace_known {
	unsigned long address;
	/* Mixed with the pack's `salt`. */
	unsigned long salted;
	/* As the first half of a word, and as the second. */
	u64 first;
	u64 second;
};

/* What a CPU knows of its last pack; `Local` in pack.rs, which says what each is. */
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
	u64 halves;
	/* What only Rust looks at. */
	u64 calls_seen;
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
	u32 is_even;
	struct ktrace_known known[1 << KTRACE_KNOWN_BITS];
};

#ifndef __BINDGEN__

/* Defined in Rust. */
void ktrace_pack_doubted(struct ktrace_pack *pack, unsigned long ip, unsigned long parent_ip);
void ktrace_pack_doubted_leaf(struct ktrace_pack *pack, unsigned long func, int depth, u64 ns);
void ktrace_pack_catch_up(struct ktrace_pack *pack);

/* A counter that every CPU has, and that costs little to read. */
static __always_inline u64 ktrace_counter_here(void)
{
#ifdef CONFIG_X86
	return rdtsc();
#else
	return read_sysreg(cntvct_el0);
#endif
}

/* All that the flags of a record are made of, as it is: the same means the same flags. */
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
	/* The others are of arithmetic. */
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
 * These are read once each between two barriers. READ_ONCE() would make two
 * instructions of each comparison.
 */
#define KTRACE_MEMBER(type, base, offset) (*(type *)((void *)(base) + (offset)))

/* How the shortest way ends. */
enum ktrace_pack_end {
	KTRACE_PACK_WRITTEN,
	/* Interrupts have to be committed. */
	KTRACE_PACK_WRITTEN_BUT,
	/* The same, and a reader may not have seen it. */
	KTRACE_PACK_DOUBTED,
	/* Not written: from here on. */
	KTRACE_PACK_OTHER,
	/* The same, and interrupts have to be committed. */
	KTRACE_PACK_CLOSED,
};

static __always_inline struct ktrace_known *ktrace_known_at(struct ktrace_pack *pack,
							    unsigned long ip,
							    unsigned long parent_ip)
{
	/* Functions differ in the middle, and so do places in them. */
	unsigned long mixed = (ip << 1) ^ (parent_ip << 5);

	BUILD_BUG_ON(sizeof(struct ktrace_known) != 1 << 5);
	return (void *)pack->known + (mixed & ((1 << KTRACE_KNOWN_BITS) - 1) << 5);
}

/* Whether the context of the last item is the one that this is. */
static __always_inline bool ktrace_pack_is_here(struct ktrace_pack *pack)
{
	return pack->preempt == ktrace_raw_preempt() && pack->flags == ktrace_raw_flags() &&
	       pack->pid == current->pid;
}

static __always_inline void *ktrace_pack_buffer(struct ktrace_pack *pack)
{
	return KTRACE_MEMBER(void *, pack->tr,
			     KTRACE_trace_array_array_buffer + KTRACE_array_buffer_buffer);
}

/*
 * Whether the pack may have another item of this context, and where: something is
 * recorded in the buffer, and in the part of it that this CPU has.
 */
static __always_inline bool ktrace_pack_goes_on(struct ktrace_pack *pack, void **buffer,
						void **part)
{
	if (!ktrace_pack_is_here(pack))
		return false;
	*buffer = ktrace_pack_buffer(pack);
	if (KTRACE_MEMBER(int, *buffer, KTRACE_trace_buffer_record_disabled))
		return false;
	/* Of that buffer still, or the pack is closed: ktrace_pack_put() looks. */
	*part = pack->part;
	return !KTRACE_MEMBER(int, *part, KTRACE_ring_buffer_per_cpu_record_disabled);
}

/*
 * Whether the page is in the ring, where no reader looks. Bits of what leads to it say
 * that it is the first one. Not for a page that has been the reader's before this: what
 * led to it then may be gone.
 */
static __always_inline bool ktrace_page_in_ring(void *page)
{
	struct list_head *list = page + KTRACE_buffer_page_list;
	unsigned long next = (unsigned long)READ_ONCE(READ_ONCE(list->prev)->next);

	return (next & ~3UL) == (unsigned long)list;
}

/* Puts a word where it belongs, if the pack is the last record still. */
static __always_inline enum ktrace_pack_end ktrace_pack_put(struct ktrace_pack *pack,
							    void *buffer, void *part,
							    u64 *place, u64 word)
{
	void *page = pack->page;
	long committing, commits;

	/*
	 * An interrupt raises the one as well, but has lowered it again when this goes on. It
	 * commits by itself until then, so both are read first: one that comes in between is
	 * noticed, at worst for nothing.
	 */
	committing = KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing);
	commits = KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits);
	/* A record that is being written, with an earlier time, may have no place yet. */
	if (unlikely(committing)) {
		pack->page = NULL;
		return KTRACE_PACK_OTHER;
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
			return KTRACE_PACK_CLOSED;
		return KTRACE_PACK_OTHER;
	}
	WRITE_ONCE(*place, word);
	/* A reader takes the page out of the ring before it reads; pack.rs has the argument. */
	smp_mb();
	if (unlikely(!ktrace_page_in_ring(page))) {
		WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
		return KTRACE_PACK_DOUBTED;
	}
	WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
	barrier();
	if (unlikely(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits) != commits))
		return KTRACE_PACK_WRITTEN_BUT;
	return KTRACE_PACK_WRITTEN;
}

/* A function was called. With preemption off, while the pack is busy. */
static __always_inline enum ktrace_pack_end ktrace_pack_add(struct ktrace_pack *pack,
							    unsigned long ip,
							    unsigned long parent_ip)
{
	struct ktrace_known *known = ktrace_known_at(pack, ip, parent_ip);
	enum ktrace_pack_end end;
	u64 now, delta, word, *place;
	void *buffer, *part;

	if (known->address != ip || known->salted != (parent_ip ^ pack->salt))
		return KTRACE_PACK_OTHER;
	if (!ktrace_pack_goes_on(pack, &buffer, &part))
		return KTRACE_PACK_OTHER;
	now = ktrace_counter_here();
	/* Enormous, if the counter was set back. */
	delta = now - pack->time;
	/* No later than there is room for. */
	if (delta > pack->span)
		return KTRACE_PACK_OTHER;
	place = pack->place;
	/* If it should not be written after all, this pack is not added to any more. */
	if (pack->half) {
		word = pack->half | known->second | delta;
		pack->half = 0;
		pack->place = place + 1;
	} else {
		if (place == pack->end)
			return KTRACE_PACK_OTHER;
		word = known->first | delta << 32;
		pack->half = word;
	}
	pack->time = now;
	end = ktrace_pack_put(pack, buffer, part, place, word);
	/* One half of those that are there was not. */
	if (unlikely(end >= KTRACE_PACK_OTHER))
		pack->halves++;
	return end;
}

/*
 * A call returned whose beginning is not written, when the counter said so much. As
 * above.
 */
static __always_inline enum ktrace_pack_end ktrace_pack_add_leaf(struct ktrace_pack *pack,
								 unsigned long func, int depth,
								 u64 now, u64 ns)
{
	unsigned long offset = func - pack->text, near = offset >> 2;
	/* Enormous, if an interrupt was packed after that, or the counter was set back. */
	u64 delta = now - pack->time, word, *place;
	enum ktrace_pack_end end;
	void *buffer, *part;

	if (delta >> KTRACE_LEAF_DELTA_BITS || ns >> KTRACE_LEAF_NS_BITS ||
	    (u32)depth >> KTRACE_LEAF_DEPTH_BITS)
		return KTRACE_PACK_OTHER;
	/* The last of these stand for addresses that lie elsewhere. */
	if (offset & 3 || near >= (1UL << KTRACE_LEAF_FUNC_BITS) - 64)
		return KTRACE_PACK_OTHER;
	word = KTRACE_LEAF | near << KTRACE_LEAF_FUNC_SHIFT |
	       (u64)depth << KTRACE_LEAF_DEPTH_SHIFT | ns << KTRACE_LEAF_NS_SHIFT | delta;
	/* Functions take half a word each. */
	place = pack->place;
	if (pack->half || place == pack->end)
		return KTRACE_PACK_OTHER;
	if (!ktrace_pack_goes_on(pack, &buffer, &part))
		return KTRACE_PACK_OTHER;
	/* As above. */
	pack->time = now;
	pack->place = place + 1;
	pack->calls++;
	end = ktrace_pack_put(pack, buffer, part, place, word);
	if (unlikely(end >= KTRACE_PACK_OTHER)) {
		pack->place = place;
		pack->calls--;
	}
	return end;
}

#endif /* __BINDGEN__ */

#endif
