// SPDX-License-Identifier: GPL-2.0

//! The accounting state of every task: its current state, since when, and its total times.
//!
//! # Locking
//!
//! Accounting states are read and written without a lock. The contexts that record a task's
//! transitions run one after another ([`crate::ktrace::task::sched`]), and only they write the
//! members that belong to the task's stamp. The waker is written under the lock of the task that is
//! woken, before it is woken.
//!
//! Each accounting state carries the tag of its task. If the tag does not match, the id was reused
//! by another task without notice; the state is then reset, which counts as an accounting gap.
//!
//! # Which tasks are accounted
//!
//! Every task has an accounting state, but only those of accounted tasks ([`follow::follow`]) are
//! updated: the tasks that the call graph of some trace array traces, or all tasks while an event
//! has a listener. Code that changes this selection, or a filter decision ([`Watch`]), calls
//! [`Accounts::hold`] before the change, and [`Accounts::resume`] when every CPU has the new trace
//! mask. From then on every transition of a selected task is observed, which [`StateTracker`]
//! relies on.
//!
//! A rename or an `execve()` can add a task to the filter while it runs. The tracepoint handler
//! then resets the start of the task's accounting before the filter decision
//! ([`SchedHooks::changes`]), and sets it afterwards, so no earlier state is reported. If a worker
//! re-evaluates the filter for a task ([`sched::changes`]), the task's accounting starts at its
//! next observed transition.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::{
    clock_times::{
        ClockAdjusted, //
        Part,
    },
    transition::{
        Previous,
        StateTracker,
        TaskState, //
    },
    types::{
        Block,
        Blocked,
        OffCpu,
        Totals,
        Waker, //
    },
};

use crate::{
    atomic_comm::AtomicComm,
    events::{
        self,
        Since, //
    },
    fgraph,
    ktrace::{
        sync::{
            atomic::AtomicBool,
            read_once::ReadOnce, //
        },
        task::{
            self,
            follow,
            pid_map::PidMap,
            saved_cmdlines,
            sched::{
                self,
                bind_sched_hooks,
                Arriving,
                Leaving,
                SchedHooks,
                ENDED,
                PREEMPTED,
                RUNNABLE, //
            },
            Comm,
            Task, //
        },
        time::clock::{
            self,
            Reading, //
        },
    },
    relaxed_u64::RelaxedU64,
    task_filter::TaskFilter, //
};

/// A [`Waker`], stored in words that other contexts may read while it changes.
#[derive(Default)]
struct Who {
    pid_context: RelaxedU64,
    comm: AtomicComm,
}

impl Who {
    fn set(&self, waker: &Waker) {
        let bits = u64::from(waker.pid as u32) | u64::from(waker.context) << 32;
        self.pid_context.set(bits);
        self.comm.set(waker.comm);
    }

    fn get(&self) -> Waker {
        let bits = self.pid_context.get();
        Waker {
            comm: self.comm.get(),
            pid: bits as i32,
            context: (bits >> 32) as u8,
        }
    }
}

/// The accounting state of a task.
#[derive(Default)]
struct Account {
    tag: RelaxedU64,
    current: StateTracker,
    /// The state in which the task is or was last blocked, and the function that blocked, if it was
    /// looked up.
    state: RelaxedU64,
    caller: RelaxedU64,
    waker: Who,
    /// The state in which the task was found blocked when it was about to be woken, or [`AWAKE`].
    /// Used if it was not observed when the task left its CPU.
    asleep: RelaxedU64,
    /// The task's mask before its last rename, `execve()` or other filter update, and when it was
    /// last blocked.
    old_mask: RelaxedU64,
    blocked_mask: RelaxedU64,
    /// The waker that ended the most recent blocked interval.
    unblocker: Who,
    /// The task's name before it executed a program.
    old_comm: AtomicComm,
    run_ns: RelaxedU64,
    wait_ns: RelaxedU64,
    block_ns: RelaxedU64,
    told: ClockAdjusted,
    /// The id with which the task may be about to exchange its own: for a thread that executes a
    /// program, the id of its process leader; for the leader, the id of that thread.
    partner: RelaxedU64,
}

impl Account {
    fn totals(&self) -> Totals {
        Totals {
            run_ns: self.run_ns.get(),
            wait_ns: self.wait_ns.get(),
            block_ns: self.block_ns.get(),
        }
    }

