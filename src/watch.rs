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
//! is not written yet. The first is told by `decided`, which says with which generation of the
//! filters a hook has judged the task; the second cannot be there once every task has passed a
//! point where it sleeps or returns to user space, which the scan waits for.

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
};

/// What is known of a task id.
#[derive(Default)]
struct Entry {
    /// The mask in the lower half, the tag of its task in the upper one.
    verdict: Verdict,
    /// Bits of the trace arrays for which the task was born traced, or excluded.
    traced: Bits,
    excluded: Bits,
    /// The generation of the filters with which a hook judged the task.
    decided: Bits,
}

struct Verdict(Atomic<u64>);

struct Bits(Atomic<u32>);

impl Default for Verdict {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Default for Bits {
    fn default() -> Self {
        Self(Atomic::new(0))
    }
}

impl Bits {
    fn clear(&self, mask: u32) {
        self.0.store(self.0.load(Relaxed) & !mask, Relaxed);
    }
}

fn pack(mask: u32, tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(mask)
}

impl Entry {
    #[inline]
    fn mask(&self) -> u32 {
        self.verdict.0.read_once() as u32
    }

    /// Whether this is about the task with that tag, and not one that had the id before.
    fn is_of(&self, tag: u32) -> bool {
        (self.verdict.0.read_once() >> 32) as u32 == tag
    }

    fn lineage(&self, slot: u32) -> Lineage {
        let bit = 1 << slot;
        Lineage {
            traced: self.traced.0.load(Relaxed) & bit != 0,
            excluded: self.excluded.0.load(Relaxed) & bit != 0,
        }
    }

    fn forget_lineage(&self, mask: u32, what: Forget) {
        if what.traced {
            self.traced.clear(mask);
        }
        if what.excluded {
            self.excluded.clear(mask);
        }
    }

    fn clear(&self) {
        self.verdict.0.store(0, Relaxed);
        self.forget_lineage(u32::MAX, Forget::ALL);
        self.decided.0.store(0, Relaxed);
    }
}

/// The filters in force.
struct Rules {
    filters: [Option<Arc<Filter>>; SLOTS as usize],
    /// Changes with every change of a filter; never 0.
    generation: u32,
    /// A scan goes on.
    scanning: bool,
}

impl Rules {
    /// The filters in use, with their slots.
    fn filters(&self) -> impl Iterator<Item = (u32, &Filter)> {
        let slots = self.filters.iter().zip(0u32..);
        slots.filter_map(|(filter, slot)| Some((slot, &**filter.as_ref()?)))
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
    /// Verdicts that could not be kept for want of memory, or not be told to a CPU at once.
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
                    scanning: false,
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
        let replaced = {
            let mut rules = self.rules.lock();
            rules.generation = rules.generation.wrapping_add(1).max(1);
            rules.scanning = true;
            if forget != Forget::default() {
                self.tasks
                    .for_each(|entry| entry.forget_lineage(bit, forget));
            }
            let place = rules.filters.get_mut(slot as usize);
            place.and_then(|place| core::mem::replace(place, filter))
        };
        drop(replaced);
        if by_name {
            task::synchronize_tasks();
        }
        match judge {
            Some(filter) => {
                task::for_each(|task| self.judge_one(slot, &filter, task));
                self.judge_idle(slot, &filter);
            }
            None => self.forget(bit),
        }
        self.rules.lock().scanning = false;
    }

