// SPDX-License-Identifier: GPL-2.0

//! The control file `triggers`.
//!
//! Each line that is written is a rule. A line must be written as a whole, by one `write()`.

use kernel::{
    alloc::AllocError,
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    sync::atomic::Relaxed, //
};

use super::{
    lists::NAMES,
    Control, //
};
use crate::{
    arrays::{
        rules::Refused,
        State,
        STATE, //
    },
    filter::error::{
        Fault,
        InputError, //
    },
    ktrace::{
        array::{
            actions::ArmedSnapshot,
            trace_array::pin,
            tracefs, //
        },
        task::pid_namespace::to_namespace,
    },
    trigger_rule::{
        Action,
        Rule, //
    },
    triggers::{
        installed::Hold,
        ActiveRule,
        MAX_RULES, //
    },
};

/// Rules that were read, each with the offset of its line.
struct ParsedRules {
    rules: KVec<ActiveRule>,
    offsets: KVec<usize>,
    /// Whether there were comments, but no rules.
    only_comments: bool,
}

/// The reason why rules were not accepted.
enum Wrong {
    Input(InputError),
    Memory,
}

impl From<InputError> for Wrong {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<AllocError> for Wrong {
    fn from(_: AllocError) -> Self {
        Self::Memory
    }
}

/// Returns a line without a comment: from a `#` that is first or behind white space to the end.
fn without_comment(line: &[u8]) -> &[u8] {
    let is_comment = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| line.get(at));
        line.get(*at) == Some(&b'#') && before.is_none_or(u8::is_ascii_whitespace)
    };
    let end = (0..line.len()).find(is_comment);
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

/// Reads the lines of `data`, for the top trace array if `is_top`, and adds them to `rules`.
fn read(
    data: &[u8],
    rules: KVec<ActiveRule>,
    is_top: bool,
) -> core::result::Result<ParsedRules, Wrong> {
    let mut all = ParsedRules {
        rules,
        offsets: KVec::new(),
        only_comments: false,
    };
    for _ in 0..all.rules.len() {
        all.offsets.push(0, GFP_KERNEL)?;
    }
    let (before, mut start) = (all.rules.len(), 0usize);
    for line in data.split(|byte| *byte == b'\n') {
        let text = without_comment(line);
        let skipped = text.len() - text.trim_ascii_start().len();
        let offset = start + skipped;
        let rule = text.trim_ascii();
        start += line.len() + 1;
        if rule.is_empty() {
            all.only_comments |= !line.trim_ascii().is_empty();
            continue;
        }
        let rule = Rule::parse(rule, offset, NAMES.pid)?;
        if rule.has(Action::Dump) && !is_top {
            return Err(InputError::new(Fault::NoDump, b"dump", offset).into());
        }
        if all.rules.len() == MAX_RULES {
            return Err(InputError::new(Fault::TooMany, rule.text().as_bytes(), offset).into());
        }
        all.rules.push(ActiveRule::new(rule)?, GFP_KERNEL)?;
        all.offsets.push(offset, GFP_KERNEL)?;
    }
    all.only_comments &= all.rules.len() == before;
    Ok(all)
}

impl Control {
    /// Replaces the rules, or adds to them. White space alone removes them if `replace` is set.
    pub(super) fn set_triggers(&mut self, data: &[u8]) -> Result {
        // Another writer may add rules at the same time.
        while !self.try_set_triggers(data)? {}
        Ok(())
    }

    /// Returns false if the rules have changed in between, so that this must be repeated.
    fn try_set_triggers(&mut self, data: &[u8]) -> Result<bool> {
        let mut old = KVec::new();
        let mut version = None;
        if !self.replace {
            self.with(|_, array| {
                version = Some(array.rules_version());
                for active in array.rules() {
                    old.push(active.copy(), GFP_KERNEL)?;
                }
                Ok::<_, Error>(())
            })??;
        }
        let before = old.len();
        let written = match read(data, old, self.tr.is_top()) {
            Ok(written) => written,
            Err(Wrong::Memory) => return Err(ENOMEM),
            Err(Wrong::Input(error)) => return Err(self.refuse(data, &error)),
        };
        if written.only_comments || (!self.replace && written.rules.len() == before) {
            return Ok(true);
        }
        let hold = match written.rules.is_empty() {
            true => None,
            false => Some(self.hold(&written.rules)?),
        };
        // The lock is released before what is left over is dropped.
        let (result, _hold) = {
            let mut state = STATE.lock();
            let state = state.as_mut().ok_or(ENODEV)?;
            state.set_rules(self.serial, version, written.rules, hold)
        };
        match result {
            Ok(()) => {
                self.replace = false;
                Ok(true)
            }
            Err(Refused::Changed) => Ok(false),
            Err(Refused::Rule(index, fault)) => {
                let line = written.offsets.get(index).copied().unwrap_or(0);
                let text = data.get(line..).unwrap_or_default();
                let word = text
                    .split(u8::is_ascii_whitespace)
                    .nth(1)
                    .unwrap_or_default();
                let error = InputError::new(fault, word, line);
                Err(self.refuse(data, &error))
            }
            Err(Refused::Error(error)) => Err(error),
        }
    }

    /// Takes what the rules need of the trace array. May sleep.
    fn hold(&self, rules: &[ActiveRule]) -> Result<Hold> {
        let (resolved, id) = {
            let state = STATE.lock();
            let resolved = state.as_ref().map(State::resolved).ok_or(ENODEV)?;
            (resolved, self.tr.id())
        };
        let takes = |active: &ActiveRule| active.rule().has(Action::Snapshot);
        let needs_snapshot = rules.iter().any(takes);
        Hold::new(pin(resolved, id)?, rules, |tr| {
            if !needs_snapshot {
                return Ok(None);
            }
            ArmedSnapshot::new(resolved, tr).map(Some).map_err(|_| {
                let error = InputError::new(Fault::NoSnapshot, b"snapshot", 0);
                self.refuse(b"", &error)
            })
        })
    }

    /// Returns whether a rule has fired since the file was opened or last read.
    pub(super) fn has_fired(&self) -> bool {
        let fired = self.with(|_, array| array.fired());
        fired.is_ok_and(|fired| fired != self.seen_fired.load(Relaxed))
    }

    pub(super) fn show_triggers(&self, out: &SeqFile) -> Result {
        self.with(|_, array| {
            self.seen_fired.store(array.fired(), Relaxed);
            for active in array.rules() {
                active.rule().write_text(|text, id| {
                    tracefs::write_bytes(out, text);
                    let Some(id) = id else { return };
                    // Other tasks than those of the reader's PID namespace have no id there.
                    match i32::try_from(id).ok().and_then(to_namespace) {
                        Some(id) => seq_print!(out, "{}", id),
                        None => seq_print!(out, "?"),
                    }
                });
                let (fired, last_ns) = active.fired();
                seq_print!(out, "  # fired: {}", fired);
                if fired != 0 {
                    let us = last_ns / 1000;
                    seq_print!(out, ", last at {}.{:06}", us / 1_000_000, us % 1_000_000);
                }
                if active.late_ns() != 0 {
                    let us = active.late_ns().div_ceil(1000);
                    seq_print!(out, ", actions at most {} us late", us);
                }
                seq_print!(out, "\n");
            }
        })
    }
}
