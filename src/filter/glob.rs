// SPDX-License-Identifier: GPL-2.0

//! Patterns over a task's name.
//!
//! They are what `glob_match()` in `lib/glob.c` takes: `*` stands for any bytes, `?` for one,
//! `[a-z]` for one of a class, `[!a-z]` for one that is not, and `\` takes away the special meaning
//! of the byte after it. In a class a `]` that comes first, a `-` that comes first or last, and
//! every `\` stand for themselves; a range that runs backwards is empty. A pattern has to match the
//! whole name. Where `glob_match()` lets a mistake pass as a literal, [`Glob::new`] refuses it.

/// The most bytes a task's name has: `TASK_COMM_LEN` less the NUL.
pub(crate) const MAX_COMM: usize = 15;

/// The most bytes a pattern may have.
pub(crate) const MAX_PATTERN: usize = 64;

/// The bytes that do not stand for themselves at the beginning of a pattern.
const SPECIAL: [u8; 4] = *b"*?[\\";

/// Returns the name in a task's `comm`, which ends at the first NUL or after [`MAX_COMM`] bytes.
pub(crate) fn name_of(comm: &[u8]) -> &[u8] {
    let name = comm.get(..MAX_COMM).unwrap_or(comm);
    let end = name.iter().position(|byte| *byte == 0);
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// Why a pattern was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobError {
    /// There is nothing in it.
    Empty,
    /// It has more than [`MAX_PATTERN`] bytes, or asks for more than [`MAX_COMM`] bytes of name.
    TooLong,
    /// A `[` without its `]`.
    UnterminatedClass,
    /// A `\` with nothing after it.
    TrailingBackslash,
    /// A control character, NUL among them.
    ControlCharacter,
}

/// A pattern that some task's name could match.
///
/// # Invariants
///
/// - `len` is at most [`MAX_PATTERN`], and the bytes past it are zero.
/// - Every `[` that opens a class has its `]`, and every `\` outside of a class a byte after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    text: [u8; MAX_PATTERN],
    len: usize,
}

impl Glob {
    /// Checks a pattern and takes a copy of it.
    ///
    /// A `#` in front is kept as `\#`, which means the same: so the text can be written back to
    /// a control file, where `#` begins a comment.
    pub(crate) fn new(pattern: &[u8]) -> Result<Self, GlobError> {
        let escape: &[u8] = if pattern.first() == Some(&b'#') {
            b"\\"
        } else {
            b""
        };
        let len = pattern.len().saturating_add(escape.len());
        if len > MAX_PATTERN {
            return Err(GlobError::TooLong);
        }
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.iter().any(|byte| *byte < 0x20 || *byte == 0x7f) {
            return Err(GlobError::ControlCharacter);
        }

        // Every part but `*` takes exactly one byte of the name.
        let mut needed: usize = 0;
        let mut rest = pattern;
        while let Some((part, after)) = next_part(rest)? {
            if !matches!(part, Part::Any) {
                needed = needed.saturating_add(1);
            }
            rest = after;
        }
        if needed > MAX_COMM {
            return Err(GlobError::TooLong);
        }

        let mut text = [0; MAX_PATTERN];
        for (to, from) in text.iter_mut().zip(escape.iter().chain(pattern)) {
            *to = *from;
        }
        // INVARIANT: The length was checked above, and the loop saw every part of the pattern.
        Ok(Self { text, len })
    }

