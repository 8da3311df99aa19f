/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_TEST_FLOORS_H
#define KTRACE_TEST_FLOORS_H

struct fgraph_ops;

/* By the address that kallsyms has (src/ktrace/shim.c). */
int ktrace_call_register_ftrace_graph(struct fgraph_ops *ops);
void ktrace_call_unregister_ftrace_graph(struct fgraph_ops *ops);

/* Called from Rust (main.rs). */
int ktrace_test_floor(const char *which, unsigned long len, const char *function,
		      unsigned long function_len);
void ktrace_test_no_floor(void);

#endif
