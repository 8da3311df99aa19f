// SPDX-License-Identifier: GPL-2.0

//! Parses the text written to a control file and creates the resulting filter.

use super::{
    decision::{
        ClearInherited, //
        Filter,
    },
    error::{
        Fault,
        InputError, //
    },
    ids::IdSet,
    list::{
        GlobSet,
        List,
        Lookup,
        NewList, //
    },
    tokens::{
        SplitError,
        Splitter, //
    },
};

/// A list of a [`Filter`], which has a control file of its own.
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
    /// `set_cgroup`
    Cgroup,
    /// `set_notrace_cgroup`
    NotraceCgroup,
}

impl ListName {
    /// Returns the inherited selections that become invalid when this list is replaced.
    pub(crate) fn clears_inherited(self) -> ClearInherited {
        let excludes = matches!(
            self,
            ListName::NotracePid
                | ListName::NotraceTgid
                | ListName::NotraceComm
                | ListName::NotraceCgroup
        );
        ClearInherited {
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
    /// Ids of cgroups, in ascending order.
    Cgroups(&'a IdSet<u64>),
}

impl Filter {
    /// Returns the list with that name.
    pub(crate) fn list(&self, name: ListName) -> ListRef<'_> {
        match name {
            ListName::Pid => ListRef::Ids(&self.pid),
            ListName::NotracePid => ListRef::Ids(&self.notrace_pid),
            ListName::Tgid => ListRef::Ids(&self.tgid),
            ListName::NotraceTgid => ListRef::Ids(&self.notrace_tgid),
            ListName::Comm => ListRef::Globs(&self.comm),
            ListName::NotraceComm => ListRef::Globs(&self.notrace_comm),
            ListName::Cgroup => ListRef::Cgroups(&self.cgroup),
            ListName::NotraceCgroup => ListRef::Cgroups(&self.notrace_cgroup),
        }
    }
}

/// The entries of an input: ids, patterns or cgroups.
enum Entries {
    Ids(NewList<IdSet>),
    Globs(NewList<GlobSet>),
    Cgroups(NewList<IdSet<u64>>),
}

/// The text that is written for one list.
///
/// It may be passed in pieces of any size. Nothing takes effect until [`Input::take`] has created
/// the new filter. After an error the whole input is rejected: every later call returns the same
/// error.
pub(crate) struct Input {
    name: ListName,
    names: &'static Lookup,
    splitter: Splitter,
    entries: Entries,
    failed: Option<InputError>,
}

impl Input {
    /// Creates an empty input for the list with that name.
    pub(crate) fn new(name: ListName, names: &'static Lookup) -> Self {
        let (entries, max_word) = match name {
            ListName::Pid | ListName::NotracePid | ListName::Tgid | ListName::NotraceTgid => {
                (Entries::Ids(NewList::default()), IdSet::<i32>::MAX_WORD)
            }
            ListName::Comm | ListName::NotraceComm => {
                (Entries::Globs(NewList::default()), GlobSet::MAX_WORD)
            }
            ListName::Cgroup | ListName::NotraceCgroup => {
                (Entries::Cgroups(NewList::default()), IdSet::<u64>::MAX_WORD)
            }
        };
        Self {
            name,
            names,
            splitter: Splitter::new(max_word),
            entries,
            failed: None,
        }
    }

    /// Processes the next piece of text. A word at the end of the piece stays unfinished, because
    /// the next piece may continue it. May sleep.
    pub(crate) fn write(&mut self, text: &[u8]) -> Result<(), InputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = match &mut self.entries {
            Entries::Ids(entries) => feed(&mut self.splitter, entries, text, self.names),
            Entries::Globs(entries) => feed(&mut self.splitter, entries, text, self.names),
            Entries::Cgroups(entries) => feed(&mut self.splitter, entries, text, self.names),
        };
        self.remember(result)
    }

    /// Ends the text, which completes a word at its end. Text that is written afterwards is parsed
    /// as a new text for the same list. May sleep.
    pub(crate) fn finish(&mut self) -> Result<(), InputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = match &mut self.entries {
            Entries::Ids(entries) => finish(&mut self.splitter, entries, self.names),
            Entries::Globs(entries) => finish(&mut self.splitter, entries, self.names),
            Entries::Cgroups(entries) => finish(&mut self.splitter, entries, self.names),
        };
        self.remember(result)
    }