    /// The pattern's text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or_default()
    }

    /// Whether the pattern matches the whole of `comm`, which ends at the first NUL or after
    /// [`MAX_COMM`] bytes, as a name in the kernel does.
    ///
    /// May be called from any context. The time is bounded: each byte of the name is tried at most
    /// once as the place where the latest `*` ends, against at most [`MAX_PATTERN`] bytes.
    #[cfg(test)]
    pub(crate) fn matches(&self, comm: &[u8]) -> bool {
        self.matches_name(name_of(comm))
    }

    /// The same for what [`name_of`] has returned.
    pub(crate) fn matches_name(&self, mut name: &[u8]) -> bool {
        let mut pattern = self.as_bytes();
        // Most patterns begin with a byte that the name does not begin with.
        if let Some(first) = pattern.first() {
            if !SPECIAL.contains(first) && name.first() != Some(first) {
                return false;
            }
        }

        // What follows the latest `*`, and what of the name it is to be tried on next. An earlier
        // `*` never has to be tried again: its shortest match leaves the most for the later ones.
        let mut retry: Option<(&[u8], &[u8])> = None;

        loop {
            // INVARIANT: A `Glob` was parsed whole once, so this can't fail.
            let Ok(part) = next_part(pattern) else {
                return false;
            };
            match (part, name.split_first()) {
                (Some((Part::Any, after)), _) => {
                    if after.is_empty() {
                        return true;
                    }
                    retry = Some((after, name));
                    pattern = after;
                    continue;
                }
                (Some((part, after)), Some((byte, tail))) => {
                    if part.takes(*byte) {
                        pattern = after;
                        name = tail;
                        continue;
                    }
                }
                (None, None) => return true,
                // The name is too short, and starting later only makes it shorter.
                (Some(_), None) => return false,
                // The name is too long: let the latest `*` take more of it.
                (None, Some(_)) => (),
            }

            let Some((after_star, start)) = retry else {
                return false;
            };
            let Some((_, start)) = start.split_first() else {
                return false;
            };
            retry = Some((after_star, start));
            pattern = after_star;
            name = start;
        }
    }
}

/// A piece of a pattern.
enum Part<'a> {
    /// `*`: any number of bytes.
    Any,
    /// `?`: one byte.
    One,
    /// One certain byte.
    Byte(u8),
    /// One byte of a class, or with `inverted` one that is not in it. The spans have no brackets.
    Class { inverted: bool, spans: &'a [u8] },
}

impl Part<'_> {
    /// Whether the part matches this one byte.
    fn takes(&self, byte: u8) -> bool {
        match self {
            Part::Any => false,
            Part::One => true,
            Part::Byte(own) => *own == byte,
            Part::Class { inverted, spans } => in_class(spans, byte) != *inverted,
        }
    }
}

/// Takes the first part off a pattern. `None` at its end.
fn next_part(pattern: &[u8]) -> Result<Option<(Part<'_>, &[u8])>, GlobError> {
    let Some((first, rest)) = pattern.split_first() else {
        return Ok(None);
    };
    match first {
        b'*' => Ok(Some((Part::Any, rest))),
        b'?' => Ok(Some((Part::One, rest))),
        b'\\' => match rest.split_first() {
            Some((byte, rest)) => Ok(Some((Part::Byte(*byte), rest))),
            None => Err(GlobError::TrailingBackslash),
        },
        b'[' => {
            let (inverted, class) = match rest.split_first() {
                Some((b'!', class)) => (true, class),
                _ => (false, rest),
            };
            let end = class_len(class).ok_or(GlobError::UnterminatedClass)?;
            let spans = class.get(..end).unwrap_or_default();
            let rest = class.get(end.saturating_add(1)..).unwrap_or_default();
            Ok(Some((Part::Class { inverted, spans }, rest)))
        }
        byte => Ok(Some((Part::Byte(*byte), rest))),
    }
}

/// Takes the first span, a byte or a range, off the inside of a class.
fn next_span(class: &[u8]) -> Option<(u8, u8, &[u8])> {
    match class {
        // A `-` right before the closing bracket is no range.
        [low, b'-', high, rest @ ..] if *high != b']' => Some((*low, *high, rest)),
        [byte, rest @ ..] => Some((*byte, *byte, rest)),
        [] => None,
    }
}

/// The number of bytes up to the `]` that closes a class; `None` if it is not closed.
fn class_len(class: &[u8]) -> Option<usize> {
    // The first span is read before the end is looked for, so a `]` can be in it.
    let mut rest = class;
    loop {
        let (_, _, after) = next_span(rest)?;
        rest = after;
        if rest.first()? == &b']' {
            return class.len().checked_sub(rest.len());
        }
    }
}

/// Whether a byte is in one of the spans.
fn in_class(spans: &[u8], byte: u8) -> bool {
    let mut rest = spans;
    while let Some((low, high, after)) = next_span(rest) {
        if (low..=high).contains(&byte) {
            return true;
        }
        rest = after;
    }
    false
}
