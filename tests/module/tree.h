/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KTRACE_TEST_TREE_H
#define KTRACE_TEST_TREE_H

struct irq_work;
struct tasklet_struct;

/* Not static, so that they keep their names and arguments. */
int tree_leaf(long us);
int tree_branch(long us);
int tree_sleep(long ms);
int tree_take(void);
int tree_move(long cpu);
int tree_tail(long us);
void tree_in_irq(struct irq_work *work);
int tree_root(long n);
int tree_root_burn(long n);
int tree_root_sleep(long n);
int tree_root_naps(long n);
int tree_root_wake(long n);
int tree_root_hold(long n);
int tree_root_lock(long n);
int tree_root_move(long n);
int tree_root_tail(long n);
int tree_root_deep(long n);
int tree_root_value(long n);
int tree_root_irq(long n);
int tree_root_irqs_off(long us);
int tree_root_preempt_off(long us);
int tree_root_irqs_apart(long ms);
int tree_root_naps_apart(long ms);
int tree_big(long us);
int tree_root_stack(long us);
void tree_in_softirq(struct tasklet_struct *tasklet);
int tree_root_softirq(long us);
int tree_root_softirq_later(long us);
int tree_root_irq_nap(long us);
void tree_await(void);
int tree_root_irq_elsewhere(long us);
int tree_printk(long n);

#endif
