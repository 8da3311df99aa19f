// SPDX-License-Identifier: GPL-2.0

//! The deepest kernel stack of each traced task, as seen when a traced function is called.
//!
//! Each call compares the number of bytes in use with the highest one of the task. Only if it is
//! higher, the functions of the stack are stored. A task runs on one CPU at a time, so all CPUs
//! share one table.

mod show;

use kernel::{
    alloc::KVVec,
    cpu::{
        nr_cpu_ids,
        CpuId, //
    },
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use crate::{
    ktrace::{
        hook::stack_depth::{
            Buffer,
            Stack,
            MAX_DEPTH, //
        },
        private::modules::LeavingText,
        sync::double_buffer::DoubleBuffer,
        task::Task, //
    },
    profile::{
        gone::Gone,
        key_of,
        table::Table, //
    },
    seen_call::SeenCall,
    seq_words::{
        SeqWords,
        SeqWriter, //
    },
};

/// The number of tasks that there are entries for.
const TASKS: usize = 512;

/// The words of a stack.
mod word {
    use crate::ktrace::hook::stack_depth::MAX_DEPTH;

    pub(super) const COMM: [usize; 2] = [0, 1];
    /// Addresses in the functions, or keys of [`super::Gone`], the innermost first; 0 for functions
    /// that are not known.
    pub(super) const FUNCTION: usize = 2;
    /// The numbers of bytes that the functions and their callers use. So the first one is the depth
    /// of the stack. The unused ones at the end are 0; if there is no stack, all are.
    pub(super) const USED: usize = FUNCTION + MAX_DEPTH;
    pub(super) const COUNT: usize = USED + MAX_DEPTH;
}

type StackWords = SeqWords<{ word::COUNT }>;

/// The deepest stacks of the tasks of one trace array.
pub(crate) struct MaxStack {
    tasks: DoubleBuffer<Table<StackWords>>,
    /// Where each CPU reads the functions of a stack.
    buffers: KVVec<Buffer>,
    /// The number of stacks that were not stored, because the entry was being changed.
    lost: Atomic<u64>,
}

impl MaxStack {
    /// Creates an instance without stacks. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new() -> Result<Self> {
        let mut buffers = KVVec::with_capacity(nr_cpu_ids() as usize, GFP_KERNEL)?;
        for _ in 0..nr_cpu_ids() {
            buffers.push(Buffer::default(), GFP_KERNEL)?;
        }
        Ok(Self {
            tasks: DoubleBuffer::new(Table::shared(TASKS)?)?,
            buffers,
            lost: Atomic::new(0),
        })
    }

    fn table(&self) -> &Table<StackWords> {
        self.tasks.get()
    }

    /// Handles a traced call. Idle tasks are ignored. For hooks; any context.
    pub(crate) fn see(&self, seen: &SeenCall<'_>) {
        let Some(stack) = seen.stack else {
            return;
        };
        let Some(used) = stack.used().filter(|_| seen.task.pid() != 0) else {
            return;
        };
        self.table().with(key_of(seen.task), |deepest| {
            if used as u64 > deepest.get(word::USED) {
                self.store(deepest, seen.task, stack, seen.place.func);
            }
        });
    }

    #[cold]
    fn store(&self, deepest: &StackWords, task: Task<'_>, stack: Stack<'_>, func: usize) {
        let buffer = self.buffers.get(CpuId::current().as_u32() as usize);
        let functions = buffer.and_then(|buffer| stack.functions(func, buffer));
        let store = |words: SeqWriter<'_, { word::COUNT }>| {
            for (index, name) in word::COMM.into_iter().zip(task.comm().to_words()) {
                words.set(index, name);
            }
            let mut functions = functions.iter().flat_map(|functions| functions.iter());
            for index in 0..MAX_DEPTH {
                let (function, used) = functions.next().unwrap_or((0, 0));
                words.set(word::FUNCTION + index, function as u64);
                words.set(word::USED + index, used as u64);
            }
        };
        if functions.is_none() || !deepest.try_change(store) {
            self.lost.add(1, Relaxed);
        }
    }

    /// Replaces functions whose text is about to be freed. May sleep.
    pub(crate) fn text_leaves(&self, text: &LeavingText<'_>, gone: &mut Gone) {
        self.table().visit(|_, deepest| {
            deepest.change(|words| {
                for index in word::FUNCTION..word::USED {
                    let address = words.get(index) as usize;
                    if address != 0 && text.has(address) {
                        words.set(index, gone.key_of(address));
                    }
                }
            });
        });
    }

    /// Removes all stacks. May sleep. If memory is short, or if another task does the same, the
    /// tasks keep their entries.
    pub(crate) fn clear(&self) {
        let clear = |deepest: &StackWords| {
            deepest.change(|words| (0..word::COUNT).for_each(|index| words.set(index, 0)));
        };
        let make = || Table::shared(TASKS);
        let cleared = self.tasks.restart(make, |table| table.clear(clear));
        if cleared.is_err() {
            self.table().clear_values(clear);
        }
        self.lost.store(0, Relaxed);
    }
}
