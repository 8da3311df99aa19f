// SPDX-License-Identifier: GPL-2.0

//! Trigger rules: at which moment, under which conditions, what is done.
//!
//! A rule is one line of `ferrotrace/triggers`, for example
//! `exit vfs_read if block > 20ms && comm ~ cam* do snapshot, stop:1`. [`Rule::parse`] reads it,
//! and [`Rule::holds`] evaluates its conditions. Nothing here depends on the kernel.

mod parse;
mod words;

use crate::filter::glob::Glob;

/// Maximum length of a rule in bytes.
pub(crate) const MAX_RULE: usize = 256;

/// Maximum number of conditions of a rule, and of actions.
pub(crate) const MAX_PARTS: usize = 4;

/// Maximum length of the pattern of a function in bytes: `KSYM_NAME_LEN` without the NUL would be
/// 511, more than any function that is traced needs.
pub(crate) const MAX_FUNCTION: usize = 128;

/// How many bytes of the name of a marker, counter or section are compared.
pub(crate) const MAX_NAME: usize = 55;

/// The moment at which a rule is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A function is called.
    Entry,
    /// A function returns.
    Exit,
    /// A task leaves its CPU.
    Run,
    /// A task gets a CPU.
    Wait,
    /// A blocked task is woken.
    Block,
    /// A task executes a program.
    Exec,
    /// A task exits.
    ExitTask,
    /// A signal is delivered to a task.
    Signal,
    /// A task writes a marker that is neither a counter nor the end of a section.
    Marker,
    /// A task writes a marker that is a counter.
    Counter,
    /// A section of a task ends.
    Section,
    /// A traced call or return is seen with interrupts off.
    IrqsOff,
    /// A traced call or return is seen with preemption off.
    PreemptOff,
    /// Some time has passed since the rule was written.
    After,
}

impl Moment {
    /// Returns the moment's bit in a mask.
    pub(crate) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns whether something ends whose time has parts: run, wait and block.
    fn has_parts(self) -> bool {
        matches!(self, Self::Exit | Self::Section)
    }

    /// Returns whether the moment belongs to calls of a function.
    pub(crate) fn is_of_calls(self) -> bool {
        matches!(self, Self::Entry | Self::Exit)
    }
}

/// The left side of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The duration of the call or section, of the stretch until now, or since the rule was
    /// written, in ns.
    Total,
    /// The time on a CPU, in ns: of the call or section, or the interval that ends.
    Run,
    /// The time of waiting for a CPU, in ns.
    Wait,
    /// The time blocked, in ns.
    Block,
    /// The return value of the function, as a signed number.
    Retval,
    /// The number of the signal.
    Sig,
    /// The exit code, as `wait()` reports it.
    Code,
    /// The value of the counter.
    Value,
    /// The id of the task.
    Pid,
}

impl Quantity {
    /// The number of quantities.
    pub(crate) const COUNT: usize = Self::Pid as usize + 1;

    /// Returns whether the quantity is a time.
    fn is_time(self) -> bool {
        matches!(self, Self::Total | Self::Run | Self::Wait | Self::Block)
    }

    /// Returns whether the quantity is known at a moment.
    fn is_known_at(self, moment: Moment) -> bool {
        match self {
            Self::Total => {
                moment.has_parts() || matches!(moment, Moment::IrqsOff | Moment::PreemptOff)
            }
            Self::Run => moment.has_parts() || moment == Moment::Run,
            Self::Wait => moment.has_parts() || moment == Moment::Wait,
            Self::Block => moment.has_parts() || moment == Moment::Block,
            Self::Retval => moment == Moment::Exit,
            Self::Value => moment == Moment::Counter,
            Self::Sig => moment == Moment::Signal,
            Self::Code => moment == Moment::ExitTask,
            Self::Pid => moment != Moment::After,
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Compare {
    fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::GreaterOrEqual => left >= right,
            Self::Greater => left > right,
        }
    }
}

/// A condition of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Number(Quantity, Compare, i64),
    Comm(Glob),
}

/// The signals of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    /// Those that end the process, because it does not handle them.
    Fatal,
    /// The signal with this number.
    Number(i64),
}

/// An action of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Turns recording on.
    Start,
    /// Turns recording off.
    Stop,
    /// Swaps the buffer with the snapshot.
    Snapshot,
    /// Records the kernel stack of the task.
    StackTrace,
    /// Prints the buffer to the console.
    Dump,
}

/// The task and the numbers that conditions compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    numbers: [i64; Quantity::COUNT],
    comm: &'a [u8],
    /// The name that the pattern of the rule must match.
    name: &'a [u8],
    is_fatal: bool,
}

impl<'a> Facts<'a> {
    /// Creates the facts about a task with this name, a result of [`crate::filter::glob::name_of`].
    pub(crate) fn new(pid: i32, comm: &'a [u8]) -> Self {
        let this = Self {
            numbers: [0; Quantity::COUNT],
            comm,
            name: comm,
            is_fatal: false,
        };
        this.with(Quantity::Pid, i64::from(pid))
    }

    /// Sets the name of the marker, counter or section.
    pub(crate) fn with_name(mut self, name: &'a [u8]) -> Self {
        self.name = name.get(..MAX_NAME).unwrap_or(name);
        self
    }

    /// Sets the number of a signal, and whether it ends the process.
    pub(crate) fn with_signal(mut self, number: i32, is_fatal: bool) -> Self {
        self.is_fatal = is_fatal;
        self.with(Quantity::Sig, i64::from(number))
    }

