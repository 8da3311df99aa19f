// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test: checks what packs require of the kernel beyond the layout of its types, on a ring
 * buffer of its own when the module is loaded: that a record can grow, that the record of an
 * interrupt that arrives at that moment can be committed, that it is visible when a reader has
 * taken the page, and that a file that reads the buffer can be held at a record. add.rs and
 * output/trace_reader.rs explain how this is used.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/align.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/trace_events.h>

#include "compact.h"
#include "../helpers.h"

#define KTRACE_TEST_WORDS	8
#define KTRACE_TEST_WORD	0x0123456789abcdefULL
#define KTRACE_TEST_NESTED	0xfedcba9876543210ULL

/* Tests of the self-test change this digit in the module, which breaks one of the steps. */
static const char ktrace_broken[] = "ktrace self-test, broken: 0";

bool notrace ktrace_is_broken(char step)
{
	return READ_ONCE(ktrace_broken[sizeof(ktrace_broken) - 2]) == step;
}

static u64 *ktrace_words_of(struct ring_buffer_event *event)
{
	return PTR_ALIGN(ring_buffer_event_data(event), sizeof(u64));
}

/* Writes a record of words that are zero, as PerCpuPack::open() does. */
static bool ktrace_test_begin(struct trace_buffer *buffer, struct ktrace_pack *pack)
{
	const size_t size = KTRACE_TEST_WORDS * sizeof(u64);
	struct ring_buffer_event *event;
	void *part = pack->part;

	event = ring_buffer_lock_reserve(buffer, size + sizeof(u32));
	if (!event)
		return false;
	pack->words = ktrace_words_of(event);
	pack->place = pack->words;
	memset(pack->words, 0, size);
	pack->page = KTRACE_MEMBER(void *, part, KTRACE_ring_buffer_per_cpu_tail_page);
	pack->write = KTRACE_MEMBER(unsigned long, pack->page, KTRACE_buffer_page_write);
	pack->stamp = KTRACE_MEMBER(u64, part, KTRACE_ring_buffer_per_cpu_write_stamp);
	ring_buffer_unlock_commit(buffer);
	return true;
}

/* Writes a record while @committing is raised, as an interrupt may do. */
static bool ktrace_test_nested(struct trace_buffer *buffer, void *part)
{
	struct ring_buffer_event *event;

	WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 1);
	barrier();
	event = ring_buffer_lock_reserve(buffer, sizeof(u64));
	if (event) {
		*(u64 *)ring_buffer_event_data(event) = KTRACE_TEST_NESTED;
		ring_buffer_unlock_commit(buffer);
	}
	barrier();
	WRITE_ONCE(KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_committing), 0);
	return event;
}

/* Tests the ring buffer, with preemption off. Returns NULL, or what is not as packs require. */
static const char *ktrace_test_steps(struct trace_buffer *buffer, struct ktrace_pack *pack)
{
	int cpu = smp_processor_id();
	struct ring_buffer_event *event;
	void *part, *page;
	long commits;

	part = KTRACE_MEMBER(void **, buffer, KTRACE_trace_buffer_buffers)[cpu];
	pack->part = part;
	if (!part || !ktrace_test_begin(buffer, pack))
		return "nothing can be written";

	if (ktrace_is_broken('1'))
		pack->stamp++;
	page = pack->page;
	if (ktrace_pack_put(pack, buffer, part, pack->place, 0, KTRACE_TEST_WORD) !=
	    KTRACE_PACK_WRITTEN)
		return "a record cannot grow";
	if (!ktrace_page_in_ring(page))
		return "a page that is not read is not in the ring";

	commits = KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits);
	if (!ktrace_test_nested(buffer, part))
		return "an interrupt cannot write";
	if (KTRACE_MEMBER(long, part, KTRACE_ring_buffer_per_cpu_commits) == commits)
		return "a record of an interrupt goes unnoticed";
	if (!ktrace_is_broken('2'))
		ktrace_pack_catch_up(pack);
	if (ktrace_pack_put(pack, buffer, part, pack->place + 1, 0, KTRACE_TEST_WORD) <
	    KTRACE_PACK_FALLBACK)
		return "a record grows that is not the last one";

	if (ktrace_is_broken('3'))
		return ktrace_page_in_ring(page) ? "a page that is read is in the ring" : NULL;
	event = ring_buffer_consume(buffer, cpu, NULL, NULL);
	if (!event || ktrace_words_of(event)[0] != KTRACE_TEST_WORD || ktrace_words_of(event)[1])
		return "an item that was added to a record is missing";
	if (ktrace_page_in_ring(page))
		return "a page that is read is in the ring";
	event = ring_buffer_consume(buffer, cpu, NULL, NULL);
	if (!event || *(u64 *)ring_buffer_event_data(event) != KTRACE_TEST_NESTED)
		return "a record of an interrupt is not committed";

	/* On the reader page. */
	if (!ktrace_test_begin(buffer, pack))
		return "nothing can be written";
	if (ktrace_pack_put(pack, buffer, part, pack->place, 0, KTRACE_TEST_WORD) <
	    KTRACE_PACK_FALLBACK)
		return "a record grows that is being read";
	return NULL;
}

