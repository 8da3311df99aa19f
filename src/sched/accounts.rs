// SPDX-License-Identifier: GPL-2.0

//! Every task's account: what it does, since when, and what it has done so far.
//!
//! # Locking
//!
//! Accounts are read and written without a lock. What belongs to a task's stamp is written by those
//! who turn it, one after another ([`crate::ktrace::sched`]); who wakes a task is written under that
//! task's own lock, before it is woken.
//!
//! An account carries the tag of its task. Where the tag does not fit, the id has come to another
//! task without our having seen it, and the account starts anew: a gap, which is counted.
//!
//! # Who has one
//!
//! There is an account for every task, but only those of tasks that are followed ([`sched::follow`]) are
//! written: the tasks that some trace array's call graph traces, or all while anybody listens to an
//! event. Whoever changes that, or a verdict ([`Watch`]), calls [`Accounts::hold`] before, and
//! [`Accounts::resume`] when every CPU goes by it (the gate's refresh): from then on all that a task does is
//! seen, which is what [`Current::turn`] relies on. A task that is judged anew when it is renamed or executes a
//! program may be followed from then on, in the middle of whatever it does: its account is told by the same
//! tracepoint, before the verdict ([`SchedHooks::changes`]), that nothing is known of it, and after that since
//! when it is followed. So is that of a task whose name was in doubt ([`change`]); since when it is followed then, the
//! next change that is seen tells.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::{
    stamp::{
        Before,
        Current,
        Doing, //
    },
    told::{
        Part,
        Told, //
    },
};

use crate::{
    events::{
        self,
        Since, //
    },
    fgraph,
    ktrace::{
        atomic::AtomicBool,
        clock::{
            self,
            Reading, //
        },
        names,
        once::Once,
        pid_map::PidMap,
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
        task::{
            self,
            Comm,
            Task, //
        },
    },
    name::Name,
    profile,
    watch::Watch,
    word::Word, //
};

/// Who woke a task. Listeners of events may look into it: see `events.c`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Waker {
    /// The task that ran then, which an interrupt may have had nothing to do with.
    pub(crate) comm: Comm,
    /// Its id.
    pub(crate) pid: i32,
    /// 0: that task itself; 1 to 3: a softirq, hardirq or NMI on top of it.
    pub(crate) context: u8,
}

/// How a task was blocked. Listeners of events may look into it: see `events.c`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Block {
    /// How long.
    pub(crate) ns: u64,
    /// In which state.
    pub(crate) state: u32,
}

/// How a task was blocked last.
#[derive(Clone, Copy, Default)]
pub(crate) struct Blocked {
    /// In which state.
    pub(crate) state: u32,
    /// The function that wanted it to sleep; 0 if unknown.
    pub(crate) caller: usize,
    /// Who woke it.
    pub(crate) waker: Waker,
}

/// How long a task was off its CPU so far, to be compared with what it was before.
#[derive(Clone, Copy, Default)]
pub(crate) struct OffCpu {
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
}

/// What a task has done since it was first seen. Listeners of events may look into it: see `events.c`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Totals {
    pub(crate) run_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
}

/// A [`Waker`], in words.
#[derive(Default)]
struct Who {
    pid_context: Word,
    comm: Name,
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

/// A task's account.
#[derive(Default)]
struct Account {
    tag: Word,
    current: Current,
    /// The state it is blocked in, and where it was blocked last, if that was asked for.
    state: Word,
    caller: Word,
    waker: Who,
    /// The state it was seen to be blocked in when it was about to be woken, or [`AWAKE`]; for a task that
    /// was not seen to leave its CPU.
    asleep: Word,
    /// The task's mask: before it was renamed last, and when it was blocked last.
    old_mask: Word,
    blocked_mask: Word,
    /// Who woke it when it was blocked last.
    unblocker: Who,
    /// Its name before it executed a program.
    old_comm: Name,
    run_ns: Word,
    wait_ns: Word,
    block_ns: Word,
    told: Told,
    /// The id that the task may be about to change this one for: that of its process's leader if it
    /// executes a program, or of the thread that does, if it is the leader.
    partner: Word,
}

impl Account {
    fn totals(&self) -> Totals {
        Totals {
            run_ns: self.run_ns.get(),
            wait_ns: self.wait_ns.get(),
            block_ns: self.block_ns.get(),
        }
    }

