// SPDX-License-Identifier: GPL-2.0

//! Triggers: the rules of `ferrotrace/triggers` of each trace array, evaluated at the moments that
//! they name, for the tasks that its filter selects.
//!
//! The rules of a trace array are replaced as a whole. The probes of task accounting find them in
//! [`SETS`]; each rule about calls has a hook of its own ([`calls`]), and each rule `after` a timer
//! ([`timed`]). While no rule needs a moment,
//! it costs one load of [`MOMENTS`], or nothing.
//!
//! # What happens when a rule fires
//!
//! In this order: recording is turned on; the entries of open calls that are still missing are
//! written; the event `trigger` is written; the stack is recorded; the snapshot is taken; recording
//! is turned off. So the event is in the snapshot, and is the last record before recording stops.
//! Delayed actions have timers ([`action`]), which are cancelled when the rule is removed. So have
//! a snapshot in an NMI, where none can be taken, and each dump, because the moment may be one at
//! which locks are held that `printk()` takes. How late actions take effect is recorded
//! ([`Firings`]). Finally, tasks that poll the control file are woken.

pub(crate) mod action;
pub(crate) mod calls;
mod firings;
pub(crate) mod installed;
pub(crate) mod timed;

use kernel::{
    alloc::AllocError,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        rcu,
        Arc, //
    },
};

use self::{
    action::{
        DelayedAction,
        Target, //
    },
    firings::Firings, //
};
use crate::{
    events,
    fgraph::Graph,
    filter::glob::name_of,
    function_trace::{
        Count,
        Recorder, //
    },
    ktrace::{
        array::notify,
        fgraph,
        record::{
            context::Context,
            stack,
            NotWritten, //
        },
        sync::{
            atomic::AtomicBool,
            published::{
                Published,
                Retired, //
            },
            read_once::ReadOnce, //
        },
        task::{
            sched,
            task_mask::mask_of,
            trace_mask,
            Task, //
        },
        time::{
            clock::local_ns,
            delay::Delay, //
        },
    },
    latency::SeenStretch,
    seen_call::SeenCall,
    task_filter::TaskFilter,
    task_times::{
        accounting::Accounting,
        sections::Section, //
    },
    trigger_rule::{
        Action,
        Facts,
        Moment,
        Quantity,
        Rule, //
    },
};

/// Maximum number of rules of a trace array.
pub(crate) const MAX_RULES: usize = 64;

/// The rules in use, indexed by the slot of the trace array.
static SETS: [Published<RuleSet>; trace_mask::SLOTS as usize] =
    [const { Published::none() }; trace_mask::SLOTS as usize];

/// The moments at which rules of any trace array are evaluated ([`Moment::bit`]).
static MOMENTS: Atomic<u32> = Atomic::new(0);

/// A rule in use, and how often it has fired.
pub(crate) struct ActiveRule {
    rule: Rule,
    firings: Arc<Firings>,
    /// `None` until the rule belongs to a [`RuleSet`].
    timers: Option<Arc<ActionTimers>>,
}

/// The timers of the actions of a rule. A rule that stays when others are added or removed keeps
/// them, with the actions that are pending.
struct ActionTimers {
    /// The buffer that the actions are done on.
    target: Target,
    /// The delayed actions, and those that are only possible where no locks are held.
    delays: KVec<Delay<DelayedAction>>,
    /// For a snapshot that is due in an NMI: taken directly after it.
    after_nmi: Option<Delay<DelayedAction>>,
}

