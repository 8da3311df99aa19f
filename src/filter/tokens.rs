// SPDX-License-Identifier: GPL-2.0

//! Splits the text written to a control file into words.
//!
//! Words are separated by white space. A `#` at the start of a line, or with only white space
//! before it, begins a comment that extends to the end of the line. So the output of a control
//! file, including its header, can be written back to it. A `\` makes the next byte part of the
//! word, whatever it is, and stays in the word for the pattern parser: `Web\ Content` is one word.
//!
//! The input may be passed in pieces of any size; a word that a piece leaves unfinished is kept and
//! continued by the next piece.

use kernel::prelude::*;

use super::glob::MAX_PATTERN;

/// Maximum length in bytes of a word that is an id or a pattern, and of the part of a word that an
/// error shows.
pub(crate) const MAX_TOKEN: usize = MAX_PATTERN;

/// The reason why the splitter stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitError<E> {
    /// The word that begins at this offset has more bytes than a word can have.
    TokenTooLong(usize),
    /// Out of memory.
    NoMemory,
    /// There is a NUL byte at this offset.
    Nul(usize),
    /// The callback that receives the words returned this error.
    Refused(E),
}

/// The position of the splitter in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePos {
    /// Only white space was read so far.
    Start,
    /// The first word of the line has begun.
    Words,
    /// In a comment.
    Comment,
    /// Directly after a `\` in a word.
    Escaped,
}

/// The state of the splitter between two pieces of input.
pub(crate) struct Splitter {
    /// The unfinished word.
    token: KVec<u8>,
    /// The maximum length of a word.
    limit: usize,
    /// The offset of the first byte of the unfinished word.
    start: usize,
    /// The offset of the next byte.
    offset: usize,
    pos: LinePos,
}

impl Splitter {
    /// Creates a splitter at the start of its input, for words of up to `limit` bytes.
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            token: KVec::new(),
            limit,
            start: 0,
            offset: 0,
            pos: LinePos::Start,
        }
    }

    /// Processes the next piece of input, and calls `receive` for each word that ends in it, with
    /// the offset of the word from the start of the whole input. May sleep.
    ///
    /// # Errors
    ///
    /// The first error found, or the first error of `receive`. The rest of the piece is discarded
    /// then, so the splitter must not be used again.
    pub(crate) fn feed<E>(
        &mut self,
        bytes: &[u8],
        mut receive: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        for byte in bytes {
            self.step(*byte, &mut receive)?;
            self.offset = self.offset.wrapping_add(1);
        }
        Ok(())
    }

    /// Ends the input: calls `receive` for the unfinished word, if there is one, and resets the
    /// splitter.
    pub(crate) fn finish<E>(
        &mut self,
        mut receive: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        let result = self.deliver(&mut receive);
        *self = Self::new(self.limit);
        result
    }

    /// Returns the unfinished word as far as it was read.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.token
    }

    fn step<E>(
        &mut self,
        byte: u8,
        receive: &mut impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        if byte == 0 {
            return Err(SplitError::Nul(self.offset));
        }
        match (self.pos, byte) {
            (LinePos::Comment, b'\n') => self.pos = LinePos::Start,
            (LinePos::Comment, _) => (),
            (LinePos::Escaped, _) => {
                self.pos = LinePos::Words;
                self.push(byte)?;
            }
            (_, b'\n') => {
                self.pos = LinePos::Start;
                self.deliver(receive)?;
            }
            // Space, tab, vertical tab, form feed and carriage return.
            (_, b' ' | b'\t' | 0x0b | 0x0c | b'\r') => self.deliver(receive)?,
            (LinePos::Start, b'#') => self.pos = LinePos::Comment,
            (_, b'\\') => {
                self.pos = LinePos::Escaped;
                self.push(byte)?;
            }
            (_, _) => {
                self.pos = LinePos::Words;
                self.push(byte)?;
            }
        }
        Ok(())
    }

    /// Appends a byte to the unfinished word.
    fn push<E>(&mut self, byte: u8) -> Result<(), SplitError<E>> {
        if self.token.is_empty() {
            self.start = self.offset;
        }
        if self.token.len() >= self.limit {
            return Err(SplitError::TokenTooLong(self.start));
        }
        let added = self.token.push(byte, GFP_KERNEL);
        added.map_err(|_| SplitError::NoMemory)
    }

    /// Calls `receive` for the unfinished word, if there is one, and clears it.
    fn deliver<E>(
        &mut self,
        receive: &mut impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        if self.token.is_empty() {
            return Ok(());
        }
        let result = receive(self.pending(), self.start);
        self.token.clear();
        result.map_err(SplitError::Refused)
    }
}
