// SPDX-License-Identifier: GPL-2.0
/*
 * User markers and trace_printk(): they write records that are not events, so the
 * kernel gives no notice before them. While a hook defers the entry records of calls,
 * kprobes on the functions that write such records make the hook write the entries of
 * the open calls first. markers.rs says when the kprobes are registered.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/trace_events.h>

#include "../helpers.h"
#include "../record/context.h"

static ktrace_interposed_t ktrace_interposed;

static int ktrace_marker_hit(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int context = ktrace_context();

	/* On some architectures the breakpoint is an NMI and runs with interrupts off. */
	context &= ~((TRACE_FLAG_NMI | TRACE_FLAG_HARDIRQ) << 16);
	if (!regs_irqs_disabled(regs))
		context &= ~(TRACE_FLAG_IRQS_OFF << 16);
	ktrace_interposed(context);
	return 0;
}

#define KTRACE_MARKER(function) { .symbol_name = function, .pre_handler = ktrace_marker_hit }

static struct kprobe ktrace_markers[] = {
	KTRACE_MARKER("tracing_mark_write"),
	KTRACE_MARKER("tracing_mark_raw_write"),
	KTRACE_MARKER("trace_vbprintk"),
	KTRACE_MARKER("trace_array_vprintk"),
	KTRACE_MARKER("__trace_array_puts"),
	KTRACE_MARKER("__trace_bputs"),
};

void ktrace_unwatch_markers(void)
{
	struct kprobe *probes[ARRAY_SIZE(ktrace_markers)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probes[i] = &ktrace_markers[i];
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	/* Reset them, so that they can be registered again. */
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		const char *name = ktrace_markers[i].symbol_name;

		ktrace_markers[i] = (struct kprobe)KTRACE_MARKER(name);
	}
}

int ktrace_watch_markers(ktrace_interposed_t interposed)
{
	int ret = ktrace_set_callbacks(&ktrace_interposed, interposed);
	struct kprobe *probes[ARRAY_SIZE(ktrace_markers)];
	unsigned int i;

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probes[i] = &ktrace_markers[i];
	return register_kprobes(probes, ARRAY_SIZE(probes));
}
