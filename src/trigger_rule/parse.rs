// SPDX-License-Identifier: GPL-2.0

//! Reads a trigger rule: `WHEN [if CONDITION [&& CONDITION]...] do ACTION [after
//! TIME][, ACTION [after TIME]]...[:COUNT]`.

use super::{
    words::{
        find,
        ACTIONS,
        COMPARISONS,
        MAX_SIGNAL,
        MOMENTS,
        QUANTITIES,
        SIGNALS,
        UNITS, //
    },
    Action,
    Compare,
    Condition,
    Moment,
    Quantity,
    Rule,
    RuleText,
    Signals,
    MAX_FUNCTION,
    MAX_NAME,
    MAX_PARTS,
    MAX_RULE, //
};
use crate::filter::{
    error::{
        Fault,
        InputError, //
    },
    glob::{
        Glob,
        GlobError, //
    },
};

/// The part of a rule that was not read yet.
struct RuleCursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The offset of the rule in the input.
    base: usize,
    /// Returns the global id of the task that has this id for the writer.
    global_pid: fn(i32) -> Option<i32>,
}

/// A word and its offset in the rule.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> RuleCursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next bytes that `belongs` accepts, after white space.
    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> Word<'a> {
        let skipped = self
            .rest()
            .iter()
            .position(|byte| !byte.is_ascii_whitespace());
        self.at += skipped.unwrap_or(self.rest().len());
        let rest = self.rest();
        let end = rest.iter().position(|byte| !belongs(*byte));
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let word = Word { text, at: self.at };
        self.at += text.len();
        word
    }

    /// Returns the next word up to white space.
    fn word(&mut self) -> Word<'a> {
        self.take(|byte| !byte.is_ascii_whitespace())
    }

    /// Returns the next name: letters, digits and hyphens.
    fn name(&mut self) -> Word<'a> {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    }

    /// Returns the next mark, such as `&&` or a comma.
    fn mark(&mut self) -> Word<'a> {
        self.take(|byte| byte.is_ascii_punctuation() && byte != b'-')
    }

    fn refuse(&self, fault: Fault, word: Word<'_>) -> InputError {
        InputError::new(fault, word.text, self.base.saturating_add(word.at))
    }

    fn glob(&self, word: Word<'_>) -> Result<Glob, InputError> {
        Glob::new(word.text).map_err(|error| self.refuse(error.into(), word))
    }
}

/// Returns a decimal number, which may be negative.
fn number(text: &[u8]) -> Option<i64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns a time in ns: a number with a unit.
fn time(text: &[u8]) -> Option<i64> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit())?;
    let (count, unit) = text.split_at_checked(digits)?;
    let unit = i64::try_from(find(&UNITS, unit)?).ok()?;
    number(count)?.checked_mul(unit)
}

/// Returns the signals that a word selects: a name with or without `SIG`, a number, or `fatal`.
fn signals(word: &[u8]) -> Option<Signals> {
    if word == b"fatal" {
        return Some(Signals::Fatal);
    }
    if let Some(number) = number(word) {
        return (1..=MAX_SIGNAL)
            .contains(&number)
            .then_some(Signals::Number(number));
    }
    let name = word.strip_prefix(b"SIG").unwrap_or(word);
    let index = SIGNALS.iter().position(|known| *known == name)?;
    Some(Signals::Number(i64::try_from(index).ok()? + 1))
}

