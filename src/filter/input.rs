// SPDX-License-Identifier: GPL-2.0

//! From the text written to a control file to the filter that results.

use super::{
    error::{
        Fault,
        InputError, //
    },
    ids::IdSet,
    list::{
        GlobSet,
        List,
        Pending, //
    },
    tokens::{
        SplitError,
        Splitter, //
    },
    verdict::{
        Filter,
        Forget, //
    },
};

/// A list of a [`Filter`], as one control file shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListName {
    /// `set_pid`
    Pid,
    /// `set_notrace_pid`
    NotracePid,
    /// `set_tgid`
    Tgid,
    /// `set_notrace_tgid`
    NotraceTgid,
    /// `set_comm`
    Comm,
    /// `set_notrace_comm`
    NotraceComm,
}

impl ListName {
    /// What does not count any more when this list is replaced.
    pub(crate) fn forgotten_with(self) -> Forget {
        let excludes = matches!(
            self,
            ListName::NotracePid | ListName::NotraceTgid | ListName::NotraceComm
        );
        Forget {
            traced: !excludes,
            excluded: excludes,
        }
    }
}

/// The contents of a list, for printing.
pub(crate) enum ListRef<'a> {
    /// Ids, in ascending order.
    Ids(&'a IdSet),
    /// Patterns, in the order in which they were written.
    Globs(&'a GlobSet),
}

impl Filter {
    /// The list of that name.
    pub(crate) fn list(&self, name: ListName) -> ListRef<'_> {
        match name {
            ListName::Pid => ListRef::Ids(&self.pid),
            ListName::NotracePid => ListRef::Ids(&self.notrace_pid),
            ListName::Tgid => ListRef::Ids(&self.tgid),
            ListName::NotraceTgid => ListRef::Ids(&self.notrace_tgid),
            ListName::Comm => ListRef::Globs(&self.comm),
            ListName::NotraceComm => ListRef::Globs(&self.notrace_comm),
        }
    }
}

/// The entries of an input, of either kind.
enum Entries {
    Ids(Pending<IdSet>),
    Globs(Pending<GlobSet>),
}

/// The text for one list, while it is being written.
///
/// It can come in pieces of any size. Nothing is in force until [`Input::take`] has made the new
/// filter, and after the first error nothing ever will be: every later call gives that error again.
pub(crate) struct Input {
    name: ListName,
    splitter: Splitter,
    entries: Entries,
    failed: Option<InputError>,
}

impl Input {
    /// An input for the list of that name, nothing written yet.
    pub(crate) fn new(name: ListName) -> Self {
        let entries = match name {
            ListName::Pid | ListName::NotracePid | ListName::Tgid | ListName::NotraceTgid => {
                Entries::Ids(Pending::default())
            }
            ListName::Comm | ListName::NotraceComm => Entries::Globs(Pending::default()),
        };
        Self {
            name,
            splitter: Splitter::new(),
            entries,
            failed: None,
        }
    }

