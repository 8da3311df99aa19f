// SPDX-License-Identifier: GPL-2.0

//! The profile: the durations of calls by function, the run, wait and block times of tasks, the
//! block times by place and by waker, and the durations of sections by name. They are added up in
//! the kernel, so that no calls have to be recorded.

mod by_key;
pub(crate) mod gone;
pub(crate) mod histogram;
pub(crate) mod paths;
pub(crate) mod show;
mod show_paths;
pub(crate) mod table;

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use self::{
    gone::Gone,
    histogram::Histogram,
    table::Table, //
};

use crate::{
    atomic_comm::AtomicComm,
    ktrace::{
        private::modules::LeavingText,
        sync::{
            double_buffer::DoubleBuffer,
            read_once::ReadOnce, //
        },
        task::Task,
        time::clock, //
    },
    relaxed_u64::RelaxedU64,
    task_times::{
        sections::{
            AtomicName,
            Section, //
        },
        types::Waker, //
    },
    time_split::Split, //
};

/// The number of functions that a CPU has entries for.
const FUNCTIONS: usize = 512;

/// The number of tasks that a CPU has entries for.
const TASKS: usize = 128;

/// The number of places, of wakers, and of names of sections that a CPU has entries for.
const PLACES: usize = 64;

/// The position of the context in a waker's key.
const CONTEXT_SHIFT: u32 = 62;

/// The position of the task id in a task's key.
pub(crate) const PID_SHIFT: u32 = 32;

/// The accumulated values of a function.
#[derive(Default)]
struct FunctionTimes {
    total: Histogram,
    /// The time off the CPU, including time whose run/wait/block split is unknown.
    off_ns: RelaxedU64,
    /// The part of the time on the CPU that was the time of interrupts.
    irq_ns: RelaxedU64,
    wait_ns: RelaxedU64,
    block_ns: RelaxedU64,
}

impl FunctionTimes {
    #[cold]
    fn add_off(&self, split: &Split) {
        self.off_ns.add(split.total.wrapping_sub(split.run));
        self.wait_ns.add(split.wait);
        self.block_ns.add(split.block);
    }

    fn clear(&self) {
        self.total.clear();
        self.off_ns.set(0);
        self.irq_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
    }
}

/// The accumulated values of a task.
#[derive(Default)]
struct TaskHistograms {
    run: Histogram,
    /// The part of the run times that was the time of interrupts.
    irq_ns: RelaxedU64,
    wait: Histogram,
    block: Histogram,
    /// The task's name at its latest update on this CPU, and the time of this update. The most
    /// recent name of all CPUs is shown.
    comm: AtomicComm,
    updated_ns: RelaxedU64,
}

impl TaskHistograms {
    fn clear(&self) {
        self.run.clear();
        self.irq_ns.set(0);
        self.wait.clear();
        self.block.clear();
    }
}

/// The accumulated values of the wakeups by tasks of one name, or by interrupts of one kind.
#[derive(Default)]
struct Wakeups {
    block: Histogram,
    comm: AtomicComm,
}

impl Wakeups {
    fn clear(&self) {
        self.block.clear();
    }
}

/// The accumulated values of the sections of one name.
#[derive(Default)]
struct SectionTimes {
    total: Histogram,
    run_ns: RelaxedU64,
    irq_ns: RelaxedU64,
    wait_ns: RelaxedU64,
    block_ns: RelaxedU64,
    name: AtomicName,
}

impl SectionTimes {
    fn clear(&self) {
        self.total.clear();
        self.run_ns.set(0);
        self.irq_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
    }
}

/// The values accumulated since the last reset.
struct Tables {
    functions: Table<FunctionTimes>,
    tasks: Table<TaskHistograms>,
    /// The block times by the address at which the task was blocked.
    places: Table<Histogram>,
    wakers: Table<Wakeups>,
    sections: Table<SectionTimes>,
}

impl Tables {
    /// Creates empty tables. May sleep.
    fn new() -> Result<Self> {
        Ok(Self {
            functions: Table::new(FUNCTIONS)?,
            tasks: Table::new(TASKS)?,
            places: Table::new(PLACES)?,
            wakers: Table::new(PLACES)?,
            sections: Table::new(PLACES)?,
        })
    }

    /// Returns the size in bytes.
    fn size(&self) -> usize {
        let others = self.places.size().saturating_add(self.wakers.size());
        let tasks = self.tasks.size().saturating_add(self.sections.size());
        let tables = self.functions.size().saturating_add(tasks);
        tables.saturating_add(others)
    }

    /// Returns the number of block times for which there was no free entry.
    fn lost_blocks(&self) -> u64 {
        self.places.lost().saturating_add(self.wakers.lost())
    }

    /// Removes all entries. The tables must not be in use.
    fn clear(&self) {
        self.functions.clear(FunctionTimes::clear);
        self.tasks.clear(TaskHistograms::clear);
        self.places.clear(Histogram::clear);
        self.wakers.clear(Wakeups::clear);
        self.sections.clear(SectionTimes::clear);
    }

    /// Resets all values. Functions, tasks, places, wakers and sections keep their entries.
    fn clear_values(&self) {
        self.functions.clear_values(FunctionTimes::clear);
        self.tasks.clear_values(TaskHistograms::clear);
        self.places.clear_values(Histogram::clear);
        self.wakers.clear_values(Wakeups::clear);
        self.sections.clear_values(SectionTimes::clear);
    }
}

/// The profile of one trace array.
pub(crate) struct Profile(DoubleBuffer<Tables>);