/* Writes two records of one word each: 1 and 2. */
static bool ktrace_test_write(struct trace_buffer *buffer)
{
	u32 word;

	for (word = 1; word <= 2; word++) {
		if (ring_buffer_write(buffer, sizeof(word), &word))
			return false;
	}
	return true;
}

/* Returns whether the next record of a file has this word and the number @idx. */
static bool ktrace_test_next(const struct seq_operations *ops, struct seq_file *file,
			     loff_t *pos, long idx, u32 word)
{
	struct trace_iterator *iter = file->private;

	return ops->next(file, iter, pos) == iter && iter->idx == idx &&
	       *(u32 *)iter->ent == word;
}

/*
 * Tests that a file whose position was raised returns to the same record, as output/trace_reader.rs
 * requires, and then reaches the next one. @ops are the operations of `trace`.
 */
static const char *ktrace_test_positions(const struct seq_operations *ops,
					 struct trace_iterator *iter)
{
	struct seq_file file = { .private = iter };
	loff_t pos = 0;

	iter->idx = -1;
	if (!ktrace_test_next(ops, &file, &pos, 0, 1))
		return "a file does not begin with the first record";
	if (!ktrace_is_broken('4'))
		iter->idx++;
	if (!ktrace_test_next(ops, &file, &pos, 1, 1))
		return "a file goes past a record that is not done with";
	if (!ktrace_test_next(ops, &file, &pos, 2, 2) || ops->next(&file, iter, &pos))
		return "a file does not end with the last record";
	return NULL;
}

/* Tests how a file reads the buffer of a CPU. May sleep. */
static const char *ktrace_test_file(struct trace_buffer *buffer, int cpu,
				    const struct seq_operations *ops, struct trace_array *tr)
{
	struct ring_buffer_iter **iters = kcalloc(nr_cpu_ids, sizeof(*iters), GFP_KERNEL);
	struct trace_iterator *iter = kvzalloc(sizeof(*iter), GFP_KERNEL);
	const char *reason = ERR_PTR(-ENOMEM);
	/* `struct array_buffer` is in no header; only one member of it is used. */
	void *array_buffer[16] = {};

	BUILD_BUG_ON(KTRACE_array_buffer_buffer + sizeof(void *) > sizeof(array_buffer));
	if (iters && iter)
		iters[cpu] = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
	if (iters && iters[cpu]) {
		KTRACE_MEMBER(void *, array_buffer, KTRACE_array_buffer_buffer) = buffer;
		iter->array_buffer = (void *)array_buffer;
		iter->tr = tr;
		iter->cpu_file = cpu;
		iter->buffer_iter = iters;
		reason = ktrace_test_positions(ops, iter);
		ring_buffer_read_finish(iters[cpu]);
	}
	kvfree(iter);
	kfree(iters);
	return reason;
}

/*
 * Tests whether the ring buffer and `trace` files, whose operations are @ops, work as packs
 * require. Returns NULL if so, else a description of what does not, or an error pointer. @tr may be
 * any trace array, and is not changed. May sleep.
 */
const char *ktrace_test_packs(const struct seq_operations *ops, struct trace_array *tr)
{
	const char *reason = ERR_PTR(-ENOMEM);
	struct trace_buffer *buffer;
	const size_t size = sizeof(struct ktrace_pack);
	struct ktrace_pack *pack;
	int cpu;

	pack = kzalloc(size, GFP_KERNEL);
	if (!pack)
		return reason;
	buffer = ring_buffer_alloc(2 * PAGE_SIZE, RB_FL_OVERWRITE);
	if (buffer) {
		preempt_disable_notrace();
		reason = ktrace_test_steps(buffer, pack);
		preempt_enable_notrace();
	}
	if (buffer && !reason) {
		ring_buffer_reset(buffer);
		preempt_disable_notrace();
		cpu = smp_processor_id();
		if (!ktrace_test_write(buffer))
			reason = "nothing can be written";
		preempt_enable_notrace();
		if (!reason)
			reason = ktrace_test_file(buffer, cpu, ops, tr);
	}
	if (buffer)
		ring_buffer_free(buffer);
	kfree(pack);
	return reason;
}
