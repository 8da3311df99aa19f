// SPDX-License-Identifier: GPL-2.0

//! The filter decisions for all tasks, kept up to date.
//!
//! The filter decision for a task is a mask with one bit for each trace array that has a filter. It
//! is computed when the task is created, is renamed or executes a program, or when a filter
//! changes. On the hot path, at a context switch, it is only looked up and copied to the trace mask
//! of the CPU ([`crate::ktrace::task::trace_mask`]).
//!
//! # Locking
//!
//! Filter decisions are read without a lock. They are written under `rules`, with two exceptions.
//! The entry of a task that is freed is cleared by compare-and-exchange. An entry carries the tag
//! of its task, so that a reused id is not confused with its former owner: the new owner's decision
//! is not cleared when the former owner is finally freed. The masks of idle tasks are written only
//! by [`TaskFilter::set_filter`], whose callers are serialized.
//!
//! `rules` is taken in task context only, and is not held while names are matched against patterns:
//! the filters are read under RCU. A decision is stored under the lock if the generation is still
//! the one in which the evaluation began; otherwise the evaluation is repeated. A generation begins
//! only when a filter changes or the worker starts a round, so repetitions are rare.
//!
//! # A rename while a filter changes
//!
//! The kernel reports a rename before it writes the new name. So a scan of all tasks may reach a
//! task that a hook has just evaluated by its new name, but that still has its old name. Two errors
//! must be avoided: to evaluate the task by the old name, and to miss a rename that was reported
//! before the filter changed but is not yet written. The first is avoided by `decided_gen`, the
//! generation in which a hook evaluated the task. The second cannot occur after every task has
//! passed a point where it sleeps or returns to user space; the scan waits for that.
//!
//! # Two concurrent renames of one task
//!
//! A task may rename itself while another task of its process renames it. The kernel takes no lock
//! for that, so the final name need not be the one that was reported last. A task that was renamed
//! by another task is marked `pending_recheck` until the worker has rechecked it, in rounds. A
//! round begins a generation and then waits in the same way as a scan, so that names that were
//! reported before the round are written.
//!
//! If no hook evaluated the task during this round, its name is final, and the decision is made by
//! it. If a hook did, there are two cases. If the other task's rename was reported before the
//! previous round, that name was written before this round began, and the hook evaluated the newer
//! name: its decision is final. Otherwise the two renames may have raced, and the next round checks
//! the task again.
//!
//! # A thread that executes a program
//!
//! The thread takes over the id of its process, and its former id becomes free before the program
//! runs, so a new task may get it. Therefore the inherited selection of the thread is saved in
//! `pending_execs` before the exchange, and is found by the thread's tag when the thread is first
//! evaluated with its new id.

mod inherited;
mod task_state;

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
        lock::{
            spinlock::SpinLockBackend,
            Guard, //
        },
        rcu,
        Arc,
        SpinLock, //
    },
};

use self::{
    inherited::{
        InheritedFlags,
        PendingExecs, //
    },
    task_state::Entry, //
};
use crate::{
    filter::verdict::{
        self,
        Filter,
        Forget,
        Inherited, //
    },
    ktrace::{
        sync::{
            published::{
                Published,
                Retired, //
            },
            quiesce,
            read_once::ReadOnce, //
        },
        task::{
            all_tasks,
            bind::bind_task_hooks,
            comm::idle_comm,
            hooks::TaskHooks,
            pid_map::PidMap,
            registration::{
                reclaim_later,
                schedule_recheck, //
            },
            sched,
            task_mask::refresh_trace_mask,
            trace_mask::{
                self,
                SLOTS, //
            },
            Comm,
            Task, //
        },
    },
};

/// The state that all writers of filter decisions share.
struct FilterUpdates {
    /// Incremented when a filter changes and when the worker starts a round; never 0.
    generation: u32,
    /// The generation with which the worker's latest round began.
    round: u32,
    /// A scan of all tasks is in progress.
    scanning: bool,
    pending_execs: PendingExecs,
}