    /// Resets the state for a new task, which is accounted since `from_ns`
    /// ([`StateTracker::follow_from`]).
    fn open(&self, tag: u32, from_ns: u64) {
        self.current.forget(from_ns);
        self.state.set(0);
        self.caller.set(0);
        self.waker.set(&Waker::default());
        self.asleep.set(AWAKE);
        self.old_mask.set(0);
        self.blocked_mask.set(0);
        self.unblocker.set(&Waker::default());
        self.run_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
        self.told.open();
        self.tag.set(u64::from(tag));
    }

    /// Copies the state of another task.
    fn inherit(&self, from: &Self) {
        self.current.inherit(&from.current);
        self.state.set(from.state.get());
        self.caller.set(from.caller.get());
        self.waker.set(&from.waker.get());
        self.asleep.set(from.asleep.get());
        self.old_mask.set(from.old_mask.get());
        self.blocked_mask.set(from.blocked_mask.get());
        self.unblocker.set(&from.unblocker.get());
        self.old_comm.set(from.old_comm.get());
        self.run_ns.set(from.run_ns.get());
        self.wait_ns.set(from.wait_ns.get());
        self.block_ns.set(from.block_ns.get());
        self.told.inherit(&from.told);
    }

    fn sum(&self, part: Part) -> &RelaxedU64 {
        match part {
            Part::Run => &self.run_ns,
            Part::Wait => &self.wait_ns,
            Part::Block => &self.block_ns,
        }
    }
}

/// The duration of the state that ends with a transition.
struct Spent {
    /// The duration by the scheduler's clock.
    ns: u64,
    /// The duration to report in events.
    reported_ns: u64,
    /// The state, if its start was observed.
    seen: Option<TaskState>,
}

/// [`Account::tag`] of an unused entry.
const UNUSED: u64 = 0;

/// [`Account::tag`] of an entry whose task has changed its id. It matches no task: tags of tasks
/// have 32 bits.
const VACATED: u64 = u64::MAX;

/// [`Account::asleep`] of a task that is not blocked.
const AWAKE: u64 = u64::MAX;

/// The accounting states of all tasks.
pub(crate) struct Accounts {
    tasks: PidMap<Account>,
    /// Time in ns since which all selected tasks are accounted; [`u64::MAX`] while the selection
    /// changes. Missing intervals before this time are not counted as gaps.
    all_from_ns: RelaxedU64,
    /// Accounting gaps: intervals that are not reported because their start was not observed, or
    /// because memory was short.
    gaps: Atomic<u64>,
    /// Whether call graphs need the functions in which traced tasks block. Events look them up
    /// themselves.
    callers: AtomicBool,
}

bind_sched_hooks!(Accounts);

impl Accounts {
    /// Creates an empty table. May sleep.
    pub(crate) fn new() -> Result<KBox<Self>> {
        let tasks = PidMap::new()?;
        Ok(KBox::new(
            Self {
                tasks,
                all_from_ns: RelaxedU64::new(u64::MAX),
                gaps: Atomic::new(0),
                callers: AtomicBool::new(false),
            },
            GFP_KERNEL,
        )?)
    }

    /// Returns the number of accounted tasks.
    pub(crate) fn len(&self) -> u64 {
        let mut n = 0u64;
        task::for_each(|task| {
            n = n.wrapping_add(u64::from(follows(task) && self.known(task).is_some()));
        });
        n
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn size(&self) -> usize {
        self.tasks.size()
    }

    /// Sets whether to look up the functions in which traced tasks block, which takes a stack walk
    /// at each wakeup.
    pub(crate) fn set_callers(&self, wanted: bool) {
        self.callers.store(wanted, Relaxed);
    }

    /// Returns the number of accounting gaps.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }

    /// Creates accounting states for all existing tasks. Must be called after the probes are
    /// attached. May sleep.
    pub(crate) fn open_all(&self) {
        task::for_each(|task| {
            // The id of a released task may already belong to another task.
            if task.is_released() {
                return;
            }
            match self.place(task) {
                Some(account) if account.tag.get() != u64::from(task.tag()) => {
                    account.open(task.tag(), 0);
                }
                _ => {}
            }
        });
    }

    /// Announces that the set of accounted tasks is about to change.
    pub(crate) fn begin_update(&self) {
        self.all_from_ns.set(u64::MAX);
    }

    /// Announces that all selected tasks are accounted from now on. Every CPU has handled an
    /// interrupt since the selection was changed, so no CPU is still in a context switch or wakeup
    /// that began before.
    pub(crate) fn end_update(&self) {
        self.all_from_ns.set(sched::now_ns());
    }

    /// Returns the entry for the id of a task. Allocates it if necessary, atomically.
    fn place(&self, task: Task<'_>) -> Option<&Account> {
        let id = task.pid() as u32;
        let place = self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN);
        if self.tasks.is_large() {
            sched::reclaim_later();
        }
        place.inspect_err(|_| self.gap()).ok()
    }

