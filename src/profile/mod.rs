// SPDX-License-Identifier: GPL-2.0

//! The profile: how long calls took, by function, and how long tasks ran and waited, added up in the
//! kernel, so that nothing has to be recorded for it.

mod by_key;
pub(crate) mod gone;
pub(crate) mod show;
pub(crate) mod spread;
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
    spread::Spread,
    table::Table, //
};

use crate::{
    fgraph::Graph,
    ktrace::{
        alternate::Alternate,
        fgraph,
        gate,
        modules::LeavingText,
        once::Once,
        task::{
            self,
            Task, //
        }, //
    },
    limits::Split,
    name::Name,
    watch::Watch,
    word::Word, //
};

/// How many functions there is room for on each CPU.
const FUNCTIONS: usize = 512;

/// How many tasks.
const TASKS: usize = 128;

/// Above this, a task's key is its id.
const PID_SHIFT: u32 = 32;

/// What is known of a function.
#[derive(Default)]
struct Function {
    total: Spread,
    /// What of it was not on a CPU, or is not known to have been.
    off_ns: Word,
    wait_ns: Word,
    block_ns: Word,
}

impl Function {
    #[cold]
    fn add_off(&self, split: &Split) {
        self.off_ns.add(split.total.wrapping_sub(split.run));
        self.wait_ns.add(split.wait);
        self.block_ns.add(split.block);
    }

    fn clear(&self) {
        self.total.clear();
        self.off_ns.set(0);
        self.wait_ns.set(0);
        self.block_ns.set(0);
    }
}

/// What is known of a task.
#[derive(Default)]
struct Times {
    run: Spread,
    wait: Spread,
    /// Its name when it was last heard of on this CPU, and when that was: its last name is the latest of them.
    comm: Name,
    heard_ns: Word,
}

impl Times {
    fn clear(&self) {
        self.run.clear();
        self.wait.clear();
    }
}

/// What was added up since it was begun.
struct Tables {
    functions: Table<Function>,
    tasks: Table<Times>,
}

impl Tables {
    /// Empty ones. May sleep.
    fn new() -> Result<Self> {
        Ok(Self {
            functions: Table::new(FUNCTIONS)?,
            tasks: Table::new(TASKS)?,
        })
    }

    /// How many bytes they have.
    fn size(&self) -> usize {
        self.functions.size().saturating_add(self.tasks.size())
    }

    /// Forgets everything. While nobody uses them.
    fn clear(&self) {
        self.functions.clear(Function::clear);
        self.tasks.clear(Times::clear);
    }

    /// Forgets all numbers. What has a place keeps it.
    fn clear_values(&self) {
        self.functions.clear_values(Function::clear);
        self.tasks.clear_values(Times::clear);
    }
}

/// The profile of one trace array.
pub(crate) struct Profile(Alternate<Tables>);

/// How many profiles are being written.
static ACTIVE: Atomic<i32> = Atomic::new(0);

/// As long as it lives, tasks' times are told to the profiles.
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
    /// An empty one. May sleep.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(Alternate::new(Tables::new()?)?))
    }

    #[inline(always)]
    fn functions(&self) -> &Table<Function> {
        &self.0.get().functions
    }

    fn tasks(&self) -> &Table<Times> {
        &self.0.get().tasks
    }

    /// How many bytes it has.
    fn size(&self) -> usize {
        self.0.get().size().saturating_mul(self.0.count())
    }

    /// Adds a call. Any context, with preemption off.
    pub(crate) fn add_call(&self, func: usize, split: Split) {
        self.functions().with(func as u64, |function| {
            function.total.add(split.total);
            // Most calls do not lose the CPU.
            if split.run != split.total {
                function.add_off(&split);
            }
        });
    }

    /// Adds a call that ran all the while, on `cpu`, which must be this one. As above.
    #[inline]
    pub(crate) fn add_undivided(&self, cpu: usize, func: usize, total_ns: u64) {
        match self.functions().first(cpu, func as u64) {
            Some(function) if function.total.has_range(total_ns) => function.total.add_in(total_ns),
            _ => self.add_anew(func, total_ns),
        }
    }

    /// The same where there is none like it yet.
    #[cold]
    #[inline(never)]
    fn add_anew(&self, func: usize, total_ns: u64) {
        self.add_call(func, Split::undivided(total_ns));
    }

    fn add_task(&self, task: Task<'_>, add: impl FnOnce(&Times)) {
        self.tasks().with(key_of(task), |times| {
            times.comm.set(task.comm());
            times.heard_ns.set(fgraph::clock_ns());
            add(times);
        });
    }

    /// Gives functions whose text is about to be freed keys of their own, so that another function
    /// at the same address is not taken for one of them. May sleep.
    pub(crate) fn text_leaves(&self, text: &LeavingText<'_>, gone: &mut Gone) {
        self.functions()
            .change_keys(|key| match text.has(key as usize) {
                true => gone.key_of(key as usize),
                false => key,
            });
    }

    /// Begins anew. May sleep. Without memory for that, numbers are forgotten, and the functions and tasks that have
    /// a place keep it.
    pub(crate) fn clear(&self) {
        if self.0.begin_anew(Tables::new, Tables::clear).is_err() {
            self.0.get().clear_values();
        }
    }
}

/// What a task's times stand under: by ids, and those of tasks that had the same one by when they were made, in units
/// of some us. Idle tasks have no times.
fn key_of(task: Task<'_>) -> u64 {
    (task.pid() as u64) << PID_SHIFT | u64::from((task.start_time() >> 10) as u32)
}

/// Calls `add` with each profile of a trace array whose filter wants the task. For probes.
fn for_each_of(task: Task<'_>, add: impl Fn(&Profile)) {
    if ACTIVE.read_once() == 0 {
        return;
    }
    let mask = task::mask_of::<Watch>(task);
    fgraph::for_each_hook::<Graph>(|tr, graph| {
        if let Some(profile) = graph.profile().filter(|_| gate::wants(tr, mask)) {
            add(profile);
        }
    });
}

/// A task has run so long. For probes.
#[inline]
pub(crate) fn task_ran(task: Task<'_>, ns: u64) {
    for_each_of(task, |profile| {
        profile.add_task(task, |times| times.run.add(ns))
    });
}

/// A task has waited so long for a CPU. For probes.
#[inline]
pub(crate) fn task_waited(task: Task<'_>, ns: u64) {
    for_each_of(task, |profile| {
        profile.add_task(task, |times| times.wait.add(ns))
    });
}
