// SPDX-License-Identifier: GPL-2.0

//! What can be wrong with the text written to a control file.

use core::ffi::CStr;

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    glob::GlobError,
    ids::IdError,
    tokens::MAX_TOKEN, //
};

/// One kind of bad input.
///
/// The discriminant is the index into [`Fault::MESSAGES`], which is the form that
/// `tracing_log_err()` in `kernel/trace/trace.c` wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// A word in a list of ids is not a decimal number.
    NotANumber = 0,
    /// A number that no task can have as its id.
    OutOfRange,
    /// A pattern that is longer than what any task's name can match.
    NameTooLong,
    /// An empty pattern.
    Empty,
    /// A `[` without its `]`.
    UnterminatedClass,
    /// A `\` with nothing after it.
    TrailingBackslash,
    /// A control character in a pattern.
    ControlCharacter,
    /// A NUL byte: the input is no text.
    Nul,
    /// More entries than the list can hold.
    TooMany,
    /// A switch was given something other than 0 or 1.
    NotASwitch,
    /// No memory to build the new list.
    NoMemory,
    /// A depth is not a decimal number that can be one.
    NotADepth,
    /// A threshold is not a number, or not of a part of a call's time.
    NotAThreshold,
    /// Calls cannot be packed in a buffer that outlives the kernel.
    NotPacked,
    /// The kernel does not do what packs rely on.
    NoPacks,
}

impl Fault {
    /// What to tell the user, by discriminant.
    pub(crate) const MESSAGES: [&'static CStr; 15] = [
        c"Not a decimal number",
        c"PID out of range",
        c"No task's name is so long: 15 bytes, as trace shows it, also of kernel threads",
        c"Empty pattern",
        c"Missing ] in pattern",
        c"Nothing follows the backslash",
        c"Control character in pattern",
        c"NUL byte in input",
        c"Too many entries",
        c"Neither 0 nor 1",
        c"Out of memory",
        c"Not a depth",
        c"Not a time in us, or none of total, run, wait, block before it",
        c"Compact records are not supported in a persistent buffer",
        c"Compact records are not supported with this kernel",
    ];

    /// The index of this fault in [`Fault::MESSAGES`].
    pub(crate) const fn index(self) -> u8 {
        self as u8
    }

    /// What to tell the user.
    #[cfg(test)]
    pub(crate) fn message(self) -> &'static CStr {
        Self::MESSAGES
            .get(usize::from(self.index()))
            .copied()
            .unwrap_or(c"Invalid input")
    }

    /// What the `write()` returns.
    pub(crate) fn errno(self) -> Error {
        match self {
            Fault::OutOfRange => ERANGE,
            // The kernel crate has no name for this one.
            Fault::NameTooLong => Error::from_errno(-(bindings::ENAMETOOLONG as c_int)),
            Fault::TooMany => ENOSPC,
            Fault::NoMemory => ENOMEM,
            Fault::NotPacked | Fault::NoPacks => Error::from_errno(-(bindings::EOPNOTSUPP as c_int)),
            Fault::NotANumber
            | Fault::Empty
            | Fault::UnterminatedClass
            | Fault::TrailingBackslash
            | Fault::ControlCharacter
            | Fault::Nul
            | Fault::NotASwitch
            | Fault::NotADepth
            | Fault::NotAThreshold => EINVAL,
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

/// Bad input: what is wrong, with which word, and where.
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
    /// Records that `fault` was found with `token`, which began `offset` bytes into the input.
    ///
    /// Of a token longer than [`MAX_TOKEN`] the beginning is kept.
    pub(crate) fn new(fault: Fault, token: &[u8], offset: usize) -> Self {
        let mut copy = [0; MAX_TOKEN];
        for (to, from) in copy.iter_mut().zip(token) {
            *to = *from;
        }
        // INVARIANT: The length is at most that of `copy`.
        Self {
            fault,
            offset,
            token: copy,
            len: token.len().min(MAX_TOKEN),
        }
    }

    /// What was wrong.
    pub(crate) fn fault(&self) -> Fault {
        self.fault
    }

    /// The word that was refused, or as much of it as had been read; empty if it was not about one
    /// word.
    pub(crate) fn token(&self) -> &[u8] {
        self.token.get(..self.len).unwrap_or_default()
    }

    /// Where that word begins, in bytes from the start of the input.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// What the `write()` returns.
    pub(crate) fn errno(&self) -> Error {
        self.fault.errno()
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        error.errno()
    }
}