/// Returns whether `generation` is `first` or a later one. 0 means no generation.
fn is_since(generation: u32, first: u32) -> bool {
    generation != 0 && generation.wrapping_sub(first) as i32 >= 0
}

impl FilterUpdates {
    /// Begins a generation and returns it.
    fn begin(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }
}

/// The current filters, indexed by slot. Written under `rules`.
struct Filters {
    places: [Published<Filter>; SLOTS as usize],
    /// The slots that have a filter.
    used: Atomic<u32>,
    /// The slots whose filter depends on task names.
    by_name: Atomic<u32>,
}

impl Filters {
    /// Returns whether a rename can change a filter decision.
    fn need_comm(&self) -> bool {
        self.by_name.read_once() != 0
    }

    /// Calls `with` for each filter and its slot. Any context.
    fn for_each(&self, mut with: impl FnMut(u32, &Filter)) {
        let guard = rcu::read_lock();
        let mut left = self.used.read_once();
        while left != 0 {
            let slot = left.trailing_zeros();
            let place = self.places.get(slot as usize);
            if let Some(filter) = place.and_then(|place| place.get(&guard)) {
                with(slot, filter);
            }
            left &= left.wrapping_sub(1);
        }
    }

    /// Replaces the filter of a slot. `rules` must be held.
    fn replace(&self, slot: u32, filter: Option<Arc<Filter>>) -> Option<Retired<Filter>> {
        let place = self.places.get(slot as usize)?;
        let set = |mask: &Atomic<u32>, to: bool| {
            let others = mask.read_once() & !(1 << slot);
            mask.write_once(others | u32::from(to) << slot);
        };
        set(&self.used, filter.is_some());
        set(
            &self.by_name,
            filter.as_ref().is_some_and(|filter| filter.needs_comm()),
        );
        Some(place.replace(filter))
    }
}

/// The attributes of a task that an evaluation uses.
struct TaskInfo {
    pid: i32,
    tgid: i32,
    comm: Comm,
    tag: u32,
}

impl TaskInfo {
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

/// The filter decisions for all tasks.
#[pin_data]
pub(crate) struct TaskFilter {
    tasks: PidMap<Entry>,
    /// The masks of the idle tasks, indexed by CPU, because idle tasks share the id 0.
    idle: KVec<Atomic<u32>>,
    filters: Filters,
    #[pin]
    rules: SpinLock<FilterUpdates>,
    /// Filter updates that were lost: decisions that could not be stored because memory was short,
    /// trace masks that another CPU could not be made to update immediately, and inherited
    /// selections that were replaced in `pending_execs`.
    lost: Atomic<u64>,
}

bind_task_hooks!(TaskFilter);

impl TaskFilter {
    /// Creates the state without any filter. May sleep.
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
                filters: Filters {
                    places: [const { Published::none() }; SLOTS as usize],
                    used: Atomic::new(0),
                    by_name: Atomic::new(0),
                },
                rules <- new_spinlock!(FilterUpdates {
                    generation: 1,
                    round: 1,
                    scanning: false,
                    pending_execs: PendingExecs::default(),
                }),
                lost: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }

