// SPDX-License-Identifier: GPL-2.0

//! Splits what is written to a control file into words.
//!
//! Words are separated by white space. A `#` at the start of a line, or with only white space
//! before it, begins a comment that runs to the end of the line: so what a file prints, header and
//! all, can be written back to it. A `\` makes the byte after it a part of the word, whatever it
//! is, and stays in the word itself for the pattern to see: `Web\ Content` is one word.
//!
//! The input may come in pieces of any size; a word that a piece leaves unfinished is kept for the
//! next one.

use super::glob::MAX_PATTERN;

/// The most bytes a word may have.
pub(crate) const MAX_TOKEN: usize = MAX_PATTERN;

/// Why the splitting ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitError<E> {
    /// The word that begins at this offset has more than [`MAX_TOKEN`] bytes.
    TokenTooLong(usize),
    /// There is a NUL byte at this offset.
    Nul(usize),
    /// The receiver of the words refused one.
    Refused(E),
}

/// Where in a line the splitter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Only white space so far.
    Start,
    /// Past the beginning of its first word.
    Words,
    /// In a comment.
    Comment,
    /// Right after a `\`, in a word.
    Escaped,
}

/// The state between two pieces of input.
///
/// # Invariants
///
/// `len` is at most [`MAX_TOKEN`].
#[derive(Debug)]
pub(crate) struct Splitter {
    token: [u8; MAX_TOKEN],
    len: usize,
    /// Offset of the first byte of the unfinished word.
    start: usize,
    /// Offset of the next byte.
    offset: usize,
    place: Place,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

impl Splitter {
    /// A splitter at the start of its input.
    pub(crate) const fn new() -> Self {
        Self {
            token: [0; MAX_TOKEN],
            len: 0,
            start: 0,
            offset: 0,
            place: Place::Start,
        }
    }

    /// Takes the next piece of input, and gives every word that ends in it to `receive`, together
    /// with the offset at which the word begins, counted from the start of the whole input.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, or the first error of `receive`. The rest of the piece is
    /// then lost, so the splitter should not be fed again.
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

    /// Ends the input: gives the word that was still unfinished to `receive`, if there is one, and
    /// starts over.
    pub(crate) fn finish<E>(
        &mut self,
        mut receive: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        let result = self.deliver(&mut receive);
        *self = Self::new();
        result
    }

    /// What there is of the unfinished word.
    pub(crate) fn pending(&self) -> &[u8] {
        self.token.get(..self.len).unwrap_or_default()
    }

    fn step<E>(
        &mut self,
        byte: u8,
        receive: &mut impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        if byte == 0 {
            return Err(SplitError::Nul(self.offset));
        }
        match (self.place, byte) {
            (Place::Comment, b'\n') => self.place = Place::Start,
            (Place::Comment, _) => (),
            (Place::Escaped, _) => {
                self.place = Place::Words;
                self.keep(byte)?;
            }
            (_, b'\n') => {
                self.place = Place::Start;
                self.deliver(receive)?;
            }
            // Blank, tab, vertical tab, form feed and carriage return.
            (_, b' ' | b'\t' | 0x0b | 0x0c | b'\r') => self.deliver(receive)?,
            (Place::Start, b'#') => self.place = Place::Comment,
            (_, b'\\') => {
                self.place = Place::Escaped;
                self.keep(byte)?;
            }
            (_, _) => {
                self.place = Place::Words;
                self.keep(byte)?;
            }
        }
        Ok(())
    }

    /// Adds a byte to the unfinished word.
    fn keep<E>(&mut self, byte: u8) -> Result<(), SplitError<E>> {
        if self.len == 0 {
            self.start = self.offset;
        }
        let Some(free) = self.token.get_mut(self.len) else {
            return Err(SplitError::TokenTooLong(self.start));
        };
        *free = byte;
        // INVARIANT: There was a byte at `len`.
        self.len = self.len.wrapping_add(1);
        Ok(())
    }

    /// Gives the unfinished word away, if there is one.
    fn deliver<E>(
        &mut self,
        receive: &mut impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), SplitError<E>> {
        if self.len == 0 {
            return Ok(());
        }
        let result = receive(self.pending(), self.start);
        self.len = 0;
        result.map_err(SplitError::Refused)
    }
}
