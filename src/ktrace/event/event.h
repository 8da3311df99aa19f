/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_EVENT_H
#define KTRACE_EVENT_H

#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "../callbacks.h"

struct srcu_ctr;
struct trace_seq;

/* Defined in Rust. */
void ktrace_event_print(struct trace_iterator *iter, struct trace_event *event);
unsigned int ktrace_pack_print(struct trace_iterator *iter);

/* Defined in event.c, called from Rust. */
bool ktrace_tracepoint_enter(struct srcu_ctr __percpu **ctr);
void ktrace_tracepoint_exit(struct srcu_ctr __percpu *ctr);
bool ktrace_event_enter(struct trace_event_file *file);
void ktrace_event_exit(void);
struct hlist_head *ktrace_perf_enter(struct trace_event_call *call, struct task_struct *about);
void ktrace_perf_deliver_about(struct task_struct *task, void *record, int size,
			       struct trace_event_call *call);
void ktrace_perf_exit(void);
const char *ktrace_seq_position(struct trace_seq *seq);
void ktrace_perf_caller(struct pt_regs *regs);
int ktrace_event_reg(struct trace_event_call *call, enum trace_reg type, void *data);
int ktrace_event_reg_about(struct trace_event_call *call, enum trace_reg type, void *data);
int ktrace_event_users_start(ktrace_event_users_changed_t changed);
void ktrace_event_users_stop(void);
extern struct trace_event_functions ktrace_event_functions;
extern struct trace_event_functions ktrace_pack_functions;
extern struct tracepoint_ext ktrace_event_users;

#endif
