// SPDX-License-Identifier: GPL-2.0

//! The open sections of all tasks: parts of a program that it marks by writing to `trace_marker`.
//!
//! Sections of a thread nest, and are stored under its id. Only the thread itself reads and writes
//! them, with preemption off. Asynchronous sections of a process may begin and end in different
//! threads; a table has a fixed number of them.

use kernel::{
    alloc::flags::__GFP_NOWARN,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full,
            Relaxed,
            Release, //
        }, //
    },
};

use super::types::OffCpu;
use crate::{
    ktrace::{
        task::{
            all_tasks,
            pid_map::PidMap,
            sched,
            Task, //
        },
        time::clock::local_ns, //
    },
    relaxed_u64::RelaxedU64,
    time_split::Split, //
};

/// Maximum length of a name in bytes; a longer one is cut.
pub(crate) const MAX_NAME: usize = 55;

/// [`OpenSection::irq_ns`] if the time of interrupts was not measured.
const NOT_MEASURED: u64 = u64::MAX;

/// How many open sections of a thread are measured. Eight tasks share an allocation of less than
/// two pages.
pub(crate) const MAX_DEPTH: usize = 12;

const NAME_WORDS: usize = (MAX_NAME + 1) / 8;

/// The number of asynchronous sections that can be open at the same time, a power of two, and of
/// the places that are searched for one.
const ASYNC: usize = 512;
const ASYNC_TRIES: usize = 16;

/// [`AsyncSection::key`] of a place that is free, and of one that is being changed.
const FREE: u64 = 0;
const BUSY: u64 = 1;

/// A section that has ended, as listeners of the event `task_section` get it. Must match
/// `struct ferrotrace_section` in `src/events.c`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Section {
    /// The name, which ends at the first zero byte.
    pub(crate) name: [u8; MAX_NAME + 1],
    pub(crate) total_ns: u64,
    /// The parts of the total. All are 0 for an asynchronous section, which belongs to no thread.
    pub(crate) run_ns: u64,
    /// The part of `run_ns` that was the time of interrupts; 0 if it was not measured.
    pub(crate) irq_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) block_ns: u64,
    /// The number that distinguishes asynchronous sections of the same name.
    pub(crate) cookie: i64,
    pub(crate) is_async: bool,
}

impl Section {
    /// Returns the name without the zero byte at its end.
    pub(crate) fn name(&self) -> &[u8] {
        let end = self.name.iter().position(|byte| *byte == 0);
        let end = end.unwrap_or(self.name.len());
        self.name.get(..end).unwrap_or_default()
    }
}

/// The name of a section, as in [`Section::name`], that other contexts read while it changes.
#[derive(Default)]
pub(crate) struct AtomicName([RelaxedU64; NAME_WORDS]);

impl AtomicName {
    /// Stores a name.
    pub(crate) fn set(&self, name: &[u8; MAX_NAME + 1]) {
        for (to, bytes) in self.0.iter().zip(name.chunks_exact(8)) {
            to.set(u64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
        }
    }

    /// Returns the name.
    pub(crate) fn get(&self) -> [u8; MAX_NAME + 1] {
        let mut name = [0; MAX_NAME + 1];
        for (to, word) in name.chunks_exact_mut(8).zip(&self.0) {
            to.copy_from_slice(&word.get().to_ne_bytes());
        }
        name
    }
}

/// Returns a name as a C string, cut if it is too long.
fn c_name(name: &[u8]) -> [u8; MAX_NAME + 1] {
    let mut bytes = [0; MAX_NAME + 1];
    for (to, from) in bytes.iter_mut().take(MAX_NAME).zip(name) {
        *to = *from;
    }
    bytes
}

#[derive(Default)]
struct OpenSection {
    name: AtomicName,
    begun_ns: RelaxedU64,
    /// [`NOT_MEASURED`] if there is none.
    irq_ns: RelaxedU64,
    wait_ns: RelaxedU64,
    block_ns: RelaxedU64,
}

/// The open sections of a thread.
#[derive(Default)]
struct OpenSections {
    /// The tag of the task; of another one if the id was reused.
    tag: RelaxedU64,
    /// The number of open sections, including those that are too deep.
    depth: RelaxedU64,
    open: [OpenSection; MAX_DEPTH],
}

/// A place for an open asynchronous section.
struct AsyncSection {
    key: Atomic<u64>,
    begun_ns: RelaxedU64,
}

impl Default for AsyncSection {
    fn default() -> Self {
        Self {
            key: Atomic::new(FREE),
            begun_ns: RelaxedU64::new(0),
        }
    }
}

/// How many threads can wait for memory at the same time.
const WAITING: usize = 32;

/// The open sections of all tasks.
pub(crate) struct Sections {
    threads: PidMap<OpenSections>,
    /// The ids of threads for which a worker has to allocate memory.
    waiting: [Atomic<u32>; WAITING],
    asyncs: KVec<AsyncSection>,
    /// Sections that are not reported: too deep, too many, no memory, or an end without a
    /// beginning.
    lost: Atomic<u64>,
}

impl Sections {
    /// Creates an empty table. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn new() -> Result<Self> {
        let mut asyncs = KVec::with_capacity(ASYNC, GFP_KERNEL)?;
        for _ in 0..ASYNC {
            asyncs.push(AsyncSection::default(), GFP_KERNEL)?;
        }
        Ok(Self {
            threads: PidMap::new()?,
            waiting: [const { Atomic::new(0) }; WAITING],
            asyncs,
            lost: Atomic::new(0),
        })
    }