    /// Sets a number.
    pub(crate) fn with(mut self, quantity: Quantity, number: i64) -> Self {
        if let Some(place) = self.numbers.get_mut(quantity as usize) {
            *place = number;
        }
        self
    }

    /// Sets a time in ns.
    pub(crate) fn with_ns(self, quantity: Quantity, ns: u64) -> Self {
        self.with(quantity, i64::try_from(ns).unwrap_or(i64::MAX))
    }

    /// Sets the return value of a function.
    ///
    /// The type of the function is not known. A value of 32 bits that is an error code is taken for
    /// a negative `int`, as with `funcgraph-retval`.
    pub(crate) fn with_retval(self, value: u64) -> Self {
        const MAX_ERRNO: i32 = 4095;
        let number = match u32::try_from(value) {
            Ok(low) if (-MAX_ERRNO..0).contains(&(low as i32)) => i64::from(low as i32),
            _ => value as i64,
        };
        self.with(Quantity::Retval, number)
    }

    fn get(&self, quantity: Quantity) -> i64 {
        self.numbers.get(quantity as usize).copied().unwrap_or(0)
    }

    /// Returns the number that the event of a rule reports: the one that its first condition on a
    /// number compares, otherwise that of the moment.
    pub(crate) fn value(&self, rule: &Rule) -> i64 {
        self.get(rule.reported)
    }
}

/// The text of a rule: a C string, so that listeners of the event `trigger` can read it.
///
/// # Invariants
///
/// All bytes after the first `len` ones are zero.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleText {
    bytes: [u8; MAX_RULE + 1],
    len: usize,
}

impl RuleText {
    /// Copies `text`, of at most [`MAX_RULE`] bytes; the rest is ignored.
    fn new(text: &[u8]) -> Self {
        let mut bytes = [0; MAX_RULE + 1];
        for (to, from) in bytes.iter_mut().take(MAX_RULE).zip(text) {
            *to = *from;
        }
        // INVARIANT: No byte after these was written.
        Self {
            bytes,
            len: text.len().min(MAX_RULE),
        }
    }

    /// Returns the text without the zero byte at its end.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// A rule.
///
/// # Invariants
///
/// `function` and `pids` are ranges within the text; those of `pids` are in its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    text: RuleText,
    moment: Moment,
    /// The start and the end of the pattern of functions in the text.
    function: (usize, usize),
    /// The pattern of the program, marker, counter or section.
    name: Option<Glob>,
    /// For `signal`, which ones.
    signals: Option<Signals>,
    /// For `after`, the time since the rule was written, in ns.
    after_ns: u64,
    conditions: [Option<Condition>; MAX_PARTS],
    /// The start and the end of each id of a task in the text, and the global id.
    pids: [Option<(usize, usize, i64)>; MAX_PARTS],
    reported: Quantity,
    /// The actions, in the order of the text, each with a delay in ns.
    actions: [Option<(Action, u64)>; MAX_PARTS],
    /// How often the rule may fire; `u64::MAX` is without a limit.
    limit: u64,
}

impl Rule {
    /// Returns the text, without comments and white space around it.
    pub(crate) fn text(&self) -> &RuleText {
        &self.text
    }

    /// Calls `write` with the parts of the text in order, each with the global id of a task that
    /// follows it in place of the writer's, if any.
    pub(crate) fn write_text(&self, mut write: impl FnMut(&[u8], Option<i64>)) {
        let text = self.text.as_bytes();
        let mut done = 0;
        for (start, end, id) in self.pids.iter().flatten() {
            write(text.get(done..*start).unwrap_or_default(), Some(*id));
            done = *end;
        }
        write(text.get(done..).unwrap_or_default(), None);
    }

    /// Returns the moment at which the rule is evaluated.
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// Returns the pattern of the functions, as `set_ftrace_filter` takes it; empty for moments
    /// that are not of calls.
    pub(crate) fn function(&self) -> &[u8] {
        let (start, end) = self.function;
        self.text.as_bytes().get(start..end).unwrap_or_default()
    }

    /// Returns the time since the rule was written at which [`Moment::After`] is, in ns.
    pub(crate) fn after_ns(&self) -> u64 {
        self.after_ns
    }

    /// Returns whether the rule has an action, immediate or delayed.
    pub(crate) fn has(&self, action: Action) -> bool {
        self.actions().any(|(own, _)| own == action)
    }

    /// Returns whether the rule has an action that is immediate.
    pub(crate) fn does(&self, action: Action) -> bool {
        self.actions().any(|own| own == (action, 0))
    }

    /// Returns the actions, each with its delay in ns; 0 is immediate.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (Action, u64)> + '_ {
        self.actions.iter().flatten().copied()
    }

    /// Returns how often the rule may fire.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns whether all conditions hold. Any context.
    pub(crate) fn holds(&self, facts: &Facts<'_>) -> bool {
        if self.name.is_some_and(|name| !name.matches_name(facts.name)) {
            return false;
        }
        let is_wanted = match self.signals {
            None => true,
            Some(Signals::Fatal) => facts.is_fatal,
            Some(Signals::Number(number)) => facts.get(Quantity::Sig) == number,
        };
        if !is_wanted {
            return false;
        }
        let mut conditions = self.conditions.iter().flatten();
        conditions.all(|condition| match condition {
            Condition::Number(quantity, compare, number) => {
                compare.holds(facts.get(*quantity), *number)
            }
            Condition::Comm(glob) => glob.matches_name(facts.comm),
        })
    }
}