    /// Rejects this input as too large, including text that is written later.
    pub(crate) fn refuse_size(&mut self) -> InputError {
        self.refuse(Fault::TooMany)
    }

    /// Rejects this input, including text that is written later, because the text could not be
    /// copied from user space or its entries could not take effect.
    pub(crate) fn give_up(&mut self) {
        self.refuse(Fault::NoMemory);
    }

    fn refuse(&mut self, fault: Fault) -> InputError {
        let error = InputError::new(fault, b"", 0);
        self.failed = Some(error);
        error
    }

    /// Returns whether the input was rejected.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Returns whether there are entries that [`Input::take`] has not yet taken.
    pub(crate) fn has_entries(&self) -> bool {
        match &self.entries {
            Entries::Ids(entries) => !entries.is_empty(),
            Entries::Globs(entries) => !entries.is_empty(),
            Entries::Cgroups(entries) => !entries.is_empty(),
        }
    }

    /// Returns whether there is an unfinished word, which the next piece may continue.
    pub(crate) fn has_half_word(&self) -> bool {
        !self.splitter.pending().is_empty()
    }

    /// Takes the complete entries written so far, and returns the filter that results from them:
    /// `current` with this list replaced or, without `replace`, extended. An unfinished word at the
    /// end is left; text that is written later creates new entries. May sleep.
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
            Entries::Cgroups(entries) => {
                let list = match self.name {
                    ListName::NotraceCgroup => &mut filter.notrace_cgroup,
                    _ => &mut filter.cgroup,
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

/// Replaces a list by the result of `make`, which is called with the old list.
fn replace_by<L>(
    list: &mut L,
    make: impl FnOnce(&L) -> Result<L, InputError>,
) -> Result<(), InputError> {
    *list = make(list)?;
    Ok(())
}

/// The text written to a file that has one value. Lines that begin with `#` are comments.
pub(crate) enum Written<'a> {
    /// The text is empty or white space.
    Nothing,
    /// The text has only comments and perhaps white space.
    Comments,
    /// The only line with a value, trimmed; the whole text, trimmed, if several lines have a value.
    Value(&'a [u8]),
}

impl<'a> Written<'a> {
    /// Classifies `text`.
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

/// Parses a boolean value: `0` or `1`. Returns `None` if there are only comments.
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
    entries: &mut NewList<L>,
    text: &[u8],
    names: &Lookup,
) -> Result<(), InputError> {
    let result = splitter.feed(text, |word, offset| entries.push(word, offset, names));
    result.map_err(|error| input_error::<L>(error, splitter))
}

fn finish<L: List>(
    splitter: &mut Splitter,
    entries: &mut NewList<L>,
    names: &Lookup,
) -> Result<(), InputError> {
    let result = splitter.finish(|word, offset| entries.push(word, offset, names));
    result.map_err(|error| input_error::<L>(error, splitter))
}

/// Converts the splitter's error to an error of a list.
fn input_error<L: List>(error: SplitError<InputError>, splitter: &Splitter) -> InputError {
    match error {
        SplitError::TokenTooLong(offset) => {
            InputError::new(L::WORD_TOO_LONG, splitter.pending(), offset)
        }
        SplitError::Nul(offset) => InputError::new(Fault::Nul, splitter.pending(), offset),
        SplitError::NoMemory => InputError::new(Fault::NoMemory, b"", 0),
        SplitError::Refused(error) => error,
    }
}
