/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_TEST_FLOORS_H
#define KTRACE_TEST_FLOORS_H

#include <linux/types.h>

struct fgraph_ops;

/* Called by the address from kallsyms (src/ktrace/private/symbols.c). */
int ktrace_call_register_ftrace_graph(struct fgraph_ops *ops);
void ktrace_call_unregister_ftrace_graph(struct fgraph_ops *ops);
void *ktrace_call_fgraph_reserve_data(int idx, int size_bytes);
void *ktrace_call_fgraph_retrieve_parent_data(int idx, int *size_bytes, int depth);
u64 ktrace_call_sched_clock_noinstr(void);

/* Called from Rust (main.rs). */
int ktrace_test_floor(const char *which, unsigned long len, const char *function,
		      unsigned long function_len);
void ktrace_test_no_floor(void);

#endif
