// SPDX-License-Identifier: MIT OR Apache-2.0

//! The scope: the states of one thread with the full resolution, like an oscilloscope. Without a
//! trigger it shows the latest states. With one, it shows those around the latest state that was
//! long enough.

use std::fmt;

use super::thread::Thread;
use crate::{
    model::{
        Detail,
        Interval,
        Split,
        State,
        TaskId, //
    },
    units, //
};

/// The parts of the width, each of which has the duration of the time base.
pub const DIVISIONS: u64 = 10;

/// The time bases in us, each for one division.
const BASES_US: [u64; 16] = [
    10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000,
];

/// A state of a thread, without details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// On a CPU.
    Run,
    /// Runnable, without a CPU.
    Wait,
    /// Not runnable.
    Block,
}

impl Part {
    /// The parts, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Run, Self::Wait, Self::Block];

    /// Returns the part of a state; `None` if the state is not known.
    pub fn of(state: State) -> Option<Self> {
        match state {
            State::Run { .. } => Some(Self::Run),
            State::Wait { .. } => Some(Self::Wait),
            State::Block { .. } => Some(Self::Block),
            State::Dead | State::Unknown => None,
        }
    }

    /// Returns this part of a time.
    pub fn time(self, split: &Split) -> u64 {
        match self {
            Self::Run => split.run,
            Self::Wait => split.wait,
            Self::Block => split.block,
        }
    }

    /// Returns the word for the part.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Block => "block",
        }
    }
}

/// A condition: a state that lasts at least this time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    part: Part,
    ns: u64,
    text: String,
}

impl Trigger {
    /// Parses `block 2ms` or `block > 2ms`.
    ///
    /// # Errors
    ///
    /// If the text is not one of run, wait and block, and a time with a unit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "expected run, wait or block and a time, such as 'block 2ms'".to_string();
        let (word, time) = text.trim().split_once([' ', '>']).ok_or_else(wrong)?;
        let mut parts = Part::ALL.into_iter();
        let part = parts.find(|part| part.name() == word).ok_or_else(wrong)?;
        let time = time.trim_start_matches([' ', '>']);
        let duration = units::duration(time)?;
        Ok(Self {
            part,
            ns: u64::try_from(duration.as_nanos()).map_err(|_| wrong())?,
            text: format!("{word} > {}", time.trim_end()),
        })
    }

    fn matches(&self, interval: &Interval) -> bool {
        Part::of(interval.state) == Some(self.part) && interval.ns() >= self.ns
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// States around a trigger.
#[derive(Clone, Debug)]
struct Capture {
    at: u64,
    states: Vec<Interval>,
}

/// The scope.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The thread that is observed.
    pub thread: Option<TaskId>,
    /// The number of captures.
    pub captures: u64,
    trigger: Option<Trigger>,
    base: usize,
    /// The end of a state that has matched; the states after it are not complete.
    pending: Option<u64>,
    capture: Option<Capture>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            thread: None,
            captures: 0,
            trigger: None,
            // 10 ms
            base: 9,
            pending: None,
            capture: None,
        }
    }
}

impl Scope {
    /// Returns the time of a division in ns.
    pub fn base(&self) -> u64 {
        BASES_US.get(self.base).copied().unwrap_or(1000) * 1000
    }

    /// Makes the time base longer or shorter by some steps.
    pub fn change_base(&mut self, steps: isize) {
        let base = self.base.saturating_add_signed(steps);
        self.base = base.min(BASES_US.len() - 1);
    }

    /// Returns the trigger.
    pub fn trigger(&self) -> Option<&Trigger> {
        self.trigger.as_ref()
    }

    /// Sets another trigger, or none.
    pub fn set_trigger(&mut self, trigger: Option<Trigger>) {
        self.trigger = trigger;
        self.reset();
    }

    /// Observes another thread.
    pub fn choose(&mut self, thread: TaskId) {
        self.thread = Some(thread);
        self.reset();
    }

    fn reset(&mut self) {
        (self.pending, self.capture, self.captures) = (None, None, 0);
    }