impl Rule {
    /// Reads a rule, which begins `base` bytes into the input. `text` must have no white space
    /// around it. `global_pid` returns the global id of the task that has an id for the writer.
    ///
    /// # Errors
    ///
    /// The fault and the word that has it.
    pub(crate) fn parse(
        text: &[u8],
        base: usize,
        global_pid: fn(i32) -> Option<i32>,
    ) -> Result<Self, InputError> {
        let mut input = RuleCursor {
            text,
            at: 0,
            base,
            global_pid,
        };
        let whole = Word { text, at: 0 };
        if text.len() > MAX_RULE {
            return Err(input.refuse(Fault::RuleTooLong, whole));
        }
        let when = input.word();
        let Some(moment) = find(&MOMENTS, when.text) else {
            return Err(input.refuse(Fault::NotAMoment, when));
        };
        // INVARIANT: An empty range is within any text.
        let mut rule = Self {
            text: RuleText::new(text),
            moment,
            function: (0, 0),
            name: None,
            signals: None,
            after_ns: 0,
            conditions: [None; MAX_PARTS],
            pids: [None; MAX_PARTS],
            reported: moment.reports(),
            actions: [None; MAX_PARTS],
            limit: u64::MAX,
        };
        rule.read_subject(&mut input)?;
        let mut word = input.word();
        if word.text == b"if" {
            word = rule.read_conditions(&mut input)?;
        }
        if word.text != b"do" {
            return Err(input.refuse(Fault::NotARule, word));
        }
        rule.read_actions(&mut input)?;
        if moment == Moment::After {
            rule.limit = 1;
        }
        Ok(rule)
    }

    /// Reads the function, name, signal or time behind the moment.
    fn read_subject(&mut self, input: &mut RuleCursor<'_>) -> Result<(), InputError> {
        match self.moment {
            Moment::Entry | Moment::Exit => {
                let word = input.word();
                if matches!(word.text, b"" | b"if" | b"do") || word.text.len() > MAX_FUNCTION {
                    return Err(input.refuse(Fault::NotAFunction, word));
                }
                // INVARIANT: The word is part of the text.
                self.function = (word.at, word.at + word.text.len());
            }
            Moment::Exec => {
                let word = input.word();
                self.name = Some(input.glob(word)?);
            }
            Moment::Marker | Moment::Counter | Moment::Section => {
                let word = input.word();
                let name = Glob::with_limit(word.text, MAX_NAME).map_err(|error| match error {
                    GlobError::TooLong => Fault::MarkerTooLong,
                    other => other.into(),
                });
                self.name = Some(name.map_err(|fault| input.refuse(fault, word))?);
            }
            Moment::Signal => {
                let word = input.word();
                let Some(signals) = signals(word.text) else {
                    return Err(input.refuse(Fault::NotASignal, word));
                };
                self.signals = Some(signals);
            }
            Moment::After => {
                let word = input.word();
                let ns = time(word.text).and_then(|ns| u64::try_from(ns).ok());
                self.after_ns = ns.ok_or(input.refuse(Fault::NotATime, word))?;
            }
            Moment::Run
            | Moment::Wait
            | Moment::Block
            | Moment::ExitTask
            | Moment::IrqsOff
            | Moment::PreemptOff => {}
        }
        Ok(())
    }