    /// Returns the accounting state of a task, if there is one.
    ///
    /// It is stored under the task's id. A thread that executes a program takes over the id of its
    /// process leader; until [`Accounts::move_to_pid`], the thread's state is still stored under
    /// its former id, and the leader's state under the leader's former id.
    #[inline]
    fn known(&self, task: Task<'_>) -> Option<&Account> {
        let account = self.tasks.get(task.pid() as u32)?;
        if account.tag.get() == u64::from(task.tag()) {
            return Some(account);
        }
        self.known_by_partner(task, account)
    }

    #[cold]
    fn known_by_partner(&self, task: Task<'_>, account: &Account) -> Option<&Account> {
        let tag = u64::from(task.tag());
        let other = self.tasks.get(account.partner.get() as u32)?;
        (other.tag.get() == tag).then_some(other)
    }

    /// Returns the accounting state of a task, if there is one; resets an entry that belonged to
    /// another task. Returns `None` for idle tasks.
    ///
    /// To be called only by the contexts that record transitions of the task, and by the task
    /// itself.
    #[inline]
    fn of(&self, task: Task<'_>) -> Option<&Account> {
        if task.pid() == 0 {
            return None;
        }
        self.known(task).or_else(|| self.begin_again(task))
    }

    #[cold]
    fn begin_again(&self, task: Task<'_>) -> Option<&Account> {
        let account = self.tasks.get(task.pid() as u32);
        if task.is_released() {
            // [`Accounts::open_all`] has created states for all tasks except those that were
            // already released; for them, no state must be created. If the entry is in use by
            // another task, this task may have lost its state to it, which is a gap.
            if account.is_some_and(|account| account.tag.get() != UNUSED) {
                self.gap();
            }
            return None;
        }
        if let Some(account) = account {
            account.open(task.tag(), u64::MAX);
        }
        self.gap();
        account
    }

    /// Returns the total time of the current task off its CPU. Returns `None` for an idle task, or
    /// if there was no memory for the task's state. Any context.
    #[inline]
    pub(crate) fn off_cpu(&self, task: Task<'_>) -> Option<OffCpu> {
        let account = self.known(task)?;
        Some(OffCpu {
            wait_ns: account.wait_ns.get(),
            block_ns: account.block_ns.get(),
        })
    }

    /// Returns whether all waits and blocks of the current task were observed since it had left a
    /// CPU `switches` times.
    pub(crate) fn has_seen_since(&self, task: Task<'_>, switches: u32) -> bool {
        self.known(task)
            .is_some_and(|account| account.current.covers(switches, task.switches()))
    }

    /// Returns the most recent blocked interval of the current task. Any context.
    pub(crate) fn last_block(&self, task: Task<'_>) -> Blocked {
        self.known(task)
            .map_or(Blocked::default(), |account| Blocked {
                state: account.state.get() as u32,
                caller: account.caller.get() as usize,
                waker: account.unblocker.get(),
            })
    }

    /// Sets the start of a task's accounting after the filter decision for it, which may have added
    /// it to the accounted tasks. [`SchedHooks::changes`] was called before.
    fn evaluated(&self, task: Task<'_>) {
        if let Some(account) = self.known(task) {
            account.current.follow_from(if follow::follows_everyone() {
                // All tasks are accounted; `all_from_ns` is their start.
                0
            } else if task.is_current() {
                sched::now_ns()
            } else {
                // The CPU that runs the task may switch away from it before it has the new trace
                // mask.
                u64::MAX
            });
        }
    }

    /// Moves the accounting state of the current task to the entry of its new id. The task must not
    /// leave its CPU in between.
    fn move_to_pid(&self, task: Task<'_>) {
        let (Some(old), Some(account)) = (self.known(task), self.tasks.get(task.pid() as u32))
        else {
            return;
        };
        if core::ptr::eq(old, account) {
            return;
        }
        account.open(task.tag(), 0);
        account.inherit(old);
        account.partner.set(0);
        old.tag.set(VACATED);
    }

    /// Counts a call whose run, wait and block times are unknown.
    pub(crate) fn count_missing(&self) {
        self.gaps.add(1, Relaxed);
    }