    /// A state of the thread has ended.
    pub fn end(&mut self, interval: &Interval) {
        let trigger = self.trigger.as_ref();
        if self.pending.is_none() && trigger.is_some_and(|trigger| trigger.matches(interval)) {
            self.pending = Some(interval.end);
        }
    }

    /// All events up to `now` are known.
    pub fn advance(&mut self, now: u64, thread: &Thread) {
        let half = self.base() * DIVISIONS / 2;
        if let Some(at) = self.pending.take_if(|at| now >= at.saturating_add(half)) {
            self.captures += 1;
            let states = states(thread, now, 0).collect();
            self.capture = Some(Capture { at, states });
        }
    }

    /// Returns the beginning and the end of what is shown, in ns.
    pub fn window(&self, now: u64) -> (u64, u64) {
        let width = self.base() * DIVISIONS;
        let end = self
            .capture
            .as_ref()
            .map_or(now, |capture| capture.at + width / 2);
        (end.saturating_sub(width), end)
    }

    /// Returns the states that are shown, some of which can be outside of the window.
    pub fn states(&self, now: u64, thread: &Thread) -> Vec<Interval> {
        match &self.capture {
            Some(capture) => capture.states.clone(),
            None => states(thread, now, self.window(now).0).collect(),
        }
    }
}

/// Returns the states of a thread that ended after `from`, and the current one up to `now`.
fn states(thread: &Thread, now: u64, from: u64) -> impl Iterator<Item = Interval> + '_ {
    let open = thread.open.map(|(state, start)| Interval {
        state,
        start,
        end: now.max(start),
        detail: Detail::None,
    });
    let first = thread.log.partition_point(|interval| interval.end <= from);
    thread.log.range(first..).copied().chain(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::TaskName;

    fn interval(state: State, start: u64, end: u64) -> Interval {
        Interval {
            state,
            start,
            end,
            detail: Detail::None,
        }
    }

    #[test]
    fn triggers() {
        let parsed = |text| Trigger::parse(text).map(|trigger| (trigger.part, trigger.ns));
        assert_eq!(parsed("block 2ms"), Ok((Part::Block, 2_000_000)));
        assert_eq!(parsed(" wait > 1s "), Ok((Part::Wait, 1_000_000_000)));
        assert_eq!(parsed("run>500us"), Ok((Part::Run, 500_000)));
        for wrong in ["", "block", "sleep 2ms", "block 2", "2ms", "total 1ms"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        let shown = Trigger::parse("wait  3ms").map(|trigger| trigger.to_string());
        assert_eq!(shown.as_deref(), Ok("wait > 3ms"));
    }

    #[test]
    fn captures_are_centred_on_the_end_of_the_state() {
        const MS: u64 = 1_000_000;
        let mut scope = Scope::default();
        let mut thread = Thread::new(TaskName::default(), 0);
        scope.choose(TaskId::new(1, 0));
        scope.set_trigger(Trigger::parse("block 2ms").ok());
        let mut end = |scope: &mut Scope, state, start, end| {
            let interval = interval(state, start, end);
            thread.end(&interval, true);
            scope.end(&interval);
            scope.advance(end, &thread);
        };
        let block = State::Block { state: 1 };
        let run = State::Run { cpu: 0 };
        end(&mut scope, block, 0, MS);
        end(&mut scope, run, MS, 2 * MS);
        assert_eq!((scope.captures, scope.window(2 * MS).1), (0, 2 * MS));
        end(&mut scope, block, 2 * MS, 5 * MS);
        // The states after the trigger are not complete before half of the window has passed.
        end(&mut scope, run, 5 * MS, 54 * MS);
        assert_eq!(scope.captures, 0);
        end(&mut scope, block, 54 * MS, 56 * MS);
        assert_eq!(scope.captures, 1);
        assert_eq!(scope.window(60 * MS), (0, 55 * MS));
        assert_eq!(scope.states(60 * MS, &thread).len(), 5);
        scope.change_base(-3);
        assert_eq!(scope.base(), MS);
        assert_eq!(scope.window(60 * MS), (0, 10 * MS));
        scope.change_base(100);
        assert_eq!(scope.base(), 1000 * MS);
        scope.change_base(-100);
        assert_eq!(scope.base(), MS / 100);
    }
}