    /// For a task that was not seen before, and is followed from `from_ns` on, if it is:
    /// [`Current::follow_from`].
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

    /// Takes over what another account says.
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

    fn sum(&self, part: Part) -> &Word {
        match part {
            Part::Run => &self.run_ns,
            Part::Wait => &self.wait_ns,
            Part::Block => &self.block_ns,
        }
    }
}

/// How long a task did what it did until now.
struct Spent {
    /// By the scheduler's clock.
    ns: u64,
    /// As it is to be told.
    told_ns: u64,
    /// What that was, if it was seen to begin.
    seen: Option<Doing>,
}

/// [`Account::tag`] of one that no task has had so far.
const UNUSED: u64 = 0;

/// The same of one whose task has taken another id. No task has that, as theirs have 32 bits.
const VACATED: u64 = u64::MAX;

/// [`Account::asleep`] of a task that is not blocked.
const AWAKE: u64 = u64::MAX;

/// The accounts of all tasks.
pub(crate) struct Accounts {
    tasks: PidMap<Account>,
    /// Since when everyone who should be followed is, in ns; [`u64::MAX`] while that changes. What is not
    /// known then is none of the gaps: nobody was told that it would be.
    all_from_ns: Word,
    /// Intervals that are not told, since their beginning was not seen, or for want of memory.
    gaps: Atomic<u64>,
    /// Whether anybody but the events wants to know where traced tasks sleep.
    callers: AtomicBool,
}

bind_sched_hooks!(Accounts);

impl Accounts {
    /// Without any account. May sleep.
    pub(crate) fn new() -> Result<KBox<Self>> {
        let tasks = PidMap::new()?;
        Ok(KBox::new(
            Self {
                tasks,
                all_from_ns: Word::new(u64::MAX),
                gaps: Atomic::new(0),
                callers: AtomicBool::new(false),
            },
            GFP_KERNEL,
        )?)
    }

    /// How many tasks are followed.
    pub(crate) fn len(&self) -> u64 {
        let mut n = 0u64;
        task::for_each(|task| {
            n = n.wrapping_add(u64::from(follows(task) && self.known(task).is_some()));
        });
        n
    }

    /// The memory of the table of accounts, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.tasks.size()
    }

    /// Whether to find out where traced tasks sleep, which takes a walk over their stacks.
    pub(crate) fn set_callers(&self, wanted: bool) {
        self.callers.store(wanted, Relaxed);
    }

