// SPDX-License-Identifier: GPL-2.0

//! What a call must be to be recorded: how deep it may be, and how long it has to take.

use kernel::sync::atomic::Atomic;

use crate::{
    filter::{
        error::{
            Fault,
            InputError, //
        },
        input::Written, //
    },
    word::Word, //
};

/// How the time of a call divides, in ns.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Split {
    pub(crate) total: u64,
    /// On a CPU.
    pub(crate) run: u64,
    /// Waiting for one.
    pub(crate) wait: u64,
    /// Blocked.
    pub(crate) block: u64,
}

impl Split {
    /// Of a call that was on a CPU all the time.
    #[inline]
    pub(crate) fn undivided(total: u64) -> Self {
        Self {
            total,
            run: total,
            wait: 0,
            block: 0,
        }
    }

    /// Of a call that it is not known of.
    pub(crate) fn unknown(total: u64) -> Self {
        Self {
            total,
            ..Self::default()
        }
    }
}

/// Which part of a call's time a threshold is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Total,
    Run,
    Wait,
    Block,
}

impl Part {
    /// All there are, in the order in which they are shown.
    pub(crate) const ALL: [Self; 4] = [Self::Total, Self::Run, Self::Wait, Self::Block];

    /// How users call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Block => "block",
        }
    }

    fn of(self, split: &Split) -> u64 {
        match self {
            Self::Total => split.total,
            Self::Run => split.run,
            Self::Wait => split.wait,
            Self::Block => split.block,
        }
    }
}

/// Thresholds, in ns; 0 is none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Thresholds([u64; 4]);

impl Thresholds {
    /// That of one part.
    pub(crate) fn get(&self, part: Part) -> u64 {
        self.0.get(part as usize).copied().unwrap_or(0)
    }

    /// Sets that of one part.
    pub(crate) fn set(&mut self, part: Part, ns: u64) {
        if let Some(place) = self.0.get_mut(part as usize) {
            *place = ns;
        }
    }

    /// The shortest of them; 0 if there is none.
    pub(crate) fn shortest(&self) -> u64 {
        let some = self.0.into_iter().filter(|ns| *ns != 0);
        some.min().unwrap_or(0)
    }

    /// Whether a call reaches one of them.
    pub(crate) fn reached_by(&self, split: &Split) -> bool {
        let reached = |part: Part| match self.get(part) {
            0 => false,
            ns => part.of(split) >= ns,
        };
        Part::ALL.into_iter().any(reached)
    }
}

/// The limits of one trace array. Read by calls in any context while they change: a call may see
/// some of the old ones and some of the new.
#[derive(Default)]
pub(crate) struct Limits {
    thresholds: [Word; 4],
    /// The kernel's own, if it is meant for this trace array, else 0.
    tracing_thresh: Word,
    /// The shortest of all these.
    least: Word,
    max_depth: Word,
}

impl Limits {
    /// What a call has to take at least to be written, in ns, which may not be enough: no call that is
    /// shorter reaches any threshold, since none of its parts is longer than all of it. 0 if no calls are
    /// left out for being short.
    #[inline]
    pub(crate) fn least_ns(&self) -> u64 {
        self.least.get()
    }

    /// The same for who looks by himself.
    pub(crate) fn least_ns_word(&self) -> &Atomic<u64> {
        self.least.as_atomic()
    }

    /// The thresholds that were set here.
    pub(crate) fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (part, word) in Part::ALL.into_iter().zip(&self.thresholds) {
            thresholds.set(part, word.get());
        }
        thresholds
    }

    /// The thresholds that count: the kernel's own too, where there is none for the total.
    pub(crate) fn all_thresholds(&self) -> Thresholds {
        let mut thresholds = self.thresholds();
        if thresholds.get(Part::Total) == 0 {
            thresholds.set(Part::Total, self.tracing_thresh.get());
        }
        thresholds
    }

    /// Sets the thresholds. Not to be called twice at once, nor with [`Limits::set_tracing_thresh`].
    pub(crate) fn set_thresholds(&self, thresholds: Thresholds) {
        for (part, word) in Part::ALL.into_iter().zip(&self.thresholds) {
            word.set(thresholds.get(part));
        }
        self.least.set(self.all_thresholds().shortest());
    }

    /// Sets `tracing_thresh`, in ns; 0 is none.
    pub(crate) fn set_tracing_thresh(&self, ns: u64) {
        self.tracing_thresh.set(ns);
        self.least.set(self.all_thresholds().shortest());
    }

    /// How deep a call may be; 0 is no limit.
    #[inline]
    pub(crate) fn max_depth(&self) -> u32 {
        self.max_depth.get() as u32
    }

    /// Sets that.
    pub(crate) fn set_max_depth(&self, depth: u32) {
        self.max_depth.set(u64::from(depth));
    }
}

/// Reads a depth; nothing but white space is 0. `None` if there are only comments.
pub(crate) fn parse_depth(text: &[u8]) -> Result<Option<u32>, InputError> {
    let word = match Written::new(text) {
        Written::Nothing => return Ok(Some(0)),
        Written::Comments => return Ok(None),
        Written::Value(word) => word,
    };
    match number(word) {
        Some(depth) if depth <= u64::from(u32::MAX) => Ok(Some(depth as u32)),
        _ => Err(InputError::new(Fault::NotADepth, word, 0)),
    }
}

/// Reads thresholds in us and puts them into `thresholds`: pairs of a part and a number, or a number
/// alone, which is that of the total; 0 takes one away. Lines that begin with `#` are comments.
/// Changes nothing if something is wrong.
pub(crate) fn parse_thresholds(text: &[u8], thresholds: &mut Thresholds) -> Result<(), InputError> {
    let mut new = *thresholds;
    let mut part = None;
    let mut last: &[u8] = &[];
    let wrong = |word: &[u8]| InputError::new(Fault::NotAThreshold, word, 0);
    let lines = text.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.trim_ascii_start().starts_with(b"#")) {
        for word in line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
        {
            last = word;
            let named = Part::ALL
                .into_iter()
                .find(|part| part.name().as_bytes() == word);
            match (named, number(word).and_then(|us| us.checked_mul(1000))) {
                (Some(named), _) if part.is_none() => part = Some(named),
                (None, Some(ns)) => new.set(part.take().unwrap_or(Part::Total), ns),
                _ => return Err(wrong(word)),
            }
        }
    }
    if part.is_some() {
        return Err(wrong(last));
    }
    *thresholds = new;
    Ok(())
}

/// A decimal number.
fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