    /// Returns the number of lost filter updates.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn size(&self) -> usize {
        self.tasks.size()
    }

    /// Returns the number of tasks that the filter of `slot` selects, idle tasks included.
    pub(crate) fn matched(&self, slot: u32) -> u64 {
        let mut n = 0u64;
        let mut count = |mask: u32| n = n.wrapping_add(u64::from(mask >> slot & 1));
        self.tasks.for_each(|entry| count(entry.mask()));
        self.idle.iter().for_each(|mask| count(mask.load(Relaxed)));
        n
    }

    /// Installs a filter and evaluates it for every task; with `None`, removes the filter and its
    /// decisions. May sleep.
    ///
    /// The parts of inherited selections in `forget` are cleared. The trace masks of the CPUs are
    /// not updated; the caller must do that.
    pub(crate) fn set_filter(&self, slot: u32, filter: Option<Arc<Filter>>, forget: Forget) {
        let bit = 1 << slot;
        let by_name = filter.as_ref().is_some_and(|filter| filter.needs_comm());
        let evaluate = filter.clone();
        let (replaced, since) = {
            let mut rules = self.rules.lock();
            let since = rules.begin();
            rules.scanning = true;
            if forget != Forget::default() {
                self.tasks
                    .for_each(|entry| entry.clear_inherited(bit, forget));
                rules.pending_execs.forget(bit, forget);
            }
            (self.filters.replace(slot, filter), since)
        };
        drop(replaced);
        if by_name {
            quiesce::synchronize_tasks();
        }
        match evaluate {
            Some(filter) => {
                let mut pending_recheck = false;
                all_tasks::for_each(|task| {
                    pending_recheck |= self.evaluate_one(slot, &filter, since, task)
                });
                self.evaluate_idle(slot, &filter);
                if pending_recheck {
                    schedule_recheck();
                }
            }
            None => self.forget(bit),
        }
        self.rules.lock().scanning = false;
    }

    /// Evaluates one filter, which has changed with generation `since`, for a task. Returns whether
    /// the worker must recheck the decision.
    fn evaluate_one(&self, slot: u32, filter: &Filter, since: u32, task: Task<'_>) -> bool {
        loop {
            let subject = TaskInfo::new(task, task.comm());
            let flags = self.inherited(&self.rules.lock(), &subject);
            let traced = filter.evaluate(&subject.as_task(), flags.lineage(slot));
            let mut rules = self.rules.lock();
            // The id may already belong to another task, whose decision must not be overwritten. If
            // it is reused later, `new_task()` waits for the lock.
            if task.is_released() {
                return false;
            }
            if task.pid() != subject.pid || self.inherited(&rules, &subject) != flags {
                // The task has executed a program in between.
                continue;
            }
            let mut before = 0;
            if let Some(entry) = self.entry(&subject) {
                if is_since(entry.decided_gen.get(), since) {
                    // A hook has evaluated the task by a name that may still be overwritten by a
                    // rename that was reported before the filter changed.
                    let pending_recheck = filter.needs_comm();
                    if pending_recheck {
                        entry.pending_recheck.set(rules.generation);
                    }
                    return pending_recheck;
                }
                before = entry.mask();
            }
            let mask = before & !(1 << slot) | u32::from(traced) << slot;
            self.store(&mut rules, &subject, mask, false);
            return false;
        }
    }

    fn evaluate_idle(&self, slot: u32, filter: &Filter) {
        for (mask, cpu) in self.idle.iter().zip(0u32..) {
            let comm = idle_comm(cpu);
            let task = verdict::Task {
                pid: 0,
                tgid: 0,
                comm: comm.as_bytes(),
            };
            let before = mask.load(Relaxed) & !(1 << slot);
            let traced = filter.evaluate(&task, Inherited::default());
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

    /// Returns the entry of a task, if there is one.
    fn entry(&self, subject: &TaskInfo) -> Option<&Entry> {
        let entry = self.tasks.get(subject.pid as u32);
        entry.filter(|entry| entry.is_of(subject.tag))
    }

    /// Returns the inherited selection of a task. `rules` must be held; the argument is the
    /// evidence.
    fn inherited(&self, rules: &FilterUpdates, subject: &TaskInfo) -> InheritedFlags {
        let entry = self.entry(subject).map(Entry::inherited);
        entry
            .or_else(|| rules.pending_execs.get(subject.tag))
            .unwrap_or_default()
    }

    /// Evaluates all filters for a task with this inherited selection. Any context.
    fn evaluate(&self, subject: &TaskInfo, flags: InheritedFlags) -> u32 {
        let mut mask = 0;
        self.filters.for_each(|slot, filter| {
            let traced = filter.evaluate(&subject.as_task(), flags.lineage(slot));
            mask |= u32::from(traced) << slot;
        });
        mask
    }

    /// Evaluates all filters for a task without holding `rules`. Returns the mask, with `rules`
    /// held and in the generation that the mask belongs to.
    fn decide(&self, subject: &TaskInfo) -> (Guard<'_, FilterUpdates, SpinLockBackend>, u32) {
        loop {
            let (generation, flags) = {
                let rules = self.rules.lock();
                (rules.generation, self.inherited(&rules, subject))
            };
            let mask = self.evaluate(subject, flags);
            let rules = self.rules.lock();
            if rules.generation == generation && self.inherited(&rules, subject) == flags {
                return (rules, mask);
            }
        }
    }

    /// Stores a filter decision. `rules` must be held. With `must_exist`, an entry is created even
    /// for a mask of 0.
    fn store(
        &self,
        rules: &mut FilterUpdates,
        subject: &TaskInfo,
        mask: u32,
        must_exist: bool,
    ) -> Option<&Entry> {
        let id = subject.pid as u32;
        let entry = match self.tasks.mark(id) {
            Some(entry) => entry,
            None if mask == 0 && !must_exist && rules.pending_execs.get(subject.tag).is_none() => {
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
        if self.tasks.is_large() {
            reclaim_later();
        }
        if !entry.is_of(subject.tag) {
            entry.clear();
            if let Some(flags) = rules.pending_execs.take(subject.tag) {
                entry.set_inherited(flags);
            }
        }
        entry.set_verdict(mask, subject.tag);
        Some(entry)
    }

    /// Rechecks one task. `last` is the generation with which the previous round began. Returns
    /// whether the next round must check the task again.
    fn settle_one(&self, task: Task<'_>, last: u32) -> bool {
        let subject = TaskInfo::new(task, task.comm());
        let in_doubt = |entry: &&Entry| entry.pending_recheck.get() != 0;
        if self.entry(&subject).filter(in_doubt).is_none() {
            return false;
        }
        let (mut rules, mask) = self.decide(&subject);
        if task.is_released() {
            return false;
        }
        let Some(entry) = self.entry(&subject).filter(in_doubt) else {
            return false;
        };
        let mut changed = false;
        if !is_since(entry.decided_gen.get(), rules.round) {
            changed = mask != entry.mask();
            if changed {
                sched::changes(task);
            }
            self.store(&mut rules, &subject, mask, true);
        } else if is_since(entry.pending_recheck.get(), last) {
            return true;
        }
        entry.pending_recheck.set(0);
        drop(rules);
        if changed {
            self.update_cpu_of(task);
        }
        false
    }

    /// Makes the CPU of a task other than the current one update its trace mask to the task's new
    /// mask.
    fn update_cpu_of(&self, task: Task<'_>) {
        if !refresh_trace_mask(task) {
            self.lost.add(1, Relaxed);
        }
    }
}

impl TaskHooks for TaskFilter {
    #[inline]
    fn mask(&self, pid: i32) -> u32 {
        self.tasks.get(pid as u32).map_or(0, Entry::mask)
    }

    fn idle_mask(&self, cpu: u32) -> u32 {
        self.idle.get(cpu as usize).map_or(0, ReadOnce::read_once)
    }

    fn new_task(&self, parent: Task<'_>, child: Task<'_>) {
        if child.pid() == 0 {
            return;
        }
        let parent = TaskInfo::new(parent, parent.comm());
        let subject = TaskInfo::new(child, child.comm());
        loop {
            let (generation, of_parent) = {
                let rules = self.rules.lock();
                (rules.generation, self.inherited(&rules, &parent))
            };
            let (mut flags, mut mask) = (InheritedFlags::default(), 0u32);
            self.filters.for_each(|slot, filter| {
                let lineage = filter.child(&parent.as_task(), of_parent.lineage(slot));
                flags.add(slot, lineage);
                mask |= u32::from(filter.evaluate(&subject.as_task(), lineage)) << slot;
            });
            let mut rules = self.rules.lock();
            if rules.generation != generation {
                continue;
            }
            // Discards the entry of a killed thread that had the same tag.
            rules.pending_execs.take(subject.tag);
            // The child is already in the task lists, so another thread of its process may be
            // renaming it. If such a rename was reported but is not yet written, the worker must
            // recheck the child.
            let before = self.entry(&subject);
            let pending_recheck = before.is_some_and(|entry| entry.pending_recheck.get() != 0);
            let overruled = pending_recheck && before.is_some_and(|entry| entry.mask() != mask);
            // If there is an entry, it is always overwritten: it may belong to a former owner of
            // the id.
            if let Some(entry) = self.store(&mut rules, &subject, mask, !flags.is_empty()) {
                entry.set_inherited(flags);
                entry.decided_gen.set(0);
                entry.pending_recheck.set(match pending_recheck {
                    true => rules.generation,
                    false => 0,
                });
            }
            drop(rules);
            if overruled {
                schedule_recheck();
            }
            return;
        }
    }

    fn renamed(&self, task: Task<'_>, comm: Comm) {
        // If a filter is being installed at this moment, `set_filter()` evaluates the task after
        // this rename.
        if !self.filters.need_comm() {
            return;
        }
        let subject = TaskInfo::new(task, comm);
        let by_itself = task.is_current();
        let (mut rules, mask) = self.decide(&subject);
        // If another task renames this one: the id may already belong to another task; see
        // `evaluate_one()`.
        if task.is_released() {
            return;
        }
        let changed = mask != TaskHooks::mask(self, subject.pid);
        let must_exist = rules.scanning || !by_itself;
        let mut pending_recheck = false;
        if let Some(entry) = self.store(&mut rules, &subject, mask, must_exist) {
            entry.decided_gen.set(rules.generation);
            if !by_itself {
                entry.pending_recheck.set(rules.generation);
            }
            pending_recheck = entry.pending_recheck.get() != 0;
        }
        drop(rules);
        if !changed {
            // The order of two concurrent renames matters only if their masks differ. In that case
            // the rename that is reported last changes the mask.
            return;
        }
        if pending_recheck {
            schedule_recheck();
        }
        if by_itself {
            trace_mask::refresh_current();
        } else {
            self.update_cpu_of(task);
        }
    }

    fn prepare_exec(&self, task: Task<'_>) {
        let subject = TaskInfo::new(task, task.comm());
        if subject.pid == subject.tgid {
            return;
        }
        let mut rules = self.rules.lock();
        let flags = self.inherited(&rules, &subject);
        if !flags.is_empty() && !rules.pending_execs.put(subject.tag, flags) {
            self.lost.add(1, Relaxed);
        }
    }

    fn executed(&self, task: Task<'_>, old_pid: i32) {
        let subject = TaskInfo::new(task, task.comm());
        {
            let (mut rules, mask) = self.decide(&subject);
            let old = self.tasks.get(old_pid as u32);
            let old = old.filter(|entry| old_pid != subject.pid && entry.is_of(subject.tag));
            if let Some(old) = old {
                old.clear();
            }
            self.store(&mut rules, &subject, mask, false);
        }
        trace_mask::refresh_current();
    }

    fn freed(&self, task: Task<'_>) {
        if let Some(entry) = self.tasks.get(task.pid() as u32) {
            entry.free(task.tag());
        }
    }

    fn reclaim(&self) {
        if self.tasks.is_large() {
            self.tasks.reclaim(|| {
                all_tasks::for_each(|task| {
                    self.tasks.mark(task.pid() as u32);
                });
            });
        }
    }

    fn settle(&self) {
        let last = {
            let mut rules = self.rules.lock();
            let last = rules.round;
            rules.round = rules.begin();
            last
        };
        quiesce::synchronize_tasks();
        let mut left = false;
        all_tasks::for_each(|task| left |= self.settle_one(task, last));
        if left {
            schedule_recheck();
        }
    }
}