    /// Returns the number of sections that were not reported.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Returns the memory of the tables in bytes.
    pub(crate) fn size(&self) -> usize {
        let asyncs = ASYNC.saturating_mul(size_of::<AsyncSection>());
        self.threads.size().saturating_add(asyncs)
    }

    fn count_lost(&self) {
        self.lost.add(1, Relaxed);
    }

    /// Returns the place of a thread, which is created if there is none.
    ///
    /// The kernel calls this with preemption off. On PREEMPT_RT, nothing can be allocated then, so
    /// a worker does it, and the first section of a thread is lost.
    fn place(&self, task: Task<'_>) -> Option<&OpenSections> {
        let id = task.pid() as u32;
        if let Some(place) = self.threads.mark(id) {
            return Some(place);
        }
        if cfg!(CONFIG_PREEMPT_RT) {
            let mut free = self.waiting.iter();
            free.find(|place| place.cmpxchg(0, id, Full).is_ok());
            sched::reclaim_later();
            return None;
        }
        let place = self.threads.get_or_insert(id, GFP_ATOMIC | __GFP_NOWARN);
        if self.threads.is_large() {
            sched::reclaim_later();
        }
        place.ok()
    }

    /// Frees the sections of tasks that have ended, if there are many, and allocates memory for
    /// those that wait for it. May sleep. There must be only one caller at a time.
    pub(crate) fn reclaim(&self) {
        for place in &self.waiting {
            let id = place.xchg(0, Full);
            if id != 0 {
                // Without memory, the thread asks again.
                let _ = self.threads.get_or_insert(id, GFP_KERNEL);
            }
        }
        all_tasks::reclaim_if_large(&self.threads);
    }

    /// Begins a section of the current task, which has been off its CPU for `off_cpu`, and was
    /// interrupted for `irq_ns`, until now. Preemption must be off; process context.
    pub(crate) fn begin(&self, task: Task<'_>, off_cpu: OffCpu, irq_ns: Option<u64>, name: &[u8]) {
        let Some(sections) = self.place(task) else {
            return self.count_lost();
        };
        let tag = u64::from(task.tag());
        if sections.tag.get() != tag {
            sections.tag.set(tag);
            sections.depth.set(0);
        }
        let depth = sections.depth.get();
        sections.depth.set(depth.saturating_add(1));
        // One that is too deep is counted when it ends.
        let Some(open) = sections.open.get(depth as usize) else {
            return;
        };
        open.name.set(&c_name(name));
        open.irq_ns.set(irq_ns.unwrap_or(NOT_MEASURED));
        open.wait_ns.set(off_cpu.wait_ns);
        open.block_ns.set(off_cpu.block_ns);
        open.begun_ns.set(local_ns());
    }

