// SPDX-License-Identifier: GPL-2.0

//! Every task's verdict, kept up to date.
//!
//! A task's verdict is a mask with one bit for each trace array that has a filter. It is decided
//! when the task is made, renamed, executes a program, or when a filter changes; on the hot path it
//! is only looked up, at a switch of tasks, and copied to the CPU's gate ([`crate::ktrace::gate`]).
//!
//! # Locking
//!
//! Verdicts are read without a lock. They are written under `rules`, all but one: a task that is
//! freed has its entry cleared by compare-and-exchange. An entry carries the tag of its task, so
//! that an id which is used again is not mistaken for the task that had it before: the new owner's
//! verdict is not cleared when the old one is freed at last.
//!
//! `rules` is taken in task context only.
//!
//! # A rename while a filter changes
//!
//! The kernel reports a rename before it writes the new name. So a scan of all tasks may come upon
//! a task that was just judged by its new name and still bears the old one. Both would be wrong: to
//! judge it by the old name, and to miss a rename that was reported before the filter changed and
//! is not written yet. The first is told by `decided`, which says in which generation a hook has
//! judged the task; the second cannot be there once every task has passed a point where it sleeps
//! or returns to user space, which the scan waits for.
//!
//! # Two renames of one task at the same time
//!
//! A task renames itself while another one of its process renames it: the kernel takes no lock for
//! that, so the name that stays need not be the one that was reported last. A task that another one
//! has renamed is `doubted` until a worker has settled it, in rounds. A round begins a generation and
//! then waits as a scan does: names that were reported before the round are written then. A task that
//! no hook has judged in the round has its name for good, and is judged by it. Of one that was judged
//! in the round, two reports may have met if the other's was not made before the round that was
//! before this one: the next round looks again. If it was, then the other's name was written when this
//! round began, and what the task was judged by in it is the newer one.
//!
//! # A thread that executes a program
//!
//! It takes over the id of its process, and the one that it had is free before the program runs: who
//! is made then may get it. So what the thread was born with is set aside when it begins (`heirs`), and
//! is found by its tag when the thread is first judged under its new id.

mod born;
mod entry;

use kernel::{
    alloc::flags::__GFP_NOWARN,
    cpu::nr_cpu_ids,
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SpinLock, //
    },
};

use self::{
    born::{
        Born,
        Heirs, //
    },
    entry::Entry, //
};
use crate::{
    filter::verdict::{
        self,
        Filter,
        Forget,
        Lineage, //
    },
    ktrace::{
        gate::{
            self,
            SLOTS, //
        },
        once::Once,
        pid_map::PidMap,
        task::{
            self,
            bind_task_hooks,
            Comm,
            Task,
            TaskHooks, //
        },
    },
    sched::accounts,
};

/// The filters in force.
struct Rules {
    filters: [Option<Arc<Filter>>; SLOTS as usize],
    /// Changes with every change of a filter and every round of the worker's; never 0.
    generation: u32,
    /// With which generation the worker's last round began.
    round: u32,
    /// A scan goes on.
    scanning: bool,
    heirs: Heirs,
}

/// Whether `generation` is `first` or came after it; 0 is none.
fn is_since(generation: u32, first: u32) -> bool {
    generation != 0 && generation.wrapping_sub(first) as i32 >= 0
}

impl Rules {
    /// The filters in use, with their slots.
    fn filters(&self) -> impl Iterator<Item = (u32, &Filter)> {
        let slots = self.filters.iter().zip(0u32..);
        slots.filter_map(|(filter, slot)| Some((slot, &**filter.as_ref()?)))
    }

    /// Whether names matter to any of them.
    fn need_comm(&self) -> bool {
        self.filters().any(|(_, filter)| filter.needs_comm())
    }

    /// Begins a generation.
    fn begin(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }
}

/// A task as the rules see it.
struct Subject {
    pid: i32,
    tgid: i32,
    comm: Comm,
    tag: u32,
}

