/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_TEST_CONTEXTS_H
#define KTRACE_TEST_CONTEXTS_H

/* Fires the events, in any context. Defined in Rust (main.rs). */
void ktrace_test_fire(void);

/* Defined in contexts.c and called only there; not static, so that ftrace knows its name. */
void ktrace_test_here(void);

/* Defined in contexts.c, called from Rust. */
int ktrace_test_in(const char *context, unsigned long len);

/* Defined in attach.c and tree.c, called from Rust. */
int ktrace_test_attach(void);
void ktrace_test_detach(void);
unsigned long ktrace_test_heard(void);
int ktrace_test_probed(const char *name, unsigned long len);
int ktrace_test_tree(const char *which, unsigned long len, long n);

/* Defined in dead.c, called from Rust. */
int ktrace_test_watch(pid_t pid);
int ktrace_test_open_frames(bool gone);

/* Defined in compact.c, called from Rust. */
int ktrace_test_set_back(long counts);

#endif