    /// Intervals that are not told.
    pub(crate) fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }

    /// Opens accounts for all tasks that there are. To be called when the probes are in place. May
    /// sleep.
    pub(crate) fn open_all(&self) {
        task::for_each(|task| {
            // Its id may have come to another task.
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

    /// Who is followed is about to change.
    pub(crate) fn hold(&self) {
        self.all_from_ns.set(u64::MAX);
    }

    /// Everyone who should be followed is so by now: every CPU has been interrupted since that was last
    /// changed, so that none is in the middle of a switch or a wakeup any more.
    pub(crate) fn resume(&self) {
        self.all_from_ns.set(sched::now_ns());
    }

    /// Where the account of a task stands, or will. Allocates.
    fn place(&self, task: Task<'_>) -> Option<&Account> {
        let id = task.pid() as u32;
        let place = self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN);
        if self.tasks.is_large() {
            sched::reclaim_later();
        }
        place.inspect_err(|_| self.gap()).ok()
    }

    /// The account of a task, if it has one.
    ///
    /// It stands under the id of the task, or still under the one that it had before it took over
    /// that of its process's leader, and the leader's under the leader's, which is the other's now.
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

    /// The account of a task, if it has one, begun anew if it was another's. Idle tasks have none.
    /// For those who turn stamps, and for the task itself.
    #[inline]
    fn of(&self, task: Task<'_>) -> Option<&Account> {
        if task.pid() == 0 {
            return None;
        }
        self.known(task).or_else(|| self.begun_anew(task))
    }

    #[cold]
    fn begun_anew(&self, task: Task<'_>) -> Option<&Account> {
        let account = self.tasks.get(task.pid() as u32);
        if task.is_released() {
            // [`Accounts::open_all`] met all but those who were released before: they never had an account, and it
            // is not for them to begin one. Where there is another's, theirs may have been lost to it.
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

    /// How long a task, the current one, was off its CPU so far; `None` for an idle task, and for
    /// one that there was no memory for. Any context.
    #[inline]
    pub(crate) fn off_cpu(&self, task: Task<'_>) -> Option<OffCpu> {
        let account = self.known(task)?;
        Some(OffCpu {
            wait_ns: account.wait_ns.get(),
            block_ns: account.block_ns.get(),
        })
    }

    /// Whether all was seen that a task, the current one, did since it had left a CPU `switches` times.
    pub(crate) fn has_seen_since(&self, task: Task<'_>, switches: u32) -> bool {
        self.known(task)
            .is_some_and(|account| account.current.covers(switches, task.switches()))
    }

    /// How a task, the current one, was blocked last. Any context.
    pub(crate) fn last_block(&self, task: Task<'_>) -> Blocked {
        self.known(task)
            .map_or(Blocked::default(), |account| Blocked {
                state: account.state.get() as u32,
                caller: account.caller.get() as usize,
                waker: account.unblocker.get(),
            })
    }

    /// A task has got a verdict, and may be followed from now on that was not before.
    /// [`SchedHooks::changes`] has said so.
    fn judged(&self, task: Task<'_>) {
        if let Some(account) = self.known(task) {
            account.current.follow_from(if sched::follows_everyone() {
                // As long as all are, which is known already.
                0
            } else if task.is_current() {
                sched::now_ns()
            } else {
                // Elsewhere it may leave its CPU before that has heard.
                u64::MAX
            });
        }
    }

    /// Puts the account of the current task where it belongs, after its id has changed. It has to
    /// stay on its CPU meanwhile.
    fn rehouse(&self, task: Task<'_>) {
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

    /// The parts of a call are not told.
    pub(crate) fn count_untold(&self) {
        self.gaps.add(1, Relaxed);
    }

    /// Something is not told that should be.
    fn gap(&self) {
        if self.all_from_ns.get() != u64::MAX {
            self.gaps.add(1, Relaxed);
        }
    }

    /// How long a task did what it did before this change, if that is known.
    #[inline]
    fn spent(
        &self,
        account: &Account,
        part: Part,
        before: Before,
        now_ns: u64,
        clock: Option<Reading>,
    ) -> Option<Spent> {
        let Before::Known(stamp) = before else {
            return self.spent_unseen(account, part, before, now_ns, clock);
        };
        let ns = stamp.elapsed_ns(now_ns);
        account.sum(part).add_alone(ns);
        Some(Spent {
            ns,
            told_ns: account.told.end(part, clock, ns),
            seen: Some(stamp.doing),
        })
    }

    /// The same where it was not seen to begin.
    #[cold]
    fn spent_unseen(
        &self,
        account: &Account,
        part: Part,
        before: Before,
        now_ns: u64,
        clock: Option<Reading>,
    ) -> Option<Spent> {
        account.told.turn(clock);
        let Before::Since(from_ns) = before else {
            if before == Before::Missed {
                self.gap();
            }
            return None;
        };
        let ns = now_ns.saturating_sub(from_ns);
        account.sum(part).add_alone(ns);
        Some(Spent {
            ns,
            told_ns: ns,
            seen: None,
        })
    }

    fn leaves(&self, task: Task<'_>, state: u32, now_ns: u64, clock: Option<Reading>) {
        let Some(account) = self.of(task) else {
            return;
        };
        let doing = match state {
            RUNNABLE | PREEMPTED => Doing::PREEMPTED,
            state if state & ENDED != 0 => Doing::ENDED,
            _ => {
                account.state.set(u64::from(state));
                account
                    .blocked_mask
                    .set(u64::from(task::mask_of::<Watch>(task)));
                Doing::BLOCKED
            }
        };
        let from_ns = self.all_from_ns.get();
        let before = account
            .current
            .leave(doing, task.switches(), now_ns, from_ns);
        if let Some(run) = self.spent(account, Part::Run, before, now_ns, clock) {
            profile::task_ran(task, run.ns);
            events::task_run::trace(task, run.told_ns, state);
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
            Some(Doing::PREEMPTED) => Since::Preempted,
            _ => Since::Woken,
        };
        profile::task_waited(task, wait.ns);
        events::task_wait::trace(task, wait.told_ns, since, behind);
    }

    /// A blocked task is woken.
    fn unblocks(&self, account: &Account, task: Task<'_>, now_ns: u64, waker: &Waker) {
        account.unblocker.set(waker);
        let clock = clock::trace_clock();
        let from_ns = self.all_from_ns.get();
        let before = account.current.wake(task.switches(), now_ns, from_ns);
        let Some(block) = self.spent(account, Part::Block, before, now_ns, clock) else {
            return;
        };
        // Only for tasks that are traced now, or were when they went to sleep: calls that were
        // recorded then are closed when they return. A walk over a stack costs more than all the
        // rest.
        let traced = self.callers.read_once()
            && u64::from(task::mask_of::<Watch>(task)) | account.blocked_mask.get() != 0;
        account.caller.set(match traced {
            true => sched::caller_of(task) as u64,
            false => 0,
        });
        let block = Block {
            ns: block.told_ns,
            state: account.state.get() as u32,
        };
        events::task_block::trace(task, &block, waker);
    }
}

/// A task that is not followed is about to be, or the other way round, by nothing that it does itself. Any context but NMI.
pub(crate) fn change(task: Task<'_>) {
    sched::changes::<Accounts>(task);
}

/// Whether a task is followed, which is not an idle one. For probes.
fn follows(task: Task<'_>) -> bool {
    sched::follows_everyone() || sched::follows(task::mask_of::<Watch>(task))
}

impl SchedHooks for Accounts {
    fn switch(&self, prev: Leaving<'_>, next: Arriving<'_>, now_ns: u64) {
        names::keep(prev.task, next.task);
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
        // It may be leaving its CPU at this moment, and nothing else of it be touched.
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
            // Nobody has seen how it left its CPU, if it did. If it is doing so just now, that
            // says more, and this nothing.
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
            account.told.turn(clock::trace_clock());
        } else {
            let seen = account.current.is_of(task.switches());
            let asleep = account.asleep.get();
            // That it was seen to go to sleep may be long ago, and it be up again, while nobody looked.
            let awake = match seen {
                true => task.has_cpu() || account.current.get().doing != Doing::BLOCKED,
                false => asleep == AWAKE,
            };
            if awake {
                // It was woken before it had left its CPU, or twice.
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
        // Whoever had the id before may even have had the same tag.
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
            // It gets the verdict of the leader along with its id.
            account.current.follow_from(u64::MAX);
            account.partner.set(task.tgid() as u64);
            if let Some(leader) = self.tasks.get(task.tgid() as u32) {
                leader.partner.set(task.pid() as u64);
            }
        }
    }

    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]) {
        self.rehouse(task);
        self.judged(task);
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
            .set(u64::from(task::mask_of::<Watch>(task)));
        if !sched::follows_everyone() {
            // The task may be followed before its account knows since when.
            account.current.follow_from(u64::MAX);
        }
    }

    fn rename(&self, task: Task<'_>, comm: Comm) {
        names::changes(task);
        self.judged(task);
        let old_mask = self.known(task).map_or(0, |account| account.old_mask.get());
        events::task_comm::trace(task, &comm, old_mask as u32);
    }

    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64) {
        if let Some(account) = self.of(task) {
            let mut totals = account.told.totals(&account.totals());
            let current = account.current.get();
            if current.doing == Doing::RUNNING && account.current.is_of(task.switches()) {
                let run_ns = current.elapsed_ns(now_ns);
                let told_ns = account.told.elapsed_ns(clock::trace_clock(), run_ns);
                totals.run_ns = totals.run_ns.wrapping_add(told_ns);
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
                // A thread that executes a program has its account under the id that it had before.
                if let Some(partner) = account.map(|account| account.partner.get()) {
                    self.tasks.mark(partner as u32);
                }
            });
        });
    }
}