impl Subject {
    fn new(task: Task<'_>, comm: Comm) -> Self {
        Self {
            pid: task.pid(),
            tgid: task.tgid(),
            comm,
            tag: task.tag(),
        }
    }

    fn as_task(&self) -> verdict::Task<'_> {
        verdict::Task {
            pid: self.pid,
            tgid: self.tgid,
            comm: self.comm.as_bytes(),
        }
    }
}

/// The verdicts on all tasks.
#[pin_data]
pub(crate) struct Watch {
    tasks: PidMap<Entry>,
    /// Idle tasks share the id 0, so theirs are kept by CPU.
    idle: KVec<Atomic<u32>>,
    #[pin]
    rules: SpinLock<Rules>,
    /// Verdicts that could not be kept for want of memory, or not be told to a CPU at once; and what threads were
    /// born with that had to make room in `heirs`.
    lost: Atomic<u64>,
}

bind_task_hooks!(Watch);

impl Watch {
    /// With no filter yet. May sleep.
    pub(crate) fn new() -> Result<Pin<KBox<Self>>> {
        let tasks = PidMap::new()?;
        let mut idle = KVec::new();
        for _ in 0..nr_cpu_ids() {
            idle.push(Atomic::new(0), GFP_KERNEL)?;
        }
        KBox::pin_init(
            pin_init!(Self {
                tasks,
                idle,
                rules <- new_spinlock!(Rules {
                    filters: [const { None }; SLOTS as usize],
                    generation: 1,
                    round: 1,
                    scanning: false,
                    heirs: Heirs::default(),
                }),
                lost: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }

    /// Verdicts that were lost: see [`Watch`].
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// How many tasks have a verdict that bit `slot` is set in.
    pub(crate) fn matched(&self, slot: u32) -> u64 {
        let mut n = 0u64;
        let mut count = |mask: u32| n = n.wrapping_add(u64::from(mask >> slot & 1));
        self.tasks.for_each(|entry| count(entry.mask()));
        self.idle.iter().for_each(|mask| count(mask.load(Relaxed)));
        n
    }

    /// Puts a filter into force and judges every task by it; without one, forgets what was decided.
    /// What tasks were born with is kept but for `forget`. May sleep. The gate is not told.
    pub(crate) fn set_filter(&self, slot: u32, filter: Option<Arc<Filter>>, forget: Forget) {
        let bit = 1 << slot;
        let by_name = filter.as_ref().is_some_and(|filter| filter.needs_comm());
        let judge = filter.clone();
        let (replaced, since) = {
            let mut rules = self.rules.lock();
            let since = rules.begin();
            rules.scanning = true;
            if forget != Forget::default() {
                self.tasks.for_each(|entry| entry.forget_born(bit, forget));
                rules.heirs.forget(bit, forget);
            }
            let place = rules.filters.get_mut(slot as usize);
            let replaced = place.and_then(|place| core::mem::replace(place, filter));
            (replaced, since)
        };
        drop(replaced);
        if by_name {
            task::synchronize_tasks();
        }
        match judge {
            Some(filter) => {
                let mut doubted = false;
                task::for_each(|task| doubted |= self.judge_one(slot, &filter, since, task));
                self.judge_idle(slot, &filter);
                if doubted {
                    task::settle_later();
                }
            }
            None => self.forget(bit),
        }
        self.rules.lock().scanning = false;
    }

    /// Judges a task by one filter that has changed with generation `since`. Whether its verdict is in doubt.
    fn judge_one(&self, slot: u32, filter: &Filter, since: u32, task: Task<'_>) -> bool {
        let mut rules = self.rules.lock();
        // Its id may have come to another task, whose verdict this would overwrite. If that comes later, `new_task()`
        // waits for the lock.
        if task.is_released() {
            return false;
        }
        let subject = Subject::new(task, task.comm());
        let mut before = 0;
        if let Some(entry) = self.entry(&subject) {
            if is_since(entry.decided.get(), since) {
                // By a name that one may replace which was reported before the filter changed.
                let doubted = filter.needs_comm();
                if doubted {
                    entry.doubted.set(rules.generation);
                }
                return doubted;
            }
            before = entry.mask();
        }
        let lineage = self.born(&rules, &subject).lineage(slot);
        let bit = 1 << slot;
        let mask = if filter.judge(&subject.as_task(), lineage) {
            before | bit
        } else {
            before & !bit
        };
        self.store(&mut rules, &subject, mask, false);
        false
    }

    fn judge_idle(&self, slot: u32, filter: &Filter) {
        for (mask, cpu) in self.idle.iter().zip(0u32..) {
            let comm = task::idle_comm(cpu);
            let task = verdict::Task {
                pid: 0,
                tgid: 0,
                comm: comm.as_bytes(),
            };
            let before = mask.load(Relaxed) & !(1 << slot);
            let traced = filter.judge(&task, Lineage::default());
            mask.store(before | u32::from(traced) << slot, Relaxed);
        }
    }

    fn forget(&self, bit: u32) {
        self.tasks.for_each(|entry| {
            let _rules = self.rules.lock();
            entry.lift(bit);
        });
        for mask in &self.idle {
            mask.store(mask.load(Relaxed) & !bit, Relaxed);
        }
    }

    /// What is known of a task, if anything.
    fn entry(&self, subject: &Subject) -> Option<&Entry> {
        let entry = self.tasks.get(subject.pid as u32);
        entry.filter(|entry| entry.is_of(subject.tag))
    }

    /// What a task was born with. `rules` must be held, as its argument shows.
    fn born(&self, rules: &Rules, subject: &Subject) -> Born {
        let entry = self.entry(subject).map(Entry::born);
        entry
            .or_else(|| rules.heirs.get(subject.tag))
            .unwrap_or_default()
    }

    /// Judges a task by all filters. `rules` must be held.
    fn judge(&self, rules: &Rules, subject: &Subject) -> u32 {
        let born = self.born(rules, subject);
        rules.filters().fold(0, |mask, (slot, filter)| {
            let traced = filter.judge(&subject.as_task(), born.lineage(slot));
            mask | u32::from(traced) << slot
        })
    }

    /// Keeps a verdict. `rules` must be held. `must_exist` makes an entry even for a verdict of 0.
    fn store(
        &self,
        rules: &mut Rules,
        subject: &Subject,
        mask: u32,
        must_exist: bool,
    ) -> Option<&Entry> {
        let id = subject.pid as u32;
        let entry = match self.tasks.get(id) {
            Some(entry) => entry,
            None if mask == 0 && !must_exist && rules.heirs.get(subject.tag).is_none() => {
                return None;
            }
            None => match self.tasks.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN) {
                Ok(entry) => entry,
                Err(_) => {
                    self.lost.add(1, Relaxed);
                    return None;
                }
            },
        };
        if !entry.is_of(subject.tag) {
            entry.clear();
            if let Some(born) = rules.heirs.take(subject.tag) {
                entry.set_born(born);
            }
        }
        entry.set_verdict(mask, subject.tag);
        Some(entry)
    }

    /// One task of a round that began after the one that began with generation `last`. What its verdict was and is,
    /// and whether the next round has to look again.
    fn settle_one(&self, task: Task<'_>, last: u32) -> Settled {
        let mut rules = self.rules.lock();
        let mut settled = Settled::default();
        if task.is_released() {
            return settled;
        }
        let subject = Subject::new(task, task.comm());
        let Some(entry) = self.entry(&subject) else {
            return settled;
        };
        let doubted = entry.doubted.get();
        if doubted == 0 {
            return settled;
        }
        if !is_since(entry.decided.get(), rules.round) {
            let mask = self.judge(&rules, &subject);
            settled.changed = mask != entry.mask();
            if settled.changed {
                accounts::change(task);
            }
            self.store(&mut rules, &subject, mask, true);
        } else if is_since(doubted, last) {
            settled.left = true;
            return settled;
        }
        entry.doubted.set(0);
        settled
    }
}

/// What became of doubts.
#[derive(Default)]
struct Settled {
    /// A verdict was wrong.
    changed: bool,
    /// Some are left.
    left: bool,
}

impl TaskHooks for Watch {
    #[inline]
    fn mask(&self, pid: i32) -> u32 {
        self.tasks.get(pid as u32).map_or(0, Entry::mask)
    }

    fn idle_mask(&self, cpu: u32) -> u32 {
        self.idle.get(cpu as usize).map_or(0, Once::read_once)
    }

    fn new_task(&self, parent: Task<'_>, child: Task<'_>) {
        if child.pid() == 0 {
            return;
        }
        let mut rules = self.rules.lock();
        let parent = Subject::new(parent, parent.comm());
        let subject = Subject::new(child, child.comm());
        // That of a thread which had its tag, and was killed.
        rules.heirs.take(subject.tag);
        // It stands in the lists already, and another thread of its process may be about to rename it: what was
        // reported of that and is not written yet is the worker's to judge by.
        let before = self.entry(&subject);
        let doubted = before.is_some_and(|entry| entry.doubted.get() != 0);
        let of_parent = self.born(&rules, &parent);
        let (mut born, mut mask) = (Born::default(), 0u32);
        for (slot, filter) in rules.filters() {
            let lineage = filter.child(&parent.as_task(), of_parent.lineage(slot));
            born.add(slot, lineage);
            mask |= u32::from(filter.judge(&subject.as_task(), lineage)) << slot;
        }
        // Always, if there is an entry: it may be that of a task which had the id before.
        if let Some(entry) = self.store(&mut rules, &subject, mask, !born.is_empty()) {
            entry.set_born(born);
            entry.decided.set(0);
            entry.doubted.set(match doubted {
                true => rules.generation,
                false => 0,
            });
        }
    }

    fn renamed(&self, task: Task<'_>, comm: Comm) {
        let subject = Subject::new(task, comm);
        let by_itself = task.is_current();
        let doubted = {
            let mut rules = self.rules.lock();
            // As in `judge_one()`, where somebody else renames it.
            if task.is_released() {
                return;
            }
            let doubted = !by_itself && rules.need_comm();
            let mask = self.judge(&rules, &subject);
            let must_exist = rules.scanning || doubted;
            if let Some(entry) = self.store(&mut rules, &subject, mask, must_exist) {
                entry.decided.set(rules.generation);
                if doubted {
                    entry.doubted.set(rules.generation);
                }
            }
            doubted
        };
        if doubted {
            task::settle_later();
        }
        if by_itself {
            gate::refresh_current();
        } else if !gate::refresh_others() {
            self.lost.add(1, Relaxed);
        }
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let subject = Subject::new(task, task.comm());
        if subject.pid == subject.tgid {
            return;
        }
        let mut rules = self.rules.lock();
        let born = self.born(&rules, &subject);
        if !born.is_empty() && !rules.heirs.put(subject.tag, born) {
            self.lost.add(1, Relaxed);
        }
    }

    fn executed(&self, task: Task<'_>, old_pid: i32) {
        let subject = Subject::new(task, task.comm());
        {
            let mut rules = self.rules.lock();
            let old = self.tasks.get(old_pid as u32);
            let old = old.filter(|entry| old_pid != subject.pid && entry.is_of(subject.tag));
            if let Some(old) = old {
                old.clear();
            }
            let mask = self.judge(&rules, &subject);
            self.store(&mut rules, &subject, mask, false);
        }
        gate::refresh_current();
    }

    fn freed(&self, task: Task<'_>) {
        if let Some(entry) = self.tasks.get(task.pid() as u32) {
            entry.free(task.tag());
        }
    }

    fn settle(&self) {
        let last = {
            let mut rules = self.rules.lock();
            let last = rules.round;
            rules.round = rules.begin();
            last
        };
        task::synchronize_tasks();
        let mut all = Settled::default();
        task::for_each(|task| {
            let settled = self.settle_one(task, last);
            all.changed |= settled.changed;
            all.left |= settled.left;
        });
        if all.changed {
            gate::refresh();
        }
        if all.left {
            task::settle_later();
        }
    }
}