    /// Takes the next piece of text. A word at its very end is looked at later: there may be more
    /// of it to come. May sleep.
    pub(crate) fn write(&mut self, text: &[u8]) -> Result<(), InputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = match &mut self.entries {
            Entries::Ids(entries) => feed(&mut self.splitter, entries, text),
            Entries::Globs(entries) => feed(&mut self.splitter, entries, text),
        };
        self.remember(result)
    }

    /// Ends the text, so that a word at its end counts. More may be written afterwards, and is then
    /// a text of its own for the same list. May sleep.
    pub(crate) fn finish(&mut self) -> Result<(), InputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = match &mut self.entries {
            Entries::Ids(entries) => finish(&mut self.splitter, entries),
            Entries::Globs(entries) => finish(&mut self.splitter, entries),
        };
        self.remember(result)
    }

    /// Refuses this input as too much, whatever was written and will be.
    pub(crate) fn refuse_size(&mut self) -> InputError {
        self.refuse(Fault::TooMany)
    }

    /// The same where what was written cannot be looked at, or what was taken not be put into force.
    pub(crate) fn give_up(&mut self) {
        self.refuse(Fault::NoMemory);
    }

    fn refuse(&mut self, fault: Fault) -> InputError {
        let error = InputError::new(fault, b"", 0);
        self.failed = Some(error);
        error
    }

    /// Whether an error was met, so that nothing of this input will ever be in force.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether there are entries that [`Input::take`] has not taken.
    pub(crate) fn has_entries(&self) -> bool {
        match &self.entries {
            Entries::Ids(entries) => !entries.is_empty(),
            Entries::Globs(entries) => !entries.is_empty(),
        }
    }

    /// Whether a word has begun that may go on in the next piece.
    pub(crate) fn has_half_word(&self) -> bool {
        !self.splitter.pending().is_empty()
    }

    /// Takes the entries that were written so far, a word at the very end excepted, and makes the
    /// filter that results from them: `current`, with this list replaced or, without `replace`,
    /// added to. What is written afterwards makes new entries. May sleep.
    pub(crate) fn take(&mut self, replace: bool, current: &Filter) -> Result<Filter, InputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let Ok(mut filter) = current.try_clone() else {
            return Err(self.refuse(Fault::NoMemory));
        };
        let result = match &mut self.entries {
            Entries::Ids(entries) => {
                let list = match self.name {
                    ListName::NotracePid => &mut filter.notrace_pid,
                    ListName::Tgid => &mut filter.tgid,
                    ListName::NotraceTgid => &mut filter.notrace_tgid,
                    _ => &mut filter.pid,
                };
                replace_by(list, |list| core::mem::take(entries).commit(replace, list))
            }
            Entries::Globs(entries) => {
                let list = match self.name {
                    ListName::NotraceComm => &mut filter.notrace_comm,
                    _ => &mut filter.comm,
                };
                replace_by(list, |list| core::mem::take(entries).commit(replace, list))
            }
        };
        self.remember(result)?;
        Ok(filter)
    }

    fn remember(&mut self, result: Result<(), InputError>) -> Result<(), InputError> {
        self.failed = result.err();
        result
    }
}

/// Puts what `make` makes of a list in its place.
fn replace_by<L>(
    list: &mut L,
    make: impl FnOnce(&L) -> Result<L, InputError>,
) -> Result<(), InputError> {
    *list = make(list)?;
    Ok(())
}

/// What was written to a file that has one value. Lines that begin with `#` are comments.
pub(crate) enum Written<'a> {
    /// Nothing but white space.
    Nothing,
    /// Nothing but comments, and maybe white space.
    Comments,
    /// The line that is neither, without the white space around it; all the text if there are several.
    Value(&'a [u8]),
}

impl<'a> Written<'a> {
    /// What `text` is.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Self::Nothing;
        }
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut values = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        match (values.next(), values.next()) {
            (None, _) => Self::Comments,
            (Some(value), None) => Self::Value(value),
            _ => Self::Value(text),
        }
    }
}

/// Reads a switch: `0` or `1`. `None` if there are only comments.
pub(crate) fn parse_switch(text: &[u8]) -> Result<Option<bool>, InputError> {
    match Written::new(text) {
        Written::Comments => Ok(None),
        Written::Value(b"0") => Ok(Some(false)),
        Written::Value(b"1") => Ok(Some(true)),
        Written::Value(word) => Err(InputError::new(Fault::NotASwitch, word, 0)),
        Written::Nothing => Err(InputError::new(Fault::NotASwitch, b"", 0)),
    }
}

fn feed<L: List>(
    splitter: &mut Splitter,
    entries: &mut Pending<L>,
    text: &[u8],
) -> Result<(), InputError> {
    let result = splitter.feed(text, |word, offset| entries.push(word, offset));
    result.map_err(|error| input_error::<L>(error, splitter))
}

fn finish<L: List>(splitter: &mut Splitter, entries: &mut Pending<L>) -> Result<(), InputError> {
    let result = splitter.finish(|word, offset| entries.push(word, offset));
    result.map_err(|error| input_error::<L>(error, splitter))
}

/// What the splitter's error means for a list.
fn input_error<L: List>(error: SplitError<InputError>, splitter: &Splitter) -> InputError {
    match error {
        SplitError::TokenTooLong(offset) => {
            InputError::new(L::WORD_TOO_LONG, splitter.pending(), offset)
        }
        SplitError::Nul(offset) => InputError::new(Fault::Nul, splitter.pending(), offset),
        SplitError::Refused(error) => error,
    }
}