    /// Ends the innermost section of the current task, and returns it. For `off_cpu`, `irq_ns` and
    /// the context, see [`Sections::begin`].
    pub(crate) fn end(
        &self,
        task: Task<'_>,
        off_cpu: OffCpu,
        irq_ns: Option<u64>,
    ) -> Option<Section> {
        let section = self.take(task, off_cpu, irq_ns);
        if section.is_none() {
            self.count_lost();
        }
        section
    }

    fn take(&self, task: Task<'_>, off_cpu: OffCpu, irq_ns: Option<u64>) -> Option<Section> {
        let end_ns = local_ns();
        let sections = self.threads.get(task.pid() as u32)?;
        if sections.tag.get() != u64::from(task.tag()) {
            return None;
        }
        let depth = sections.depth.get().checked_sub(1)?;
        sections.depth.set(depth);
        let open = sections.open.get(depth as usize)?;
        let total_ns = end_ns.saturating_sub(open.begun_ns.get());
        let wait_ns = off_cpu.wait_ns.saturating_sub(open.wait_ns.get());
        let block_ns = off_cpu.block_ns.saturating_sub(open.block_ns.get());
        let irq_ns = match (open.irq_ns.get(), irq_ns) {
            (NOT_MEASURED, _) | (_, None) => 0,
            (begun, Some(now)) => now.saturating_sub(begun),
        };
        let split = Split::new(total_ns, wait_ns, block_ns).with_irq(irq_ns);
        Some(Section {
            name: open.name.get(),
            total_ns,
            run_ns: split.run,
            irq_ns: split.irq,
            wait_ns: split.wait,
            block_ns: split.block,
            cookie: 0,
            is_async: false,
        })
    }

    /// Begins an asynchronous section of the current task's process. Preemption must be off.
    pub(crate) fn begin_async(&self, task: Task<'_>, name: &[u8], cookie: i64) {
        let key = key_of(task.tgid(), name, cookie);
        let is_same = |place: &&AsyncSection| place.key.load(Relaxed) == key;
        let is_free = |place: &&AsyncSection| place.key.load(Relaxed) == FREE;
        // The same one again: it begins again.
        let place = self.places(key).find(is_same);
        let place = place.or_else(|| self.places(key).find(is_free));
        // If there are too many, one that never ended may be among them: the oldest is lost.
        let place = place.or_else(|| {
            self.count_lost();
            self.places(key).min_by_key(|place| place.begun_ns.get())
        });
        let Some(place) = place else {
            return;
        };
        let old = place.key.load(Relaxed);
        if old == BUSY || place.key.cmpxchg(old, BUSY, Full).is_err() {
            return self.count_lost();
        }
        place.begun_ns.set(local_ns());
        place.key.store(key, Release);
    }

    /// Ends an asynchronous section of the current task's process, and returns it. Preemption must
    /// be off.
    pub(crate) fn end_async(&self, task: Task<'_>, name: &[u8], cookie: i64) -> Option<Section> {
        let end_ns = local_ns();
        let key = key_of(task.tgid(), name, cookie);
        let found = self.places(key).find_map(|place| {
            (place.key.load(Acquire) == key).then_some(())?;
            place.key.cmpxchg(key, BUSY, Full).ok()?;
            let begun_ns = place.begun_ns.get();
            place.key.store(FREE, Release);
            Some(begun_ns)
        });
        let Some(begun_ns) = found else {
            self.count_lost();
            return None;
        };
        Some(Section {
            name: c_name(name),
            total_ns: end_ns.saturating_sub(begun_ns),
            run_ns: 0,
            irq_ns: 0,
            wait_ns: 0,
            block_ns: 0,
            cookie,
            is_async: true,
        })
    }

    /// Returns the places in which the asynchronous section with this key may be.
    fn places(&self, key: u64) -> impl Iterator<Item = &AsyncSection> {
        (0..ASYNC_TRIES).filter_map(move |n| {
            let at = (key >> 32) as usize + n;
            self.asyncs.get(at % ASYNC)
        })
    }
}

/// Returns the key of an asynchronous section: a hash (FNV-1a) that is neither [`FREE`] nor
/// [`BUSY`].
fn key_of(tgid: i32, name: &[u8], cookie: i64) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(name);
    add(&tgid.to_ne_bytes());
    add(&cookie.to_ne_bytes());
    hash.max(BUSY + 1)
}
