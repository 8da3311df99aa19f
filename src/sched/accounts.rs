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
        clock::{
            self,
            Reading, //
        },
        once::Once,
        pid_map::PidMap,
        sched::{
            self,
            bind_sched_hooks,
            SchedHooks,
            Seen,
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

/// Who woke a task.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waker {
    /// The task that ran then, which an interrupt may have had nothing to do with.
    pub(crate) comm: Comm,
    /// Its id.
    pub(crate) pid: i32,
    /// 0: that task itself; 1 to 3: a softirq, hardirq or NMI on top of it.
    pub(crate) context: u8,
}

/// How a task was blocked.
#[derive(Clone, Copy)]
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
    /// How often it has left a CPU, modulo 2^32.
    pub(crate) switches: u32,
}

/// What a task has done since it was first seen.
#[derive(Clone, Copy, Default)]
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
    /// Who woke it when it was blocked last.
    unblocker: Who,
    /// Its name before it executed a program.
    old_comm: Name,
    run_ns: Word,
    wait_ns: Word,
    block_ns: Word,
    told: Told,
    /// How often it has left a CPU.
    switches: Word,
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

    /// For a task that was not seen before.
    fn open(&self, tag: u32) {
        self.current.forget();
        self.state.set(0);
        self.run_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
        self.switches.set(0);
        self.told.open();
        self.tag.set(u64::from(tag));
    }

    /// Finds out what the task does, if nobody has seen it change yet.
    fn look_at(&self, task: Task<'_>) {
        let now_ns = sched::now_ns();
        let doing = match sched::look(task) {
            Seen::New => return,
            Seen::Running => Doing::Running,
            Seen::Waiting => Doing::Woken,
            Seen::Blocked(state) => {
                self.state.set_first(u64::from(state));
                Doing::Blocked
            }
            Seen::Ended => Doing::Ended,
        };
        // Whoever has seen the task change since then knows better.
        self.current.guess(doing, now_ns);
    }

    /// Takes over what another account says.
    fn inherit(&self, from: &Self) {
        let stamp = from.current.get();
        self.current.turn(stamp.doing, stamp.since_ns);
        self.old_comm.set(from.old_comm.get());
        self.run_ns.set(from.run_ns.get());
        self.wait_ns.set(from.wait_ns.get());
        self.block_ns.set(from.block_ns.get());
        self.switches.set(from.switches.get());
        self.told.inherit(&from.told);
    }
}

/// The accounts of all tasks.
pub(crate) struct Accounts {
    tasks: PidMap<Account>,
    /// Whether all tasks that there were have an account. What is not known before that is none of
    /// the gaps: nobody was told that it would be.
    open: Atomic<bool>,
    /// Intervals that are not told, since their beginning was not seen, or for want of memory.
    gaps: Atomic<u64>,
    /// Whether anybody but the events wants to know where traced tasks sleep.
    callers: Atomic<bool>,
}

bind_sched_hooks!(Accounts);

impl Accounts {
    /// Without any account. May sleep.
    pub(crate) fn new() -> Result<KBox<Self>> {
        let tasks = PidMap::new()?;
        Ok(KBox::new(
            Self {
                tasks,
                open: Atomic::new(false),
                gaps: Atomic::new(0),
                callers: Atomic::new(false),
            },
            GFP_KERNEL,
        )?)
    }

