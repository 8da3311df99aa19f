/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_CLOCK_H
#define KTRACE_CLOCK_H

#include <linux/types.h>

/* Defined in clock.c, called from Rust. */
u64 ktrace_read_clock(u64 (*read)(void));
u64 ktrace_call_clock(u64 (*read)(void));
bool ktrace_is_clock(unsigned int index, u64 (*read)(void));

#endif
