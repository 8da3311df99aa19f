// SPDX-License-Identifier: GPL-2.0

//! The probes of task accounting: they record the transitions of tasks, and report them to events,
//! call graphs and profiles.

use crate::{
    chain_thresholds,
    events::{
        self,
        Since, //
    },
    fgraph,
    ktrace::{
        sync::read_once::ReadOnce,
        task::{
            all_tasks,
            follow,
            irq_time,
            irqs::Irq,
            saved_cmdlines,
            sched::{
                self,
                Arriving,
                Leaving,
                SchedHooks, //
            },
            sched_bind::bind_sched_hooks,
            sched_state::{
                blocked_in,
                caller_of,
                ENDED,
                PREEMPTED,
                RUNNABLE, //
            },
            task_mask::mask_of,
            task_ref::with_current,
            Comm,
            Task, //
        },
        time::clock::{
            self,
            ClockReading, //
        },
    },
    task_filter::TaskFilter,
    task_times::{
        accounting::{
            follows,
            Accounting, //
        },
        clock_times::StateKind,
        times::{
            TaskTimes,
            AWAKE, //
        },
        transition::TaskState,
        types::{
            Block,
            Waker, //
        },
    },
    triggers,
    waits, //
};

bind_sched_hooks!(Accounting);

/// Contexts of wakers, as in [`events::CONTEXTS`].
const SOFTIRQ: u32 = 1;
const HARDIRQ: u32 = 2;

impl Accounting {
    fn leaves(&self, task: Task<'_>, state: u32, now_ns: u64, clock: Option<ClockReading>) {
        let Some(times) = self.of(task) else {
            return;
        };
        let irq_ns = match irq_time::is_measured() {
            true => irq_time::last_run_ns(),
            false => 0,
        };
        if irq_ns != 0 {
            times.irq_ns.add_alone(irq_ns);
        }
        let task_state = match state {
            RUNNABLE | PREEMPTED => TaskState::PREEMPTED,
            state if state & ENDED != 0 => TaskState::ENDED,
            _ => {
                times.state.set(u64::from(state));
                times
                    .blocked_mask
                    .set(u64::from(mask_of::<TaskFilter>(task)));
                TaskState::BLOCKED
            }
        };
        let from_ns = self.all_from_ns.get();
        let before = times
            .current
            .leave(task_state, task.switches(), now_ns, from_ns);
        if let Some(run) = self.spent(times, StateKind::Run, before, now_ns, clock) {
            fgraph::task_ran(task, run.ns, irq_ns.min(run.ns));
            let irq_ns = irq_ns.min(run.reported_ns);
            events::task_run::trace(task, run.reported_ns, state, irq_ns);
            triggers::task_ran(task, run.ns);
        }
    }

    fn arrives(&self, task: Task<'_>, prev: Task<'_>, now_ns: u64, clock: Option<ClockReading>) {
        let Some(times) = self.of(task) else {
            return;
        };
        let from_ns = self.all_from_ns.get();
        let before = times.current.arrive(task.switches(), now_ns, from_ns);
        let Some(wait) = self.spent(times, StateKind::Wait, before, now_ns, clock) else {
            return;
        };
        let since = match wait.seen {
            Some(TaskState::PREEMPTED) => Since::Preempted,
            _ => Since::Woken,
        };
        fgraph::task_waited(task, wait.ns);
        events::task_wait::trace(task, wait.reported_ns, since, prev);
        triggers::task_waited(task, wait.ns);
        waits::task_waited(task, wait.ns, now_ns);
    }

    /// Records that a blocked task is woken.
    fn unblocks(&self, times: &TaskTimes, task: Task<'_>, now_ns: u64, waker: &Waker) {
        times.unblocker.set(waker);
        let clock = clock::trace_clock();
        let from_ns = self.all_from_ns.get();
        let before = times.current.wake(task.switches(), now_ns, from_ns);
        let Some(block) = self.spent(times, StateKind::Block, before, now_ns, clock) else {
            return;
        };
        // Only for tasks that are traced now or were traced when they blocked, because calls that
        // were recorded then get their exit record later. A stack walk costs more than the rest of
        // this function.
        let traced = self.callers.read_once()
            && u64::from(mask_of::<TaskFilter>(task)) | times.blocked_mask.get() != 0;
        times.caller.set(match traced {
            true => caller_of(task) as u64,
            false => 0,
        });
        fgraph::task_blocked(task, block.ns, times.caller.get(), waker);
        let reported = Block {
            ns: block.reported_ns,
            state: times.state.get() as u32,
        };
        events::task_block::trace(task, &reported, waker);
        triggers::task_blocked(task, block.ns);
        self.follow_chain(times, task, now_ns, block.ns, waker);
    }
}