    /// How many tasks have one.
    pub(crate) fn len(&self) -> u64 {
        let mut n = 0u64;
        self.tasks.for_each(|account| {
            let live = !matches!(account.current.get().doing, Doing::Unknown | Doing::Ended);
            n = n.wrapping_add(u64::from(live));
        });
        n
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
    ///
    /// First every task gets an account, then each is looked at that has not changed since. In
    /// between all CPUs finish what they are about: a task that is just being switched to or from
    /// has passed its tracepoint, and nobody noticed, while what can be seen of it is yet the old.
    pub(crate) fn open_all(&self) {
        task::for_each(|task| match self.place(task) {
            Some(account) if account.tag.get() != u64::from(task.tag()) => account.open(task.tag()),
            _ => {}
        });
        sched::synchronize();
        task::for_each(|task| {
            if let Some(account) = self.known(task) {
                account.look_at(task);
            }
        });
        self.open.store(true, Relaxed);
    }

    /// Where the account of a task stands, or will. Allocates.
    fn place(&self, task: Task<'_>) -> Option<&Account> {
        let id = task.pid() as u32;
        let place = self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN);
        place.inspect_err(|_| self.gap()).ok()
    }

    /// The account of a task, if it has one.
    ///
    /// It stands under the id of the task, or still under the one that it had before it took over
    /// that of its process's leader, and the leader's under the leader's, which is the other's now.
    fn known(&self, task: Task<'_>) -> Option<&Account> {
        let tag = u64::from(task.tag());
        let account = self.tasks.get(task.pid() as u32)?;
        if account.tag.get() == tag {
            return Some(account);
        }
        let other = self.tasks.get(account.partner.get() as u32)?;
        (other.tag.get() == tag).then_some(other)
    }

    /// The account of a task, if it has one, begun anew if it was another's. Idle tasks have none.
    /// For those who turn stamps, and for the task itself.
    fn of(&self, task: Task<'_>) -> Option<&Account> {
        let pid = task.pid();
        if pid == 0 {
            return None;
        }
        if let Some(account) = self.known(task) {
            return Some(account);
        }
        let Some(account) = self.tasks.get(pid as u32) else {
            self.gap();
            return None;
        };
        account.open(task.tag());
        Some(account)
    }

    /// How long a task, the current one, was off its CPU so far; `None` for an idle task, and for
    /// one that there was no memory for. Any context.
    #[inline]
    pub(crate) fn off_cpu(&self, task: Task<'_>) -> Option<OffCpu> {
        let account = self.known(task)?;
        Some(OffCpu {
            wait_ns: account.wait_ns.get(),
            block_ns: account.block_ns.get(),
            switches: account.switches.get() as u32,
        })
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

    /// Puts the account of the current task where it belongs, after its id has changed. It has to
    /// stay on its CPU meanwhile.
    fn settle(&self, task: Task<'_>) {
        let (Some(old), Some(account)) = (self.known(task), self.tasks.get(task.pid() as u32))
        else {
            return;
        };
        if core::ptr::eq(old, account) {
            return;
        }
        account.open(task.tag());
        account.inherit(old);
        old.open(0);
    }

    fn gap(&self) {
        if self.open.read_once() {
            self.gaps.add(1, Relaxed);
        }
    }

    fn leaves(&self, task: Task<'_>, state: u32, now_ns: u64, clock: Option<Reading>) {
        let Some(account) = self.of(task) else {
            return;
        };
        let doing = match state {
            RUNNABLE | PREEMPTED => Doing::Preempted,
            state if state & ENDED != 0 => Doing::Ended,
            _ => {
                account.state.set(u64::from(state));
                Doing::Blocked
            }
        };
        account.switches.add_alone(1);
        let before = account.current.turn(doing, now_ns);
        if before.doing != Doing::Running {
            account.told.turn(clock);
            return self.gap();
        }
        let run_ns = before.elapsed_ns(now_ns);
        account.run_ns.add_alone(run_ns);
        profile::task_ran(task, run_ns);
        let told_ns = account.told.end(Part::Run, clock, run_ns);
        events::task_run::trace(task, told_ns, state);
    }

    fn arrives(&self, task: Task<'_>, behind: Task<'_>, now_ns: u64, clock: Option<Reading>) {
        let Some(account) = self.of(task) else {
            return;
        };
        let before = account.current.turn(Doing::Running, now_ns);
        let since = match before.doing {
            Doing::Preempted => Since::Preempted,
            Doing::Woken => Since::Woken,
            _ => {
                account.told.turn(clock);
                return self.gap();
            }
        };
        let wait_ns = before.elapsed_ns(now_ns);
        account.wait_ns.add_alone(wait_ns);
        profile::task_waited(task, wait_ns);
        let told_ns = account.told.end(Part::Wait, clock, wait_ns);
        events::task_wait::trace(task, told_ns, since, behind);
    }
}

impl SchedHooks for Accounts {
    fn switch(&self, prev: Task<'_>, next: Task<'_>, state: u32, now_ns: u64) {
        let clock = clock::trace_clock();
        self.leaves(prev, state, now_ns, clock);
        self.arrives(next, prev, now_ns, clock);
    }