    /// Counts an accounting gap, unless the set of accounted tasks is changing.
    fn gap(&self) {
        if self.all_from_ns.get() != u64::MAX {
            self.gaps.add(1, Relaxed);
        }
    }

    /// Returns the duration of the state that ends with a transition, if it is known. `before` is
    /// the result of the transition.
    #[inline]
    fn spent(
        &self,
        account: &Account,
        part: Part,
        before: Previous,
        now_ns: u64,
        clock: Option<Reading>,
    ) -> Option<Spent> {
        let Previous::Exact(stamp) = before else {
            return self.spent_unseen(account, part, before, now_ns, clock);
        };
        let ns = stamp.elapsed_ns(now_ns);
        account.sum(part).add_alone(ns);
        Some(Spent {
            ns,
            reported_ns: account.told.end(part, clock, ns),
            seen: Some(stamp.doing),
        })
    }

    /// Handles a state whose start was not observed, for [`Accounts::spent`].
    #[cold]
    fn spent_unseen(
        &self,
        account: &Account,
        part: Part,
        before: Previous,
        now_ns: u64,
        clock: Option<Reading>,
    ) -> Option<Spent> {
        account.told.transition(clock);
        let Previous::AtLeast(from_ns) = before else {
            if before == Previous::Missed {
                self.gap();
            }
            return None;
        };
        let ns = now_ns.saturating_sub(from_ns);
        account.sum(part).add_alone(ns);
        Some(Spent {
            ns,
            reported_ns: ns,
            seen: None,
        })
    }

    fn leaves(&self, task: Task<'_>, state: u32, now_ns: u64, clock: Option<Reading>) {
        let Some(account) = self.of(task) else {
            return;
        };
        let doing = match state {
            RUNNABLE | PREEMPTED => TaskState::PREEMPTED,
            state if state & ENDED != 0 => TaskState::ENDED,
            _ => {
                account.state.set(u64::from(state));
                account
                    .blocked_mask
                    .set(u64::from(task::mask_of::<TaskFilter>(task)));
                TaskState::BLOCKED
            }
        };
        let from_ns = self.all_from_ns.get();
        let before = account
            .current
            .leave(doing, task.switches(), now_ns, from_ns);
        if let Some(run) = self.spent(account, Part::Run, before, now_ns, clock) {
            fgraph::task_ran(task, run.ns);
            events::task_run::trace(task, run.reported_ns, state);
        }
    }

    fn arrives(&self, task: Task<'_>, behind: Task<'_>, now_ns: u64, clock: Option<Reading>) {
        let Some(account) = self.of(task) else {
            return;
        };
        let from_ns = self.all_from_ns.get();
        let before = account.current.arrive(task.switches(), now_ns, from_ns);
        let Some(wait) = self.spent(account, Part::Wait, before, now_ns, clock) else {
            return;
        };
        let since = match wait.seen {
            Some(TaskState::PREEMPTED) => Since::Preempted,
            _ => Since::Woken,
        };
        fgraph::task_waited(task, wait.ns);
        events::task_wait::trace(task, wait.reported_ns, since, behind);
    }

    /// Records that a blocked task is woken.
    fn unblocks(&self, account: &Account, task: Task<'_>, now_ns: u64, waker: &Waker) {
        account.unblocker.set(waker);
        let clock = clock::trace_clock();
        let from_ns = self.all_from_ns.get();
        let before = account.current.wake(task.switches(), now_ns, from_ns);
        let Some(block) = self.spent(account, Part::Block, before, now_ns, clock) else {
            return;
        };
        // Only for tasks that are traced now or were traced when they blocked, because calls that
        // were recorded then get their exit record later. A stack walk costs more than the rest of
        // this function.
        let traced = self.callers.read_once()
            && u64::from(task::mask_of::<TaskFilter>(task)) | account.blocked_mask.get() != 0;
        account.caller.set(match traced {
            true => sched::caller_of(task) as u64,
            false => 0,
        });
        let block = Block {
            ns: block.reported_ns,
            state: account.state.get() as u32,
        };
        events::task_block::trace(task, &block, waker);
    }
}

/// Returns whether a task, which must not be an idle task, is accounted. To be called by probes.
fn follows(task: Task<'_>) -> bool {
    follow::follows_everyone() || follow::follows(task::mask_of::<TaskFilter>(task))
}