    /// Reads conditions. Returns the word after them.
    fn read_conditions<'a>(&mut self, input: &mut RuleCursor<'a>) -> Result<Word<'a>, InputError> {
        let mut is_first_number = true;
        for place in 0..MAX_PARTS {
            let condition = self.read_condition(input, place)?;
            if let (Condition::Number(quantity, ..), true) = (condition, is_first_number) {
                self.reported = quantity;
                is_first_number = false;
            }
            if let Some(place) = self.conditions.get_mut(place) {
                *place = Some(condition);
            }
            let word = input.word();
            if word.text != b"&&" {
                return Ok(word);
            }
        }
        let word = input.word();
        Err(input.refuse(Fault::TooManyParts, word))
    }

    fn read_condition(
        &mut self,
        input: &mut RuleCursor<'_>,
        place: usize,
    ) -> Result<Condition, InputError> {
        let name = input.name();
        let compare = input.mark();
        let value = input.word();
        if name.text == b"comm" {
            if self.moment == Moment::After {
                return Err(input.refuse(Fault::NotKnown, name));
            }
            if compare.text != b"~" {
                return Err(input.refuse(Fault::NotACondition, compare));
            }
            return Ok(Condition::Comm(input.glob(value)?));
        }
        let Some(quantity) = find(&QUANTITIES, name.text) else {
            return Err(input.refuse(Fault::NotACondition, name));
        };
        if !quantity.is_known_at(self.moment) {
            return Err(input.refuse(Fault::NotKnown, name));
        }
        // Ids of another PID namespace have no order here.
        let is_pid = quantity == Quantity::Pid;
        let is_equality = |found: &Compare| matches!(found, Compare::Equal | Compare::NotEqual);
        let Some(compare) =
            find(&COMPARISONS, compare.text).filter(|found| !is_pid || is_equality(found))
        else {
            return Err(input.refuse(Fault::NotACondition, compare));
        };
        if quantity.is_time() {
            let ns = time(value.text).ok_or(input.refuse(Fault::NotATime, value))?;
            return Ok(Condition::Number(quantity, compare, ns));
        }
        let mut number = number(value.text).ok_or(input.refuse(Fault::NotAValue, value))?;
        if is_pid {
            let id = i32::try_from(number).ok().filter(|id| *id >= 0);
            let id = id.and_then(input.global_pid);
            number = i64::from(id.ok_or(input.refuse(Fault::NoTask, value))?);
            if let Some(pid) = self.pids.get_mut(place) {
                // INVARIANT: The word is part of the text, behind those of earlier conditions.
                *pid = Some((value.at, value.at + value.text.len(), number));
            }
        }
        Ok(Condition::Number(quantity, compare, number))
    }

    /// Reads the actions and how often the rule may fire, up to the end of the rule.
    fn read_actions(&mut self, input: &mut RuleCursor<'_>) -> Result<(), InputError> {
        for place in 0..MAX_PARTS {
            let action = self.read_action(input)?;
            if let Some(place) = self.actions.get_mut(place) {
                *place = Some(action);
            }
            let mark = input.mark();
            match mark.text {
                b"," => continue,
                b"" => {}
                b":" => {
                    let count = input.word();
                    let limit = number(count.text).and_then(|count| u64::try_from(count).ok());
                    let limit = limit.filter(|limit| *limit != 0);
                    self.limit = limit.ok_or(input.refuse(Fault::NotAValue, count))?;
                }
                _ => return Err(input.refuse(Fault::NotARule, mark)),
            }
            let rest = input.word();
            return match rest.text {
                b"" => Ok(()),
                _ => Err(input.refuse(Fault::NotARule, rest)),
            };
        }
        let word = input.word();
        Err(input.refuse(Fault::TooManyParts, word))
    }

    /// Reads an action and its delay in ns.
    fn read_action(&self, input: &mut RuleCursor<'_>) -> Result<(Action, u64), InputError> {
        let word = input.name();
        let Some(action) = find(&ACTIONS, word.text) else {
            return Err(input.refuse(Fault::NotAnAction, word));
        };
        if action == Action::StackTrace && self.moment == Moment::After {
            return Err(input.refuse(Fault::NotKnown, word));
        }
        let before = input.at;
        if input.name().text != b"after" {
            input.at = before;
            return Ok((action, 0));
        }
        if action == Action::StackTrace {
            return Err(input.refuse(Fault::NotDelayed, word));
        }
        let delay = input.name();
        let ns = time(delay.text).and_then(|ns| u64::try_from(ns).ok());
        Ok((action, ns.ok_or(input.refuse(Fault::NotATime, delay))?))
    }
}

impl Moment {
    /// Returns the number that the event reports unless a condition is on another one.
    fn reports(self) -> Quantity {
        match self {
            Self::Exit | Self::Section | Self::IrqsOff | Self::PreemptOff | Self::After => {
                Quantity::Total
            }
            Self::Counter => Quantity::Value,
            Self::Run => Quantity::Run,
            Self::Wait => Quantity::Wait,
            Self::Block => Quantity::Block,
            Self::ExitTask => Quantity::Code,
            Self::Signal => Quantity::Sig,
            Self::Entry | Self::Exec | Self::Marker => Quantity::Pid,
        }
    }
}