    fn waking(&self, task: Task<'_>, context: u32) {
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
    }

    fn wakeup(&self, task: Task<'_>, cpu: u32, now_ns: u64) {
        let Some(account) = self.of(task) else {
            return;
        };
        let block = match account.current.get().doing {
            // It was woken before it had left its CPU, or twice.
            Doing::Running | Doing::Woken | Doing::Preempted => return,
            Doing::Blocked => true,
            // A new task, or one that nobody has seen before.
            Doing::Unknown | Doing::Ended => false,
        };
        let clock = clock::trace_clock();
        let before = account.current.turn(Doing::Woken, now_ns);
        let waker = account.waker.get();
        if block {
            account.unblocker.set(&waker);
            let block_ns = before.elapsed_ns(now_ns);
            account.block_ns.add_alone(block_ns);
            let block = Block {
                ns: account.told.end(Part::Block, clock, block_ns),
                state: account.state.get() as u32,
            };
            // Only where it is wanted: a walk over a stack costs more than all the rest.
            let traced = self.callers.read_once() && task::mask_of::<Watch>(task, cpu) != 0;
            account.caller.set(match traced {
                true => sched::caller_of(task) as u64,
                false => 0,
            });
            events::task_block::trace(task, &block, &waker);
        } else {
            account.told.turn(clock);
        }
        events::task_wakeup::trace(task, cpu, &waker);
    }

    fn migrate(&self, task: Task<'_>, from: u32, to: u32) {
        events::task_migrate::trace(task, from, to);
    }

    fn fork(&self, parent: Task<'_>, child: Task<'_>) {
        // Whoever had the id before may even have had the same tag.
        if let Some(account) = self.place(child) {
            account.open(child.tag());
        }
        events::task_fork::trace(parent, child);
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let Some(account) = self.of(task) else {
            return;
        };
        account.old_comm.set(task.comm());
        if task.pid() != task.tgid() {
            account.partner.set(task.tgid() as u64);
            if let Some(leader) = self.tasks.get(task.tgid() as u32) {
                leader.partner.set(task.pid() as u64);
            }
        }
    }

    fn exec(&self, task: Task<'_>, old_pid: i32, filename: &[u8]) {
        self.settle(task);
        let account = self.of(task);
        let old_comm = account.map_or(Comm::default(), |account| account.old_comm.get());
        events::task_exec::trace(task, old_pid, &old_comm, &filename);
    }

    fn rename(&self, task: Task<'_>, comm: Comm) {
        events::task_rename::trace(task, &comm);
    }

    fn exit(&self, task: Task<'_>, group_dead: bool, now_ns: u64) {
        let Some(account) = self.of(task) else {
            return;
        };
        let mut totals = account.told.totals(&account.totals());
        let current = account.current.get();
        if current.doing == Doing::Running {
            let run_ns = current.elapsed_ns(now_ns);
            let told_ns = account.told.elapsed_ns(clock::trace_clock(), run_ns);
            totals.run_ns = totals.run_ns.wrapping_add(told_ns);
        }
        events::task_exit::trace(task, group_dead, &totals);
        fgraph::current_ends();
    }
}
