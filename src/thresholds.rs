// SPDX-License-Identifier: GPL-2.0

//! The limits that a call must meet to be recorded: maximum depth and minimum duration.

use kernel::sync::atomic::Atomic;

use crate::{
    filter::{
        error::{
            Fault,
            InputError, //
        },
        input::Written, //
    },
    relaxed_u64::RelaxedU64,
    time_split::Split, //
};

/// The kind of time of a call that a threshold applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TimeKind {
    Total,
    Run,
    Wait,
    Block,
}

impl TimeKind {
    /// All kinds, in the order in which they are shown.
    pub(crate) const ALL: [Self; 4] = [Self::Total, Self::Run, Self::Wait, Self::Block];

    /// Returns the name of the kind in the control file.
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

/// Thresholds in ns, one for each kind of time; 0 means none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Thresholds([u64; 4]);

impl Thresholds {
    /// Returns the threshold of one kind of time.
    pub(crate) fn get(&self, kind: TimeKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or(0)
    }

    /// Sets the threshold of one kind of time.
    pub(crate) fn set(&mut self, kind: TimeKind, ns: u64) {
        if let Some(place) = self.0.get_mut(kind as usize) {
            *place = ns;
        }
    }

    /// Returns the smallest threshold, 0 if none is set.
    pub(crate) fn shortest(&self) -> u64 {
        let some = self.0.into_iter().filter(|ns| *ns != 0);
        some.min().unwrap_or(0)
    }

    /// Returns whether a call reaches at least one of the thresholds.
    pub(crate) fn reached_by(&self, split: &Split) -> bool {
        let reached = |kind: TimeKind| match self.get(kind) {
            0 => false,
            ns => kind.of(split) >= ns,
        };
        TimeKind::ALL.into_iter().any(reached)
    }
}

/// The limits of one trace array.
///
/// Calls read them in any context while they change: a call may see a mix of old and new limits.
#[derive(Default)]
pub(crate) struct Limits {
    thresholds: [RelaxedU64; 4],
    /// The kernel's own `tracing_thresh` if it applies to this trace array, else 0.
    tracing_thresh: RelaxedU64,
    /// The smallest of [`Limits::all_thresholds`].
    least: RelaxedU64,
    max_depth: RelaxedU64,
}

impl Limits {
    /// Returns the smallest threshold in ns, 0 if none is set. A shorter call cannot reach any
    /// threshold; a longer one must be checked in detail.
    #[inline]
    pub(crate) fn least_ns(&self) -> u64 {
        self.least.get()
    }

    /// Returns the cell of [`Self::least_ns`]; the C fast path reads it on each call.
    pub(crate) fn least_ns_word(&self) -> &Atomic<u64> {
        self.least.as_atomic()
    }

    /// Returns the thresholds that were set for this trace array.
    pub(crate) fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (kind, word) in TimeKind::ALL.into_iter().zip(&self.thresholds) {
            thresholds.set(kind, word.get());
        }
        thresholds
    }

    /// Returns the effective thresholds: the kernel's `tracing_thresh` is used as the threshold of
    /// the total time if this trace array has none.
    pub(crate) fn all_thresholds(&self) -> Thresholds {
        let mut thresholds = self.thresholds();
        if thresholds.get(TimeKind::Total) == 0 {
            thresholds.set(TimeKind::Total, self.tracing_thresh.get());
        }
        thresholds
    }

    /// Sets the thresholds. Must not run concurrently with itself or with
    /// [`Limits::set_tracing_thresh`].
    pub(crate) fn set_thresholds(&self, thresholds: Thresholds) {
        for (kind, word) in TimeKind::ALL.into_iter().zip(&self.thresholds) {
            word.set(thresholds.get(kind));
        }
        self.least.set(self.all_thresholds().shortest());
    }

    /// Sets the kernel's `tracing_thresh`, in ns; 0 means none. Must not run concurrently with
    /// itself or with [`Limits::set_thresholds`].
    pub(crate) fn set_tracing_thresh(&self, ns: u64) {
        self.tracing_thresh.set(ns);
        self.least.set(self.all_thresholds().shortest());
    }

    /// Returns the maximum depth of recorded calls; 0 means no limit.
    #[inline]
    pub(crate) fn max_depth(&self) -> u32 {
        self.max_depth.get() as u32
    }

    /// Sets the maximum depth of recorded calls; 0 means no limit.
    pub(crate) fn set_max_depth(&self, depth: u32) {
        self.max_depth.set(u64::from(depth));
    }
}

/// Parses a depth. White space alone is 0 if it replaces the value, and invalid otherwise. `None`
/// if there are only comments.
pub(crate) fn parse_depth(text: &[u8], replace: bool) -> Result<Option<u32>, InputError> {
    parse_one(text, replace, Fault::NotADepth, |depth| {
        u32::try_from(depth).ok()
    })
}

/// Parses a time in us, and returns it in ns. For white space and comments, see [`parse_depth`].
pub(crate) fn parse_us(text: &[u8], replace: bool) -> Result<Option<u64>, InputError> {
    parse_one(text, replace, Fault::NotMicroseconds, |us| {
        us.checked_mul(1000)
    })
}

/// Parses one number, which `convert` checks.
fn parse_one<T: Default>(
    text: &[u8],
    replace: bool,
    fault: Fault,
    convert: impl FnOnce(u64) -> Option<T>,
) -> Result<Option<T>, InputError> {
    let word = match Written::new(text) {
        Written::Nothing if replace => return Ok(Some(T::default())),
        Written::Nothing => b"",
        Written::Comments => return Ok(None),
        Written::Value(word) => word,
    };
    let value = number(word).and_then(convert);
    value.map(Some).ok_or(InputError::new(fault, word, 0))
}

/// Parses thresholds in us and stores them in `thresholds`.
///
/// The text has pairs of the name of a kind of time and a number; a number alone is the threshold
/// of the total.
/// 0 removes a threshold. Lines that begin with `#` are comments. If the text is invalid,
/// `thresholds` is unchanged.
pub(crate) fn parse_thresholds(text: &[u8], thresholds: &mut Thresholds) -> Result<(), InputError> {
    let mut new = *thresholds;
    let mut kind = None;
    let mut last: &[u8] = &[];
    let wrong = |word: &[u8]| InputError::new(Fault::NotAThreshold, word, 0);
    let lines = text.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.trim_ascii_start().starts_with(b"#")) {
        for word in line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
        {
            last = word;
            let named = TimeKind::ALL
                .into_iter()
                .find(|kind| kind.name().as_bytes() == word);
            match (named, number(word).and_then(|us| us.checked_mul(1000))) {
                (Some(named), _) if kind.is_none() => kind = Some(named),
                (None, Some(ns)) => new.set(kind.take().unwrap_or(TimeKind::Total), ns),
                _ => return Err(wrong(word)),
            }
        }
    }
    if kind.is_some() {
        return Err(wrong(last));
    }
    *thresholds = new;
    Ok(())
}

/// Parses a decimal number; `None` if `word` is not one or exceeds 64 bits.
fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