impl SchedHooks for Accounts {
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64) {
        saved_cmdlines::keep(prev.task, next.task);
        let clock = clock::trace_clock();
        if prev.followed {
            fgraph::current_leaves(prev.state & ENDED != 0);
            self.leaves(prev.task, prev.state, now_ns, clock);
        }
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
        let Some(account) = self.known(task) else {
            return;
        };
        task::with_current(|waker| {
            account.waker.set(&Waker {
                comm: waker.comm(),
                pid: waker.pid(),
                context: context as u8,
            });
        });
        if !account.current.is_of(task.switches()) {
            // It was not observed whether the task left its CPU. If it is leaving it right now, the
            // switch updates the stamp, and the wakeup ignores this value.
            account
                .asleep
                .set(sched::blocked_in(task).map_or(AWAKE, u64::from));
        }
    }

    fn wakeup(&self, task: Task<'_>, cpu: u32, is_new: bool, now_ns: u64) {
        if !follows(task) {
            return;
        }
        let Some(account) = self.of(task) else {
            return;
        };
        let waker = account.waker.get();
        if is_new {
            account.current.begin(task.switches(), now_ns);
            account.told.transition(clock::trace_clock());
        } else {
            let seen = account.current.is_of(task.switches());
            let asleep = account.asleep.get();
            // The stamp may be old: the task may have been woken since, while it was not accounted.
            // So `BLOCKED` alone does not prove that it is blocked.
            let awake = match seen {
                true => task.has_cpu() || account.current.get().doing != TaskState::BLOCKED,
                false => asleep == AWAKE,
            };
            if awake {
                // The task was woken before it left its CPU, or it was woken twice.
                return;
            }
            if !seen {
                account.state.set(asleep);
            }
            self.unblocks(account, task, now_ns, &waker);
        }
        events::task_wakeup::trace(task, cpu, &waker);
    }

    fn migrate(&self, task: Task<'_>, from: u32, to: u32) {
        events::task_migrate::trace(task, from, to);
    }

    fn fork(&self, parent: Task<'_>, child: Task<'_>) {
        // Always reset the entry: the previous task with this id may even have had the same tag.
        if let Some(account) = self.place(child) {
            account.open(child.tag(), sched::now_ns());
        }
        events::task_fork::trace(parent, child);
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let Some(account) = self.of(task) else {
            return;
        };
        account.old_comm.set(task.comm());
        if task.pid() != task.tgid() {
            // With the leader's id, the thread also gets the filter decision for the leader.
            account.current.follow_from(u64::MAX);
            account.partner.set(task.tgid() as u64);
            if let Some(leader) = self.tasks.get(task.tgid() as u32) {
                leader.partner.set(task.pid() as u64);
            }
        }
    }

    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]) {
        self.move_to_pid(task);
        self.evaluated(task);
        let account = self.of(task);
        let old_comm = account.map_or(Comm::default(), |account| account.old_comm.get());
        events::task_exec::trace(task, old_pid, &old_comm, &filename);
    }

    fn changes(&self, task: Task<'_>) {
        let Some(account) = self.known(task) else {
            return;
        };
        account
            .old_mask
            .set(u64::from(task::mask_of::<TaskFilter>(task)));
        if !follow::follows_everyone() {
            // The task may be accounted before the start of its accounting is set.
            account.current.follow_from(u64::MAX);
        }
    }

    fn rename(&self, task: Task<'_>, comm: Comm) {
        saved_cmdlines::changes(task);
        self.evaluated(task);
        let old_mask = self.known(task).map_or(0, |account| account.old_mask.get());
        events::task_set_comm::trace(task, &comm, old_mask as u32);
    }

    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64) {
        if let Some(account) = self.of(task) {
            let mut totals = account.told.totals(&account.totals());
            let current = account.current.get();
            if current.doing == TaskState::RUNNING && account.current.is_of(task.switches()) {
                let run_ns = current.elapsed_ns(now_ns);
                let reported_ns = account.told.elapsed_ns(clock::trace_clock(), run_ns);
                totals.run_ns = totals.run_ns.wrapping_add(reported_ns);
            }
            events::task_exit::trace(task, group_dead, &totals);
        }
        fgraph::current_ends();
    }

    fn reclaim(&self) {
        if !self.tasks.is_large() {
            return;
        }
        self.tasks.reclaim(|| {
            task::for_each(|task| {
                let account = self.tasks.mark(task.pid() as u32);
                // The state of a thread that executes a program is stored under its former id.
                if let Some(partner) = account.map(|account| account.partner.get()) {
                    self.tasks.mark(partner as u32);
                }
            });
        });
    }
}
