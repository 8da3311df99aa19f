// SPDX-License-Identifier: GPL-2.0

//! The errors that input to a control file, or to an option, can have.

use core::ffi::CStr;

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    glob::{
        GlobError,
        MAX_COMM, //
    },
    ids::IdError,
    tokens::MAX_TOKEN, //
};

/// One kind of invalid input.
///
/// The discriminant is the index into [`Fault::MESSAGES`], which is what `tracing_log_err()` in
/// `kernel/trace/trace.c` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// A word in a list of ids is not a decimal number.
    NotANumber = 0,
    /// A number that is not a valid task id.
    OutOfRange,
    /// A pattern that is too long to match any task's name.
    NameTooLong,
    /// An empty pattern.
    Empty,
    /// A `[` without a closing `]`.
    UnterminatedClass,
    /// A `\` with nothing after it.
    TrailingBackslash,
    /// A control character in a pattern.
    ControlCharacter,
    /// A NUL byte in the input.
    Nul,
    /// More entries than the list can hold.
    TooMany,
    /// A boolean file was given a value other than 0 or 1.
    NotASwitch,
    /// Out of memory while the new list is built.
    NoMemory,
    /// A depth is not a decimal number of 32 bits.
    NotADepth,
    /// A threshold is not a decimal number, or not preceded by the name of a kind of time.
    NotAThreshold,
    /// Packed records were requested for a persistent ring buffer.
    NotPacked,
    /// Packed records were requested, but this kernel does not support them.
    NoPacks,
    /// A trigger rule has more bytes than are kept.
    RuleTooLong,
    /// A rule does not begin with a known moment.
    NotAMoment,
    /// A rule is incomplete, or has words after its end.
    NotARule,
    /// A rule about calls without the name of a function.
    NotAFunction,
    /// No function that can be traced has the name in a rule.
    NoFunction,
    /// A rule about signals without the name or the number of one.
    NotASignal,
    /// A rule has too many conditions or actions.
    TooManyParts,
    /// A condition compares something unknown, or in an unknown way.
    NotACondition,
    /// A condition compares what is not known at the moment of its rule.
    NotKnown,
    /// A time without a unit, or not a number.
    NotATime,
    /// A condition or a limit is not a number.
    NotAValue,
    /// A rule has an unknown action.
    NotAnAction,
    /// A snapshot cannot be taken of this buffer.
    NoSnapshot,
    /// The buffer of an instance cannot be printed to the console.
    NoDump,
    /// An action that is possible only at the moment itself.
    NotDelayed,
    /// A pattern that is too long to match the name of any marker.
    MarkerTooLong,
    /// A time in us is not a decimal number, or too large.
    NotMicroseconds,
    /// No task has this id in the PID namespace of the task that writes.
    NoTask,
    /// There is no such cgroup.
    NoCgroup,
}

impl Fault {
    /// Messages for the user, indexed by discriminant.
    pub(crate) const MESSAGES: [&'static CStr; 34] = [
        c"Invalid number (expected a decimal PID)",
        c"PID out of range",
        c"Name longer than 15 bytes, which is all that the kernel keeps of it",
        c"Empty pattern",
        c"Missing ] in pattern",
        c"Backslash at the end of the pattern",
        c"Control character in pattern",
        c"NUL byte in input",
        c"Too many entries",
        c"Invalid value (expected 0 or 1)",
        c"Out of memory",
        c"Invalid depth (expected a number from 0 to 4294967295)",
        c"Invalid threshold (expected [total|run|wait|block] US)",
        c"Compact records are not supported in a persistent buffer",
        c"Compact records are not supported with this kernel",
        c"Rule longer than 256 bytes",
        c"Unknown moment (entry|exit|run|wait|block|signal|exec|exit-task|section|counter|marker|irqs-off|preempt-off|after)",
        c"Invalid rule (expected WHEN [if CONDITION] do ACTION[, ACTION][:COUNT])",
        c"Missing function (expected 'entry FUNCTION' or 'exit FUNCTION')",
        c"No such function to trace",
        c"Unknown signal (expected a name, a number, or 'fatal')",
        c"More than 4 conditions or actions",
        c"Invalid condition (total, run, wait, block, retval, sig, code, value, pid; comm ~ GLOB)",
        c"Not known at this moment",
        c"Invalid time (expected a number with a unit: 500us, 20ms, 2s)",
        c"Invalid number (expected a decimal number, or a count of at least 1)",
        c"Unknown action (start, stop, snapshot, stacktrace, dump)",
        c"No snapshot of this buffer is possible",
        c"Only the top trace array can be printed to the console",
        c"This action cannot be delayed",
        c"Name longer than 55 bytes, which is all that is compared",
        c"Invalid time (expected a number of microseconds)",
        c"No such task in your PID namespace",
        c"No such cgroup (expected a path as in /proc/PID/cgroup, or an id)",
    ];