impl SchedHooks for Accounting {
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64) {
        saved_cmdlines::save_comms(prev.task, next.task);
        let clock = clock::trace_clock();
        if prev.followed {
            fgraph::current_leaves(prev.state & ENDED != 0);
            self.leaves(prev.task, prev.state, now_ns, clock);
        }
        waits::run_ends(prev.task, next.task, now_ns);
        if next.followed {
            self.arrives(next.task, prev.task, now_ns, clock);
        }
    }

    fn waking(&self, task: Task<'_>, context: u32) {
        if !follows(task) {
            return;
        }
        // The task may be leaving its CPU at the same time, so nothing else of its state may be
        // changed here.
        let Some(times) = self.find(task) else {
            return;
        };
        // The names of interrupts are for chains.
        let irq = match context {
            SOFTIRQ | HARDIRQ if chain_thresholds::are_wanted() => Irq::current(context == SOFTIRQ),
            _ => Irq::default(),
        };
        with_current(|waker| {
            times.waker.set(&Waker {
                comm: waker.comm(),
                pid: waker.pid(),
                context: context as u8,
                irq: irq.code(),
            });
        });
        if !times.current.is_of(task.switches()) {
            // It was not observed whether the task left its CPU. If it is leaving it right now, the
            // switch updates the state, and the wakeup ignores this value.
            times.asleep.set(blocked_in(task).map_or(AWAKE, u64::from));
        }
    }

    fn wakeup(&self, task: Task<'_>, cpu: u32, is_new: bool, now_ns: u64) {
        if !follows(task) {
            return;
        }
        let Some(times) = self.of(task) else {
            return;
        };
        let waker = times.waker.get();
        if is_new {
            times.current.begin(task.switches(), now_ns);
            times.reported.transition(clock::trace_clock());
        } else {
            let seen = times.current.is_of(task.switches());
            let asleep = times.asleep.get();
            // The state may be old: the task may have been woken since, while it was not accounted.
            // So `BLOCKED` alone does not prove that it is blocked.
            let awake = match seen {
                true => task.has_cpu() || times.current.get().state != TaskState::BLOCKED,
                false => asleep == AWAKE,
            };
            if awake {
                // The task was woken before it left its CPU, or it was woken twice.
                return;
            }
            if !seen {
                times.state.set(asleep);
            }
            self.unblocks(times, task, now_ns, &waker);
        }
        events::task_wakeup::trace(task, cpu, &waker);
    }

    fn migrate(&self, task: Task<'_>, from: u32, to: u32) {
        events::task_migrate::trace(task, from, to);
    }

    fn fork(&self, parent: Task<'_>, child: Task<'_>) {
        // Always reset the entry: the previous task with this id may even have had the same tag.
        if let Some(times) = self.place(child) {
            times.open(child.tag(), sched::now_ns());
        }
        if chain_thresholds::are_wanted() {
            self.recent.open(child, 0);
        }
        events::task_fork::trace(parent, child);
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let Some(times) = self.of(task) else {
            return;
        };
        times.old_comm.set(task.comm());
        if task.pid() != task.tgid() {
            // With the leader's id, the thread also gets the filter decision for the leader.
            times.current.follow_from(u64::MAX);
            times.partner.set(task.tgid() as u64);
            if let Some(leader) = self.tasks.get(task.tgid() as u32) {
                leader.partner.set(task.pid() as u64);
            }
        }
    }

    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]) {
        self.move_to_pid(task);
        self.evaluated(task);
        if chain_thresholds::are_wanted() && task.pid() != old_pid {
            self.recent.open(task, sched::now_ns());
        }
        let times = self.of(task);
        let old_comm = times.map_or(Comm::default(), |times| times.old_comm.get());
        events::task_exec::trace(task, old_pid, &old_comm, &filename);
        triggers::task_executed(task);
    }

    fn changes(&self, task: Task<'_>) {
        let Some(times) = self.find(task) else {
            return;
        };
        times.old_mask.set(u64::from(mask_of::<TaskFilter>(task)));
        if !follow::follows_everyone() {
            // The task may be accounted before the start of its accounting is set.
            times.current.follow_from(u64::MAX);
        }
    }

    fn rename(&self, task: Task<'_>, comm: Comm) {
        saved_cmdlines::changes(task);
        self.evaluated(task);
        let old_mask = self.find(task).map_or(0, |times| times.old_mask.get());
        events::task_set_comm::trace(task, &comm, old_mask as u32);
    }

    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64) {
        if let Some(times) = self.of(task) {
            let mut totals = times.reported.totals(&times.totals());
            let current = times.current.get();
            if current.state == TaskState::RUNNING && times.current.is_of(task.switches()) {
                let run_ns = current.elapsed_ns(now_ns);
                let reported_ns = times.reported.elapsed_ns(clock::trace_clock(), run_ns);
                totals.run_ns = totals.run_ns.wrapping_add(reported_ns);
            }
            events::task_exit::trace(task, group_dead, &totals);
        }
        triggers::task_exits(task);
        fgraph::current_ends();
    }

    fn reclaim(&self) {
        self.sections.reclaim();
        self.recent.reclaim();
        if !self.tasks.is_large() {
            return;
        }
        self.tasks.reclaim(|| {
            all_tasks::for_each(|task| {
                let times = self.tasks.mark(task.pid() as u32);
                // The state of a thread that executes a program is stored under its former id.
                if let Some(partner) = times.map(|times| times.partner.get()) {
                    self.tasks.mark(partner as u32);
                }
            });
        });
    }
}