/// The number of profiles in use.
static ACTIVE: Atomic<i32> = Atomic::new(0);

/// A guard: the times of tasks are added to profiles while at least one instance exists.
pub(crate) struct Active(());

impl Active {
    pub(crate) fn new() -> Self {
        ACTIVE.add(1, Relaxed);
        Self(())
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.add(-1, Relaxed);
    }
}

impl Profile {
    /// Creates an empty profile. May sleep.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(DoubleBuffer::new(Tables::new()?)?))
    }

    #[inline(always)]
    fn functions(&self) -> &Table<FunctionTimes> {
        &self.0.get().functions
    }

    fn tasks(&self) -> &Table<TaskHistograms> {
        &self.0.get().tasks
    }

    /// Returns the size in bytes.
    fn size(&self) -> usize {
        self.0.get().size().saturating_mul(self.0.count())
    }

    /// Adds a call. Preemption must be off; any context.
    pub(crate) fn add_call(&self, func: usize, split: Split) {
        self.functions().with(func as u64, |function| {
            function.total.add(split.total);
            // Most calls do not lose the CPU.
            if split.run != split.total {
                function.add_off(&split);
            }
            if split.irq != 0 {
                function.irq_ns.add(split.irq);
            }
        });
    }

    /// Adds a call that did not lose the CPU. `cpu` must be the current CPU. Preemption must be
    /// off; any context.
    #[inline]
    pub(crate) fn add_undivided(&self, cpu: usize, func: usize, total_ns: u64) {
        match self.functions().first(cpu, func as u64) {
            Some(function) if function.total.has_range(total_ns) => function.total.add_in(total_ns),
            _ => self.add_new(func, total_ns),
        }
    }

    /// Adds a call that has no entry yet, or exceeds the range of its entry, for
    /// [`Profile::add_undivided`].
    #[cold]
    #[inline(never)]
    fn add_new(&self, func: usize, total_ns: u64) {
        self.add_call(func, Split::undivided(total_ns));
    }

    fn add_task(&self, task: Task<'_>, add: impl FnOnce(&TaskHistograms)) {
        self.tasks().with(key_of(task), |times| {
            times.comm.set(task.comm());
            times.updated_ns.set(clock::local_ns());
            add(times);
        });
    }

    /// Adds a run time of a task, and the part of it that was the time of interrupts, both in ns.
    /// For probes.
    pub(crate) fn task_ran(&self, task: Task<'_>, ns: u64, irq_ns: u64) {
        self.add_task(task, |times| {
            times.run.add(ns);
            if irq_ns != 0 {
                times.irq_ns.add(irq_ns);
            }
        });
    }

    /// Adds a time that a task has waited for a CPU, in ns. For probes.
    pub(crate) fn task_waited(&self, task: Task<'_>, ns: u64) {
        self.add_task(task, |times| times.wait.add(ns));
    }

    /// Adds a time that a task was blocked, in ns: at the address `caller`, or 0 if it is unknown,
    /// until `waker` has woken it. For probes.
    pub(crate) fn task_blocked(&self, task: Task<'_>, ns: u64, caller: u64, waker: &Waker) {
        self.add_task(task, |times| times.block.add(ns));
        let tables = self.0.get();
        let place = match caller {
            0 => gone::NAMELESS,
            caller => caller,
        };
        tables.places.with(place, |block| block.add(ns));
        // Never 0, the key of an unused entry. The task that an interrupt has interrupted is not
        // related to the wakeup.
        let key = match waker.context {
            0 => digest(waker.comm.as_bytes()) >> 2 | 1,
            context => u64::from(context) << CONTEXT_SHIFT,
        };
        tables.wakers.with(key, |wakeups| {
            wakeups.comm.set(waker.comm);
            wakeups.block.add(ns);
        });
    }

    /// Adds a section that has ended. For probes.
    pub(crate) fn section_ended(&self, section: &Section) {
        // Never 0, the key of an unused entry.
        let key = digest(section.name()) | 1;
        self.0.get().sections.with(key, |times| {
            times.name.set(&section.name);
            times.total.add(section.total_ns);
            times.run_ns.add(section.run_ns);
            times.irq_ns.add(section.irq_ns);
            times.wait_ns.add(section.wait_ns);
            times.block_ns.add(section.block_ns);
        });
    }

    /// Moves the values of functions whose text is about to be freed to other keys, so that they
    /// are not confused with later functions at the same addresses. May sleep.
    pub(crate) fn text_leaves(&self, text: &LeavingText<'_>, gone: &mut Gone) {
        let mut change = |key: u64| match text.has(key as usize) {
            true => gone.key_of(key as usize),
            false => key,
        };
        self.functions().change_keys(&mut change);
        self.0.get().places.change_keys(&mut change);
    }

    /// Resets the profile. May sleep. If memory is short, or if a reset is in progress, only the
    /// values are reset, and functions and tasks keep their entries.
    pub(crate) fn clear(&self) {
        if self.0.restart(Tables::new, Tables::clear).is_err() {
            self.0.get().clear_values();
        }
    }
}

/// Returns the key of a task: its id, and its start time in units of 1024 ns to distinguish tasks
/// that had the same id. Idle tasks have no times.
pub(crate) fn key_of(task: Task<'_>) -> u64 {
    (task.pid() as u64) << PID_SHIFT | u64::from((task.start_time() >> 10) as u32)
}

/// Returns the FNV-1a hash of a name.
fn digest(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Returns whether any trace array adds to a profile.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.read_once() != 0
}
