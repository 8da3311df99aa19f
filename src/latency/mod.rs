// SPDX-License-Identifier: GPL-2.0

//! The longest stretches with interrupts off, and with preemption off, of the traced tasks.
//!
//! A hook sees the state at traced calls and returns only. A stretch begins with the first one at
//! which interrupts are off, and lasts at least until the last one before they are seen on. If they
//! are off at two moments, they are taken to be off in between, unless something shows that they
//! were not:
//!
//! * the CPU has switched to another task in between;
//! * the context (task, softirq, hardirq) is another one, or the CPU has handled an interrupt;
//! * a function is called by code that enters the kernel, or returns to it.
//!
//! A stretch with preemption off is one of a task. Interrupts do not end it. The last two rules do
//! not apply; instead, it ends if a timer tick has found the task in user space.
//!
//! NMIs and idle tasks are ignored.
//!
//! All state belongs to a CPU, as a stretch does. A stretch with interrupts off is begun and
//! continued with interrupts off, so only an NMI could see it half-written. An interrupt does not
//! look at the stretch with preemption off of a task whose callback it has interrupted.

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
        hook::ftrace_ops::preempt_depth,
        private::modules::LeavingText,
        sync::read_once::ReadOnce,
        task::cpu_events::{
            irqs_handled,
            is_entry_code,
            switches, //
        },
        time::clock, //
    },
    profile::gone::Gone,
    relaxed_u64::RelaxedU64,
    seen_call::{
        Place,
        SeenCall, //
    },
    seq_words::{
        SeqWords,
        SeqWriter, //
    },
};

/// The stretch that a call or return belongs to.
pub(crate) struct SeenStretch {
    /// Preemption is off; otherwise interrupts are.
    pub(crate) is_preempt_off: bool,
    /// Its duration until the call or return before this one, in ns; `None` if this is the first.
    pub(crate) before_ns: Option<u64>,
    /// Its duration until now, in ns.
    pub(crate) total_ns: u64,
}

/// Receives each call and return that belongs to a stretch. Preemption is off; any context but
/// NMIs.
pub(crate) type StretchWatcher = fn(&SeenCall<'_>, &SeenStretch);

/// The level of NMIs, a result of
/// [`Context::level`](crate::ktrace::record::context::Context::level), and the number of lower
/// levels.
const NMI: usize = 3;

/// The kinds of stretches: with interrupts off, at each level below [`NMI`]; with preemption off,
/// in a task.
const KINDS: usize = NMI + 1;
const PREEMPT_OFF: usize = NMI;

/// The values that do not change during a stretch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    /// The id of the task, never 0, and the number of the CPU's switches.
    task: u64,
    /// For interrupts, the level, and the number of interrupts that the CPU has handled. For
    /// preemption, the time of the task in user space.
    evidence: u64,
    /// [`Latency::generation`].
    generation: u64,
}

/// The stretch that is open on a CPU.
#[derive(Default)]
struct OpenStretch {
    /// The members of [`Identity`]; the first one is 0 if no stretch is open.
    identity: [RelaxedU64; 3],
    begun_ns: RelaxedU64,
    last_ns: RelaxedU64,
    gap_ns: RelaxedU64,
    calls: RelaxedU64,
    func: RelaxedU64,
    caller: RelaxedU64,
}

impl OpenStretch {
    #[inline]
    fn close(&self) {
        let [task, ..] = &self.identity;
        task.set(0);
    }

    /// Continues the stretch with this identity, or begins it if another one or none is open.
    /// Returns its duration until the call before, in ns; `None` if it begins.
    fn see(&self, identity: Identity, begins: bool, now_ns: u64, place: Place) -> Option<u64> {
        let [task, evidence, generation] = &self.identity;
        let same = Identity {
            task: task.get(),
            evidence: evidence.get(),
            generation: generation.get(),
        };
        let last_ns = self.last_ns.get();
        self.last_ns.set(now_ns);
        if !begins && same == identity {
            let gap_ns = now_ns.saturating_sub(last_ns);
            self.gap_ns.set(gap_ns.max(self.gap_ns.get()));
            self.calls.add_alone(1);
            return Some(last_ns.saturating_sub(self.begun_ns.get()));
        }
        self.begun_ns.set(now_ns);
        self.gap_ns.set(0);
        self.calls.set(1);
        self.func.set(place.func as u64);
        self.caller.set(place.caller as u64);
        evidence.set(identity.evidence);
        generation.set(identity.generation);
        task.set(identity.task);
        None
    }

    /// Returns the duration until the last call, in ns.
    fn total_ns(&self) -> u64 {
        self.last_ns.get().saturating_sub(self.begun_ns.get())
    }
}

/// The words of the longest stretch of a kind on a CPU.
mod word {
    /// The duration in ns; 0 if there is none.
    pub(super) const TOTAL: usize = 0;
    /// The longest time between two calls or returns in it, in ns.
    pub(super) const GAP: usize = 1;
    /// The number of calls and returns.
    pub(super) const CALLS: usize = 2;
    /// When it began, in ns of the trace clock `local`.
    pub(super) const BEGUN: usize = 3;
    pub(super) const PID: usize = 4;
    pub(super) const COMM: [usize; 2] = [5, 6];
    /// The functions and callers at its beginning and its end, as in [`super::Place`].
    pub(super) const FUNC: usize = 7;
    pub(super) const CALLER: usize = 8;
    pub(super) const LAST_FUNC: usize = 9;
    pub(super) const LAST_CALLER: usize = 10;
    pub(super) const COUNT: usize = 11;
}

#[derive(Default)]
struct Cpu {
    irqs_off: OpenStretch,
    preempt_off: OpenStretch,
    longest: [SeqWords<{ word::COUNT }>; KINDS],
}