impl ActiveRule {
    /// Creates a rule that is written now. May sleep.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn new(rule: Rule) -> core::result::Result<Self, AllocError> {
        Ok(Self {
            rule,
            firings: Arc::new(Firings::new(), GFP_KERNEL)?,
            timers: None,
        })
    }

    /// Copies a rule, for rules of the same trace array that replace those that have this one.
    pub(crate) fn copy(&self) -> Self {
        Self {
            rule: self.rule,
            firings: Arc::clone(&self.firings),
            timers: self.timers.clone(),
        }
    }

    /// Creates the timers of the actions, unless the rule has them from the one that it is a copy
    /// of.
    fn make_timers(&mut self, target: &Target) -> Result {
        if self.timers.is_some() {
            return Ok(());
        }
        let mut timers = ActionTimers {
            target: target.clone(),
            delays: KVec::new(),
            after_nmi: None,
        };
        for (action, ns) in self.rule.actions() {
            if ns == 0 && !matches!(action, Action::Snapshot | Action::Dump) {
                continue;
            }
            let delayed = DelayedAction {
                target: target.clone(),
                action,
                firings: Arc::clone(&self.firings),
            };
            let delay = Delay::new(ns, Arc::new(delayed, GFP_KERNEL)?)?;
            match (action, ns) {
                (Action::Snapshot, 0) => timers.after_nmi = Some(delay),
                _ => timers.delays.push(delay, GFP_KERNEL)?,
            }
        }
        self.timers = Some(Arc::new(timers, GFP_KERNEL)?);
        Ok(())
    }

    /// Returns the buffer that the timers of the rule act on, if it has them already.
    pub(crate) fn timer_target(&self) -> Option<&Target> {
        self.timers.as_ref().map(|timers| &timers.target)
    }

    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns how often the rule has fired, and when it did so last, in ns of the trace clock
    /// `local`.
    pub(crate) fn fired(&self) -> (u64, u64) {
        let fired = self.firings.count.load(Relaxed).min(self.rule.limit());
        (fired, self.firings.last_ns.get())
    }

    /// Returns how late the actions have taken effect at most, in ns.
    pub(crate) fn late_ns(&self) -> u64 {
        self.firings.late_ns.get()
    }

    /// Returns whether the rule may fire once more, and counts this.
    fn take(&self) -> bool {
        let limit = self.rule.limit();
        let count = &self.firings.count;
        count.read_once() < limit && count.fetch_add(1, Relaxed) < limit
    }
}

/// The rules of a trace array.
pub(crate) struct RuleSet {
    target: Target,
    rules: KVec<ActiveRule>,
    moments: u32,
    /// Whether the rules are in use: their hooks are attached before and removed after that.
    is_live: AtomicBool,
    recorder: Arc<Recorder>,
    /// Keeps task accounting enabled while there are rules.
    accounting: Arc<sched::SchedRegistration<Accounting>>,
}

impl RuleSet {
    /// Creates rules that act on `target`. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(
        target: Target,
        mut rules: KVec<ActiveRule>,
        recorder: Arc<Recorder>,
        accounting: Arc<sched::SchedRegistration<Accounting>>,
    ) -> Result<Self> {
        for active in &mut rules {
            active.make_timers(&target)?;
        }
        let bits = rules.iter().map(|active| active.rule.moment().bit());
        Ok(Self {
            moments: bits.fold(0, |mask, bit| mask | bit),
            target,
            rules,
            is_live: AtomicBool::new(false),
            recorder,
            accounting,
        })
    }

    /// Ends the use of the rules.
    pub(crate) fn retire(&self) {
        self.is_live.store(false, Relaxed);
    }

    pub(crate) fn rules(&self) -> &[ActiveRule] {
        &self.rules
    }

    /// Evaluates the rules of a moment for a task that the filter selects.
    fn evaluate(&self, moment: Moment, task: Task<'_>, facts: &Facts<'_>) {
        for (index, active) in self.rules.iter().enumerate() {
            if active.rule.moment() == moment {
                self.evaluate_one(index, task, facts);
            }
        }
    }

    /// Evaluates a rule, and lets it fire if its conditions hold. Any context.
    fn evaluate_one(&self, index: usize, task: Task<'_>, facts: &Facts<'_>) {
        let Some(active) = self.rules.get(index) else {
            return;
        };
        if !self.is_live.load(Relaxed) || !active.rule.holds(facts) {
            return;
        }
        let fired = Context::once(|context| {
            if active.take() {
                self.fire(index, active, context, task, facts);
            }
        });
        if fired.is_none() {
            self.recorder.add(Count::Recursion);
        }
    }

    fn fire(
        &self,
        index: usize,
        active: &ActiveRule,
        context: Context,
        task: Task<'_>,
        facts: &Facts<'_>,
    ) {
        let rule = &active.rule;
        let tr = &self.target.tr;
        let begun = local_ns();
        active.firings.last_ns.set(begun);
        if rule.does(Action::Start) {
            self.target.perform(Action::Start);
        }
        fgraph::before_record::<Graph>(context);
        let line = index as u32 + 1;
        let value = facts.value(rule);
        let text = rule.text();
        self.count(events::trigger::write(
            tr, context, task, line, value, text, tr,
        ));
        // Delivering an event about a task to perf takes a lock.
        if !context.is_nmi() {
            events::trigger::trace(task, line, value, text, tr);
        }
        if rule.does(Action::StackTrace) {
            match stack::task_stack(tr, context, task) {
                Ok(true) => self.recorder.add(Count::StackCut),
                Ok(false) => {}
                Err(error) => self.count(Err(error)),
            }
        }
        let timers = active.timers.as_deref();
        if rule.does(Action::Snapshot) {
            match timers.and_then(|timers| timers.after_nmi.as_ref()) {
                Some(delay) if context.is_nmi() => delay.start(),
                _ => self.target.perform(Action::Snapshot),
            }
        }
        if rule.does(Action::Stop) {
            self.target.perform(Action::Stop);
        }
        if rule.does(Action::Snapshot) || rule.does(Action::Stop) {
            let late = local_ns().saturating_sub(begun);
            active.firings.note_late(late);
        }
        let delays = timers.map_or(&[][..], |timers| &timers.delays);
        delays.iter().for_each(Delay::start);
        notify::notify();
    }

    fn count(&self, written: Result<(), NotWritten>) {
        if written.is_err() {
            self.recorder.not_written(&self.target.tr);
        }
    }
}

