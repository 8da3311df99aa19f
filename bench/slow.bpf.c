// SPDX-License-Identifier: GPL-2.0
/*
 * The question "which calls of one process took over 1 ms, and by which callers" as a BPF program,
 * for bench/compare: a session of tracing_multi, or of kprobe_multi where the kernel does not have
 * the former. bpftool loads it, and sets `asked` to the process. It does without the headers of
 * libbpf, because the build environment does not have them.
 */
#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#define SESSION "fsession.multi"
#define SKIP 0
#else
#define SESSION "kprobe.session"
#define SKIP 1 /* do not call the program at the return */
#endif

#define SEC(name) __attribute__((section(name), used))

/* The numbers are those of include/uapi/linux/bpf.h. */
static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static uint64_t (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static int64_t (*const bpf_get_stack)(void *ctx, void *buf, uint32_t size,
				      uint64_t flags) = (void *)67;
static int64_t (*const bpf_ringbuf_output)(void *map, void *data, uint64_t size,
					   uint64_t flags) = (void *)130;
static uint64_t (*const bpf_ringbuf_query)(void *map, uint64_t flags) = (void *)134;
static uint64_t (*const bpf_get_func_ip)(void *ctx) = (void *)173;

#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_PROD_POS 3

bool bpf_session_is_return(void *ctx) SEC(".ksyms");
uint64_t *bpf_session_cookie(void *ctx) SEC(".ksyms");

#define FRAMES 24

struct call {
	uint64_t func, duration;
	uint64_t callers[FRAMES];
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[8 << 20];
} calls SEC(".maps");

/* The process id. */
SEC(".bss") uint64_t asked;
/* Number of calls that were found, and of bytes that were written to `calls`. */
SEC(".data.result") uint64_t found;
SEC(".data.result") uint64_t written;

static __attribute__((always_inline)) int session(void *ctx)
{
	uint64_t *begin, duration;
	struct call call;
	int64_t size;

	if (bpf_get_current_pid_tgid() >> 32 != asked)
		return SKIP;
	begin = bpf_session_cookie(ctx);
	if (!bpf_session_is_return(ctx)) {
		*begin = bpf_ktime_get_ns();
		return 0;
	}
	duration = bpf_ktime_get_ns() - *begin;
	if (duration < 1000000)
		return 0;
	call.func = bpf_get_func_ip(ctx);
	call.duration = duration;
	size = bpf_get_stack(ctx, call.callers, sizeof(call.callers), 0);
	if (size < 0)
		size = 0;
	if (size > (int64_t)sizeof(call.callers))
		size = sizeof(call.callers);
	bpf_ringbuf_output(&calls, &call, sizeof(call) - sizeof(call.callers) + size,
			   BPF_RB_NO_WAKEUP);
	found++;
	written = bpf_ringbuf_query(&calls, BPF_RB_PROD_POS);
	return 0;
}

SEC(SESSION "/vfs_read*") int vfs(void *ctx)
{
	return session(ctx);
}

SEC(SESSION "/ksys_read*") int ksys(void *ctx)
{
	return session(ctx);
}

char _license[] SEC("license") = "GPL";