    /// Returns the index of this fault in [`Fault::MESSAGES`].
    pub(crate) const fn index(self) -> u8 {
        self as u8
    }

    /// Returns the message for the user.
    #[cfg(test)]
    pub(crate) fn message(self) -> &'static CStr {
        Self::MESSAGES
            .get(usize::from(self.index()))
            .copied()
            .unwrap_or(c"Invalid input")
    }

    /// Returns the error that the `write()` fails with.
    pub(crate) fn errno(self) -> Error {
        match self {
            Fault::OutOfRange => ERANGE,
            // The kernel crate does not define `ENAMETOOLONG`.
            Fault::NameTooLong | Fault::MarkerTooLong => {
                Error::from_errno(-(bindings::ENAMETOOLONG as c_int))
            }
            Fault::TooMany => ENOSPC,
            Fault::NoMemory => ENOMEM,
            Fault::NoTask => ESRCH,
            Fault::NoCgroup => ENOENT,
            Fault::NotPacked | Fault::NoPacks | Fault::NoSnapshot | Fault::NoDump => {
                Error::from_errno(-(bindings::EOPNOTSUPP as c_int))
            }
            Fault::NotANumber
            | Fault::Empty
            | Fault::UnterminatedClass
            | Fault::TrailingBackslash
            | Fault::ControlCharacter
            | Fault::Nul
            | Fault::NotASwitch
            | Fault::NotADepth
            | Fault::NotMicroseconds
            | Fault::NotAThreshold
            | Fault::RuleTooLong
            | Fault::NotAMoment
            | Fault::NotARule
            | Fault::NotAFunction
            | Fault::NoFunction
            | Fault::NotASignal
            | Fault::TooManyParts
            | Fault::NotACondition
            | Fault::NotKnown
            | Fault::NotATime
            | Fault::NotAValue
            | Fault::NotAnAction
            | Fault::NotDelayed => EINVAL,
        }
    }
}

impl From<GlobError> for Fault {
    fn from(error: GlobError) -> Self {
        match error {
            GlobError::Empty => Fault::Empty,
            GlobError::TooLong => Fault::NameTooLong,
            GlobError::UnterminatedClass => Fault::UnterminatedClass,
            GlobError::TrailingBackslash => Fault::TrailingBackslash,
            GlobError::ControlCharacter => Fault::ControlCharacter,
        }
    }
}

impl From<IdError> for Fault {
    fn from(error: IdError) -> Self {
        match error {
            IdError::NotANumber => Fault::NotANumber,
            IdError::OutOfRange => Fault::OutOfRange,
        }
    }
}

/// Invalid input: the fault, the word and its offset.
///
/// # Invariants
///
/// `len` is at most [`MAX_TOKEN`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputError {
    fault: Fault,
    offset: usize,
    token: [u8; MAX_TOKEN],
    len: usize,
}

impl InputError {
    /// Creates an error for `token`, which begins `offset` bytes into the input.
    ///
    /// A token longer than [`MAX_TOKEN`] is truncated.
    pub(crate) fn new(fault: Fault, token: &[u8], offset: usize) -> Self {
        let mut copy = [0; MAX_TOKEN];
        for (to, from) in copy.iter_mut().zip(token) {
            *to = *from;
        }
        // INVARIANT: `min()` limits the length to that of `copy`, which is `MAX_TOKEN`.
        Self {
            fault,
            offset,
            token: copy,
            len: token.len().min(MAX_TOKEN),
        }
    }

    /// Returns the kind of error.
    pub(crate) fn fault(&self) -> Fault {
        self.fault
    }

    /// Returns the rejected word, or the part of it that had been read. It is empty if the error is
    /// not about one word.
    pub(crate) fn token(&self) -> &[u8] {
        self.token.get(..self.len).unwrap_or_default()
    }

    /// Returns the offset of the rejected word, in bytes from the start of the input.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the comm that the kernel would keep of a name that is too long. `None` for other
    /// faults, and for patterns with wildcards or backslashes.
    pub(crate) fn kept_comm(&self) -> Option<&[u8]> {
        let is_plain = |byte: &u8| !b"*?[\\".contains(byte);
        let is_name = self.fault == Fault::NameTooLong && self.token().iter().all(is_plain);
        self.token().get(..MAX_COMM).filter(|_| is_name)
    }

    /// Returns the error that the `write()` fails with.
    pub(crate) fn errno(&self) -> Error {
        self.fault.errno()
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        error.errno()
    }
}