/// Publishes the rules of the trace array with this slot, or removes them. Callers must hold the
/// lock of [`crate::arrays::STATE`]. The result must be dropped where sleeping is allowed.
pub(crate) fn publish(slot: u32, set: Option<Arc<RuleSet>>) -> Option<Retired<RuleSet>> {
    if let Some(set) = &set {
        set.is_live.store(true, Relaxed);
    }
    let retired = SETS.get(slot as usize)?.replace(set);
    let guard = rcu::read_lock();
    let sets = SETS.iter().filter_map(|place| place.get(&guard));
    MOMENTS.store(sets.fold(0, |mask, set| mask | set.moments), Relaxed);
    Some(retired)
}

/// Evaluates the rules of a moment in all trace arrays whose filter selects the task.
fn evaluate(moment: Moment, task: Task<'_>, with: impl Fn(Facts<'_>) -> Facts<'_>) {
    let comm = task.comm();
    let facts = with(Facts::new(task.pid(), name_of(comm.as_bytes())));
    evaluate_with(moment, task, &facts);
}

/// Like [`evaluate`], for a marker, counter or section with this name.
fn evaluate_named(
    moment: Moment,
    task: Task<'_>,
    name: &[u8],
    with: impl Fn(Facts<'_>) -> Facts<'_>,
) {
    let comm = task.comm();
    let facts = with(Facts::new(task.pid(), name_of(comm.as_bytes())));
    evaluate_with(moment, task, &facts.with_name(name));
}

#[cold]
#[inline(never)]
fn evaluate_with(moment: Moment, task: Task<'_>, facts: &Facts<'_>) {
    let mask = mask_of::<TaskFilter>(task);
    let guard = rcu::read_lock();
    for set in SETS.iter().filter_map(|place| place.get(&guard)) {
        if set.moments & moment.bit() != 0 && trace_mask::wants(&set.target.tr, mask) {
            set.evaluate(moment, task, facts);
        }
    }
}

/// Returns whether a rule needs a moment.
#[inline]
fn is_needed(moment: Moment) -> bool {
    MOMENTS.read_once() & moment.bit() != 0
}

/// Returns whether a rule needs markers that are not ends of sections.
#[inline]
pub(crate) fn need_markers() -> bool {
    MOMENTS.read_once() & (Moment::Marker.bit() | Moment::Counter.bit()) != 0
}

/// Evaluates the rules on the end of a run time, in ns. This and the following functions are for
/// probes.
#[inline]
pub(crate) fn task_ran(task: Task<'_>, ns: u64) {
    if is_needed(Moment::Run) {
        evaluate(Moment::Run, task, |facts| facts.with_ns(Quantity::Run, ns));
    }
}

/// Evaluates the rules on the end of a wait for a CPU, in ns.
#[inline]
pub(crate) fn task_waited(task: Task<'_>, ns: u64) {
    if is_needed(Moment::Wait) {
        evaluate(Moment::Wait, task, |facts| {
            facts.with_ns(Quantity::Wait, ns)
        });
    }
}

/// Evaluates the rules on the end of a blocked interval, in ns.
#[inline]
pub(crate) fn task_blocked(task: Task<'_>, ns: u64) {
    if is_needed(Moment::Block) {
        evaluate(Moment::Block, task, |facts| {
            facts.with_ns(Quantity::Block, ns)
        });
    }
}

/// Evaluates the rules on the execution of a program, after the task has its new name.
#[inline]
pub(crate) fn task_executed(task: Task<'_>) {
    if is_needed(Moment::Exec) {
        evaluate(Moment::Exec, task, |facts| facts);
    }
}

/// Evaluates the rules on the exit of the current task.
#[inline]
pub(crate) fn task_exits(task: Task<'_>) {
    if is_needed(Moment::ExitTask) {
        let code = i64::from(task.exit_code());
        evaluate(Moment::ExitTask, task, |facts| {
            facts.with(Quantity::Code, code)
        });
    }
}

/// Evaluates the rules on a marker of the current task.
#[inline]
pub(crate) fn task_marked(task: Task<'_>, name: &[u8]) {
    if is_needed(Moment::Marker) {
        evaluate_named(Moment::Marker, task, name, |facts| facts);
    }
}

/// Evaluates the rules on a marker of the current task that is a counter.
#[inline]
pub(crate) fn task_counted(task: Task<'_>, name: &[u8], value: i64) {
    if is_needed(Moment::Counter) {
        evaluate_named(Moment::Counter, task, name, |facts| {
            facts.with(Quantity::Value, value)
        });
    }
}

/// Evaluates the rules on the end of a section of the current task.
#[inline]
pub(crate) fn section_ended(task: Task<'_>, section: &Section) {
    if is_needed(Moment::Section) {
        evaluate_named(Moment::Section, task, section.name(), |facts| {
            facts
                .with_ns(Quantity::Total, section.total_ns)
                .with_ns(Quantity::Run, section.run_ns)
                .with_ns(Quantity::Wait, section.wait_ns)
                .with_ns(Quantity::Block, section.block_ns)
        });
    }
}

/// Evaluates the rules of a trace array on a stretch with interrupts or preemption off, at a call
/// or return in it. A rule fires when its conditions begin to hold, so at most once in a stretch.
#[inline]
pub(crate) fn stretch_seen(seen: &SeenCall<'_>, stretch: &SeenStretch) {
    let moment = match stretch.is_preempt_off {
        true => Moment::PreemptOff,
        false => Moment::IrqsOff,
    };
    if is_needed(moment) {
        evaluate_stretch(moment, seen, stretch);
    }
}

#[cold]
#[inline(never)]
fn evaluate_stretch(moment: Moment, seen: &SeenCall<'_>, stretch: &SeenStretch) {
    let comm = seen.task.comm();
    let facts = Facts::new(seen.task.pid(), name_of(comm.as_bytes()));
    let before = stretch.before_ns;
    let before = before.map(|ns| facts.with_ns(Quantity::Total, ns));
    let now = facts.with_ns(Quantity::Total, stretch.total_ns);
    let sets = SETS.iter();
    for set in sets.filter_map(|place| place.get_in_callback(seen.preemption_off)) {
        if set.target.tr.id() != seen.tr.id() {
            continue;
        }
        for (index, active) in set.rules.iter().enumerate() {
            let held = before.is_some_and(|facts| active.rule.holds(&facts));
            if active.rule.moment() == moment && !held {
                set.evaluate_one(index, seen.task, &now);
            }
        }
    }
}

/// Evaluates the rules on the delivery of signals.
pub(crate) struct SignalProbe;

impl crate::ktrace::task::signals::SignalWatcher for SignalProbe {
    fn delivered(task: Task<'_>, signal: i32, is_fatal: bool) {
        if is_needed(Moment::Signal) {
            evaluate(Moment::Signal, task, |facts| {
                facts.with_signal(signal, is_fatal)
            });
        }
    }
}
