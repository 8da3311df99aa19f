// SPDX-License-Identifier: GPL-2.0
/*
 * Reads trace clocks, for Rust (clock.rs).
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>

#include "clock.h"

/*
 * Reads the trace clock whose function in the kernel's trace_clocks[] is `read`. The
 * TAI clock jumps when the time of day is set; the monotonic clock, which differs from
 * it only by an offset, is read instead.
 */
u64 ktrace_read_clock(u64 (*read)(void))
{
	if (read == ktime_get_tai_fast_ns)
		return ktime_get_mono_fast_ns();
	return read();
}

/* Reads the trace clock whose function is `read`, without replacing any clock. */
u64 ktrace_call_clock(u64 (*read)(void))
{
	return read();
}

/* Whether `read` is the function of the table's entry 0 (if `index` is 0) or 1 (otherwise). */
bool ktrace_is_clock(unsigned int index, u64 (*read)(void))
{
	return read == (index ? trace_clock_global : trace_clock_local);
}