    /// Judges a task by one filter that has changed.
    fn judge_one(&self, slot: u32, filter: &Filter, task: Task<'_>) {
        let rules = self.rules.lock();
        // Its id may have come to another task, whose verdict this would overwrite. If that comes later, `new_task()`
        // waits for the lock.
        if task.is_released() {
            return;
        }
        let subject = Subject::new(task, task.comm());
        let entry = self.tasks.get(subject.pid as u32);
        let mut before = 0;
        let mut lineage = Lineage::default();
        if let Some(entry) = entry.filter(|entry| entry.is_of(subject.tag)) {
            if entry.decided.0.load(Relaxed) == rules.generation {
                return;
            }
            before = entry.mask();
            lineage = entry.lineage(slot);
        }
        let bit = 1 << slot;
        let mask = if filter.judge(&subject.as_task(), lineage) {
            before | bit
        } else {
            before & !bit
        };
        self.store(&subject, mask, false);
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
            let before = entry.verdict.0.load(Relaxed);
            // A task that is being freed at the same time has its entry cleared, which is as good.
            let _ = entry
                .verdict
                .0
                .cmpxchg(before, before & !u64::from(bit), Relaxed);
        });
        for mask in &self.idle {
            mask.store(mask.load(Relaxed) & !bit, Relaxed);
        }
    }

    /// Judges a task by all filters. `rules` must be held, as its argument shows.
    fn judge(&self, rules: &Rules, subject: &Subject) -> u32 {
        let entry = self.tasks.get(subject.pid as u32);
        let entry = entry.filter(|entry| entry.is_of(subject.tag));
        rules.filters().fold(0, |mask, (slot, filter)| {
            let lineage = entry.map_or(Lineage::default(), |entry| entry.lineage(slot));
            let traced = filter.judge(&subject.as_task(), lineage);
            mask | u32::from(traced) << slot
        })
    }

    /// Keeps a verdict. `rules` must be held. `must_exist` makes an entry even for a verdict of 0.
    fn store(&self, subject: &Subject, mask: u32, must_exist: bool) -> Option<&Entry> {
        let id = subject.pid as u32;
        let entry = match self.tasks.get(id) {
            Some(entry) => entry,
            None if mask == 0 && !must_exist => return None,
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
        }
        entry.verdict.0.store(pack(mask, subject.tag), Relaxed);
        Some(entry)
    }
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
        let rules = self.rules.lock();
        let parent = Subject::new(parent, parent.comm());
        let subject = Subject::new(child, child.comm());
        let of_parent = self.tasks.get(parent.pid as u32);
        let of_parent = of_parent.filter(|entry| entry.is_of(parent.tag));
        let (mut traced, mut excluded, mut mask) = (0u32, 0u32, 0u32);
        for (slot, filter) in rules.filters() {
            let lineage = of_parent.map_or(Lineage::default(), |entry| entry.lineage(slot));
            let born = filter.child(&parent.as_task(), lineage);
            let verdict = filter.judge(&subject.as_task(), born);
            traced |= u32::from(born.traced) << slot;
            excluded |= u32::from(born.excluded) << slot;
            mask |= u32::from(verdict) << slot;
        }
        // Always, if there is an entry: it may be that of a task which had the id before.
        if let Some(entry) = self.store(&subject, mask, traced | excluded != 0) {
            entry.traced.0.store(traced, Relaxed);
            entry.excluded.0.store(excluded, Relaxed);
            entry.decided.0.store(0, Relaxed);
        }
    }

    fn renamed(&self, task: Task<'_>, comm: Comm) {
        let subject = Subject::new(task, comm);
        {
            let rules = self.rules.lock();
            // As in `judge_one()`, where somebody else renames it.
            if task.is_released() {
                return;
            }
            let mask = self.judge(&rules, &subject);
            if let Some(entry) = self.store(&subject, mask, rules.scanning) {
                entry.decided.0.store(rules.generation, Relaxed);
            }
        }
        if task.is_current() {
            gate::refresh_current();
        } else if !gate::refresh_others() {
            self.lost.add(1, Relaxed);
        }
    }

    fn executed(&self, task: Task<'_>, old_pid: i32) {
        let subject = Subject::new(task, task.comm());
        {
            let rules = self.rules.lock();
            let old = self.tasks.get(old_pid as u32);
            let old = old.filter(|entry| old_pid != subject.pid && entry.is_of(subject.tag));
            if let Some(old) = old {
                let (traced, excluded) = (old.traced.0.load(Relaxed), old.excluded.0.load(Relaxed));
                old.clear();
                if let Some(entry) = self.store(&subject, 0, traced | excluded != 0) {
                    entry.traced.0.store(traced, Relaxed);
                    entry.excluded.0.store(excluded, Relaxed);
                }
            }
            let mask = self.judge(&rules, &subject);
            self.store(&subject, mask, false);
        }
        gate::refresh_current();
    }

    fn freed(&self, task: Task<'_>) {
        let Some(entry) = self.tasks.get(task.pid() as u32) else {
            return;
        };
        let before = entry.verdict.0.load(Relaxed);
        // Not if the id has a new owner, even if it becomes so just now.
        if entry.is_of(task.tag()) {
            let _ = entry.verdict.0.cmpxchg(before, 0, Relaxed);
        }
    }
}