/// The longest stretches of the tasks of one trace array.
pub(crate) struct Latency {
    cpus: KVVec<Cpu>,
    watcher: StretchWatcher,
    /// Changes when stretches that are open must not continue.
    generation: Atomic<u64>,
    /// The number of stretches that were not compared with the longest one.
    lost: Atomic<u64>,
}

impl Latency {
    /// Creates an instance without stretches, which reports them to `watcher`. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(watcher: StretchWatcher) -> Result<Self> {
        let mut cpus = KVVec::with_capacity(nr_cpu_ids() as usize, GFP_KERNEL)?;
        for _ in 0..nr_cpu_ids() {
            cpus.push(Cpu::default(), GFP_KERNEL)?;
        }
        Ok(Self {
            cpus,
            watcher,
            generation: Atomic::new(0),
            lost: Atomic::new(0),
        })
    }

    /// Handles a traced call or return. For hooks; any context.
    pub(crate) fn see(&self, seen: &SeenCall<'_>) {
        let level = seen.context.level() as usize;
        let pid = seen.task.pid();
        let Some(cpu) = self.cpus.get(CpuId::current().as_u32() as usize) else {
            return;
        };
        if level >= NMI || pid == 0 {
            return;
        }
        let identity = Identity {
            task: (pid as u64) << u32::BITS | u64::from(switches(seen.preemption_off)),
            evidence: seen.task.user_time(),
            generation: self.generation.read_once(),
        };
        match seen.context.has_irqs_off() {
            true => self.see_irqs_off(cpu, identity, level, seen),
            false => cpu.irqs_off.close(),
        }
        if level != 0 {
            return;
        }
        let is_off = match preempt_depth(seen.preemption_off) {
            Some(depth) => depth != 0 || seen.context.has_softirqs_off(),
            // An interrupt, which looks like a part of the task, in another callback.
            None => return,
        };
        match is_off {
            true => self.see_preempt_off(cpu, identity, seen),
            false => cpu.preempt_off.close(),
        }
    }

    fn see_irqs_off(&self, cpu: &Cpu, identity: Identity, level: usize, seen: &SeenCall<'_>) {
        let identity = Identity {
            evidence: irqs_handled(seen.preemption_off) << 2 | level as u64,
            ..identity
        };
        let is_edge = is_entry_code(seen.place.caller);
        let begins = is_edge && seen.is_call;
        let open = &cpu.irqs_off;
        let before_ns = open.see(identity, begins, clock::local_ns(), seen.place);
        self.compare(cpu, level, open, identity, seen);
        (self.watcher)(
            seen,
            &SeenStretch {
                is_preempt_off: false,
                before_ns,
                total_ns: open.total_ns(),
            },
        );
        if is_edge && !seen.is_call {
            cpu.irqs_off.close();
        }
    }

    fn see_preempt_off(&self, cpu: &Cpu, identity: Identity, seen: &SeenCall<'_>) {
        let open = &cpu.preempt_off;
        let before_ns = open.see(identity, false, clock::local_ns(), seen.place);
        self.compare(cpu, PREEMPT_OFF, open, identity, seen);
        (self.watcher)(
            seen,
            &SeenStretch {
                is_preempt_off: true,
                before_ns,
                total_ns: open.total_ns(),
            },
        );
    }

    /// Stores a stretch if it is the longest one.
    fn compare(
        &self,
        cpu: &Cpu,
        kind: usize,
        open: &OpenStretch,
        identity: Identity,
        seen: &SeenCall<'_>,
    ) {
        let Some(longest) = cpu.longest.get(kind) else {
            return;
        };
        let total_ns = open.total_ns();
        if total_ns <= longest.get(word::TOTAL) {
            return;
        }
        let store = |words: SeqWriter<'_, { word::COUNT }>| {
            // It may have been cleared since then.
            if self.generation.read_once() != identity.generation {
                return;
            }
            words.set(word::TOTAL, total_ns);
            words.set(word::GAP, open.gap_ns.get());
            words.set(word::CALLS, open.calls.get());
            words.set(word::BEGUN, open.begun_ns.get());
            words.set(word::PID, seen.task.pid() as u64);
            for (index, name) in word::COMM.into_iter().zip(seen.task.comm().to_words()) {
                words.set(index, name);
            }
            words.set(word::FUNC, open.func.get());
            words.set(word::CALLER, open.caller.get());
            words.set(word::LAST_FUNC, seen.place.func as u64);
            words.set(word::LAST_CALLER, seen.place.caller as u64);
        };
        if !longest.try_change(store) {
            self.lost.add(1, Relaxed);
        }
    }

    /// Forgets stretches that are open.
    pub(crate) fn restart(&self) {
        self.generation.add(1, Relaxed);
    }

    /// Removes all stretches.
    pub(crate) fn clear(&self) {
        self.restart();
        for longest in self.longest() {
            longest.change(|words| (0..word::COUNT).for_each(|index| words.set(index, 0)));
        }
        self.lost.store(0, Relaxed);
    }

    /// Replaces functions whose text is about to be freed. May sleep.
    pub(crate) fn text_leaves(&self, text: &LeavingText<'_>, gone: &mut Gone) {
        self.restart();
        for longest in self.longest() {
            longest.change(|words| {
                for index in [word::FUNC, word::CALLER, word::LAST_FUNC, word::LAST_CALLER] {
                    let address = words.get(index) as usize;
                    if address != 0 && text.has(address) {
                        words.set(index, gone.key_of(address));
                    }
                }
            });
        }
    }

    fn longest(&self) -> impl Iterator<Item = &SeqWords<{ word::COUNT }>> {
        self.cpus.iter().flat_map(|cpu| cpu.longest.iter())
    }
}
